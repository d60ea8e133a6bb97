"""The string a model writes, letter by letter, as it changes while the model learns.

In: what was written at some steps and what was asked for. Out: a Vega-Lite chart.
"""

from typing import Any

from core.figures.palette import GREEN, GREY, VERMILION
from core.figures.training_live import LiveChart


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
