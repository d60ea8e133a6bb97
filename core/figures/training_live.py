"""Charts that grow while a run trains: Vega-Lite, because it redraws without being replaced.

In: plain arrays, already smoothed and thinned. Out: `LiveChart`, a Vega-Lite description and its
rows. Knows nothing of runs or recipes. Colour never stands alone: lines also differ in width and
dash, and every marker has its shape.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from core.figures.palette import BLUE, GREEN, GREY, ORANGE, VERMILION


@dataclass(frozen=True, eq=False)
class LiveChart:
    """A Vega-Lite description without data, the rows by column, and what it shows in words."""

    spec: dict[str, Any]
    columns: dict[str, list[Any]]
    alt: str


def loss_chart(
    steps: Int[np.ndarray, " n"],
    raw: Float[np.ndarray, " n"],
    smoothed: Float[np.ndarray, " n"],
    *,
    last: int,
    floor: float | None,
    published: dict[int, float] | None = None,
    marked: int | None = None,
    zoom: bool = False,
    height: int = 270,
) -> LiveChart:
    """Loss in nats per letter by step: raw, smoothed, the floor that smoothing leaves.

    `last` is the final step of the x axis. `published` points are drawn as diamonds, the
    step `marked` as an upright line. `zoom` lets the viewer zoom and drag; leave it off while
    the data change.
    """
    published = published or {}
    rows: dict[str, list[Any]] = {
        "step": [*steps.tolist(), *published],
        "raw": [*_numbers(raw), *[None] * len(published)],
        "smoothed": [*_numbers(smoothed), *[None] * len(published)],
        "published": [*[None] * len(steps), *published.values()],
    }
    top = _top_of(raw, published)
    layers = [
        _line("raw", GREY, width=1.0, opacity=0.55, params=_zoom() if zoom else None),
        _line("smoothed", BLUE, width=3.0),
    ]
    if published:
        layers.append(_diamonds())
    if floor is not None:
        layers.append(_floor_line(floor))
    drawn = [_with_y(layer, "Loss (nats per letter)", top) for layer in layers]
    if marked is not None:
        drawn.append(_marker(marked))
    spec = {
        "height": height,
        "encoding": {"x": _step_axis(last)},
        "layer": drawn,
    }
    return LiveChart(spec, rows, _loss_words(steps, smoothed, floor, published))


def learning_rate_chart(
    steps: Int[np.ndarray, " n"], rates: Float[np.ndarray, " n"], *, last: int, height: int = 200
) -> LiveChart:
    """Learning rate by step."""
    spec = {
        "height": height,
        "mark": {"type": "line", "color": ORANGE, "strokeWidth": 2.5, "tooltip": True},
        "encoding": {
            "x": _step_axis(last),
            "y": {
                "field": "rate",
                "type": "quantitative",
                "title": "Learning rate",
                "axis": {"format": ".0e", "tickCount": 3},
            },
        },
    }
    words = "No learning rate yet."
    if len(steps):
        peak = int(np.argmax(rates))
        words = (
            f"Learning rate by step: highest {rates[peak]:.2e} at step {steps[peak]:,}, "
            f"{rates[-1]:.2e} at step {steps[-1]:,}."
        )
    return LiveChart(spec, {"step": steps.tolist(), "rate": _numbers(rates)}, words)


def exact_chart(
    steps: Int[np.ndarray, " n"],
    exact: Float[np.ndarray, " n"],
    letters: Float[np.ndarray, " n"],
    *,
    last: int,
    height: int = 200,
) -> LiveChart:
    """Shares (0 to 1) of held-out strings reversed exactly, and of single letters right."""
    spec = {
        "height": height,
        "encoding": {"x": _step_axis(last)},
        "layer": [
            _share("letters", GREY, "triangle-up", dash=[4, 3]),
            _share("strings", GREEN, "circle"),
        ],
    }
    words = "No held-out strings were tried yet."
    if len(steps):
        words = (
            f"Held-out strings reversed exactly: {exact[-1]:.1%} at step {steps[-1]:,}, "
            f"single letters right: {letters[-1]:.1%}."
        )
    rows = {"step": steps.tolist(), "strings": _numbers(exact), "letters": _numbers(letters)}
    return LiveChart(spec, rows, words)


def letter_film(
    steps: list[int], decoded: list[str], expected: str, *, row_height: int = 44
) -> LiveChart:
    """One row per sample: each letter the model wrote, green with ✓ if right, red with ✗ if not.

    A letter that is missing is shown as · and one too many counts as wrong. The last row is what
    was asked for.
    """
    width = max([len(expected), *map(len, decoded)], default=1)
    cells = [
        _cell(f"step {step:,}", at, text, expected)
        for step, text in zip(steps, decoded, strict=True)
        for at in range(max(len(text), len(expected)))
    ]
    cells += [
        {"row": "asked for", "place": at + 1, "letter": letter, "mark": "", "verdict": "asked for"}
        for at, letter in enumerate(expected)
    ]
    columns = {name: [cell[name] for cell in cells] for name in _CELL_FIELDS}
    order = [*[f"step {step:,}" for step in steps], "asked for"]
    spec = _film_spec(order, width, row_height)
    return LiveChart(spec, columns, _film_words(steps, decoded, expected))


_CELL_FIELDS = ("row", "place", "letter", "mark", "verdict")


def _cell(row: str, at: int, text: str, expected: str) -> dict[str, Any]:
    letter = text[at] if at < len(text) else "·"
    right = at < len(expected) and letter == expected[at]
    return {
        "row": row,
        "place": at + 1,
        "letter": letter,
        "mark": "✓" if right else "✗",
        "verdict": "right" if right else "wrong",
    }


def _film_spec(order: list[str], width: int, row_height: int) -> dict[str, Any]:
    colours = {"domain": ["right", "wrong", "asked for"], "range": [GREEN, VERMILION, GREY]}
    return {
        "height": row_height * len(order),
        "encoding": {
            "x": {
                "field": "place",
                "type": "ordinal",
                "scale": {"domain": list(range(1, width + 1))},
                "axis": {"labelAngle": 0, "title": None, "ticks": False, "orient": "top"},
            },
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": order,
                "axis": {"title": None, "ticks": False},
            },
        },
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3, "stroke": "white", "strokeWidth": 1},
                "encoding": {
                    "color": {
                        "field": "verdict",
                        "type": "nominal",
                        "scale": colours,
                        "legend": None,
                    },
                    "tooltip": [
                        {"field": name, "type": "nominal"} for name in ("row", "place", "verdict")
                    ],
                },
            },
            _cell_text("letter", size=15, dy=-5),
            _cell_text("mark", size=11, dy=10),
        ],
    }


def _cell_text(field: str, *, size: int, dy: int) -> dict[str, Any]:
    # Dark on all three fills, in both themes: white would fall below a contrast of 4.5.
    text = {"type": "text", "fontSize": size, "fontWeight": "bold", "color": "#10151c", "dy": dy}
    return {"mark": text, "encoding": {"text": {"field": field, "type": "nominal"}}}


def _film_words(steps: list[int], decoded: list[str], expected: str) -> str:
    if not steps:
        return f"Nothing decoded yet; asked for {expected}."
    right = sum(got == want for got, want in zip(decoded[-1], expected, strict=False))
    return (
        f"At step {steps[-1]:,} the model wrote {decoded[-1] or 'nothing'}; asked for {expected}: "
        f"{right} of {len(expected)} letters in place."
    )


def _line(
    field: str,
    colour: str,
    *,
    width: float,
    opacity: float = 1.0,
    params: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    layer: dict[str, Any] = {
        "mark": {
            "type": "line",
            "color": colour,
            "strokeWidth": width,
            "opacity": opacity,
            "tooltip": True,
        },
        "transform": [{"filter": f"datum.{field} !== null"}],
        "encoding": {"y": {"field": field, "type": "quantitative"}},
    }
    return {**layer, "params": params} if params else layer


def _diamonds() -> dict[str, Any]:
    return {
        "mark": {
            "type": "point",
            "shape": "diamond",
            "size": 90,
            "color": VERMILION,
            "strokeWidth": 2,
            "tooltip": True,
        },
        "transform": [{"filter": "datum.published !== null"}],
        "encoding": {"y": {"field": "published", "type": "quantitative"}},
    }


def _floor_line(floor: float) -> dict[str, Any]:
    return {
        # Data of its own, or the rule would be drawn once for every step.
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeDash": [6, 4], "color": ORANGE, "strokeWidth": 2},
        "encoding": {"y": {"datum": floor}, "x": None},
    }


def _marker(step: int) -> dict[str, Any]:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": GREY, "strokeWidth": 2},
        "encoding": {"x": {"datum": step}},
    }


def _with_y(layer: dict[str, Any], title: str, top: float) -> dict[str, Any]:
    scaled = {"title": title, "scale": {"domain": [0, top], "clamp": True, "nice": False}}
    encoding = {**layer["encoding"], "y": {**layer["encoding"]["y"], **scaled}}
    return {**layer, "encoding": encoding}


def _share(field: str, colour: str, shape: str, dash: list[int] | None = None) -> dict[str, Any]:
    line: dict[str, Any] = {"strokeDash": dash} if dash else {}
    return {
        "mark": {
            "type": "line",
            "color": colour,
            "strokeWidth": 2.5,
            "point": {"shape": shape, "color": colour, "size": 50},
            "tooltip": True,
            **line,
        },
        "encoding": {
            "y": {
                "field": field,
                "type": "quantitative",
                "title": "Right",
                "scale": {"domain": [0, 1]},
                "axis": {"format": "%", "tickCount": 3},
            }
        },
    }


def _step_axis(last: int) -> dict[str, Any]:
    return {
        "field": "step",
        "type": "quantitative",
        "title": "Step",
        "scale": {"domain": [0, last], "nice": False},
        "axis": {"tickCount": 6, "grid": False},
    }


def _zoom() -> list[dict[str, Any]]:
    return [{"name": "zoom", "select": "interval", "bind": "scales"}]


def _numbers(values: Float[np.ndarray, " n"]) -> list[float | None]:
    known = np.isfinite(values).tolist()
    return [value if ok else None for value, ok in zip(values.tolist(), known, strict=True)]


def _top_of(raw: Float[np.ndarray, " n"], published: dict[int, float]) -> float:
    """High enough for the first loss, not so high that one spike flattens the curve."""
    finite = raw[np.isfinite(raw)]
    if not len(finite):
        return 4.0
    usual = float(np.quantile(finite, 0.98)) * 1.15
    return max(usual, *published.values(), 1.0) if published else max(usual, 1.0)


def _loss_words(
    steps: Int[np.ndarray, " n"],
    smoothed: Float[np.ndarray, " n"],
    floor: float | None,
    published: dict[int, float],
) -> str:
    if not len(steps):
        return "No step is done yet."
    words = f"Loss by step: smoothed {smoothed[0]:.2f} at step {steps[0]:,}, "
    words += f"{smoothed[-1]:.3f} at step {steps[-1]:,}."
    if floor is not None:
        words += f" The floor that label smoothing leaves is {floor:.3f}."
    if published:
        at, value = list(published.items())[-1]
        words += f" Diamonds are published losses, {value:.3f} at step {at:,}."
    return words
