"""Charts that grow while a run trains: Vega-Lite, because it redraws without being replaced.

In: plain arrays, already smoothed and thinned. Out: `LiveChart`, a Vega-Lite description and its
rows. Knows nothing of runs or recipes. Colour never stands alone: lines also differ in width and
dash, and every marker has its shape.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from core.figures.palette import BLUE, GREEN, GREY, ORANGE
from core.figures.training_marks import (
    diamonds,
    floor_line,
    line,
    marker,
    share,
    step_axis,
    with_y,
    zoom_and_drag,
)
from core.written import percent


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
    layers = [
        line("raw", GREY, width=1.0, opacity=0.55, params=zoom_and_drag() if zoom else None),
        line("smoothed", BLUE, width=3.0),
    ]
    if published:
        layers.append(diamonds())
    if floor is not None:
        layers.append(floor_line(floor))
    top = _top_of(raw, published)
    drawn = [with_y(layer, "Loss (nats per letter)", top) for layer in layers]
    if marked is not None:
        drawn.append(marker(marked))
    spec = {"height": height, "encoding": {"x": step_axis(last)}, "layer": drawn}
    rows = {
        "step": [*steps.tolist(), *published],
        "raw": [*_numbers(raw), *[None] * len(published)],
        "smoothed": [*_numbers(smoothed), *[None] * len(published)],
        "published": [*[None] * len(steps), *published.values()],
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
            "x": step_axis(last),
            "y": {
                "field": "rate",
                "type": "quantitative",
                "title": "Learning rate",
                "axis": {"format": "~g", "tickCount": 3},
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
        "encoding": {"x": step_axis(last)},
        "layer": [
            share("letters", GREY, "triangle-up", dash=[4, 3]),
            share("strings", GREEN, "circle"),
        ],
    }
    words = "No held-out strings were tried yet."
    if len(steps):
        words = (
            f"Held-out strings reversed exactly: {percent(exact[-1], 1)} at step {steps[-1]:,}, "
            f"single letters right: {percent(letters[-1], 1)}."
        )
    rows = {"step": steps.tolist(), "strings": _numbers(exact), "letters": _numbers(letters)}
    return LiveChart(spec, rows, words)


def _numbers(values: Float[np.ndarray, " n"]) -> list[float | None]:
    known = np.isfinite(values).tolist()
    return [value if ok else None for value, ok in zip(values.tolist(), known, strict=True)]


def _top_of(raw: Float[np.ndarray, " n"], published: dict[int, float]) -> float:
    """High enough for the first loss, not so high that one spike flattens the curve.

    Rounded to halves, because every new value makes a browser build the chart anew.
    """
    finite = raw[np.isfinite(raw)]
    usual = float(np.quantile(finite, 0.98)) * 1.1 if len(finite) else 4.0
    return math.ceil(2 * max(usual, 1.0, *published.values())) / 2


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
