"""The string a model writes, letter by letter, as it changes while the model learns.

In: what was written at some steps and what was asked for. Out: a Vega-Lite chart whose
description stays the same while samples come in, so that a browser need not build it anew.
"""

from typing import Any

from core.figures.palette import GREEN, GREY, VERMILION
from core.figures.training_live import LiveChart

ON_CELLS = "#10151c"  # dark on all three fills, in both themes: white would fall below 4.5 to 1
LABEL_PLACES = (-3, -2, -1, 0)  # left of the letters, for the names of the rows
_FIELDS = ("row", "place", "letter", "mark", "verdict", "name")


def letter_film(
    steps: list[int],
    decoded: list[str],
    expected: str,
    *,
    samples: int = 5,
    ink: str = ON_CELLS,
    row_height: int = 44,
) -> LiveChart:
    """What was asked for, then one row per sample: green with ✓ if right, red with ✗ if not.

    A letter that is missing is shown as · and one too many counts as wrong and has no number.
    Room is kept for one of these and for `samples` rows; `ink` is the colour of their names.
    """
    cells = [
        _cell(0, at, letter, mark="", verdict="asked for") for at, letter in enumerate(expected)
    ]
    names = ["asked for", *[f"step {step:,}" for step in steps]]
    for row, text in enumerate(decoded, 1):
        cells += _judged(row, text, expected)
    cells += [_name(row, name) for row, name in enumerate(names)]
    columns = {field: [cell[field] for cell in cells] for field in _FIELDS}
    width = max([len(expected) + 1, *map(len, decoded)])
    rows = max(samples, len(steps)) + 1
    spec = _spec(rows, width, len(expected), row_height, ink)
    return LiveChart(spec, columns, _words(steps, decoded, expected))


def _judged(row: int, text: str, expected: str) -> list[dict[str, Any]]:
    cells = []
    for at in range(max(len(text), len(expected))):
        letter = text[at] if at < len(text) else "·"
        right = at < len(expected) and letter == expected[at]
        mark, verdict = ("✓", "right") if right else ("✗", "wrong")
        cells.append(_cell(row, at, letter, mark=mark, verdict=verdict))
    return cells


def _cell(row: int, at: int, letter: str, *, mark: str, verdict: str) -> dict[str, Any]:
    cell = {"row": row, "place": at + 1, "letter": letter, "mark": mark}
    return {**cell, "verdict": verdict, "name": None}


def _name(row: int, name: str) -> dict[str, Any]:
    blank = {"letter": None, "mark": None, "verdict": None}
    return {"row": row, "place": LABEL_PLACES[-1], "name": name, **blank}


def _spec(rows: int, width: int, numbered: int, row_height: int, ink: str) -> dict[str, Any]:
    places = list(range(1, width + 1))
    axis = {"labelAngle": 0, "title": None, "ticks": False, "orient": "top"}
    x, y = _ordinal("place", [*LABEL_PLACES, *places]), _ordinal("row", list(range(rows)))
    return {
        "height": row_height * rows,
        "encoding": {
            "x": {**x, "axis": {**axis, "values": places[:numbered]}},
            "y": {**y, "axis": None},
        },
        "layer": [
            _boxes(),
            _text("letter", ON_CELLS, fontSize=15, fontWeight="bold", dy=-5),
            _text("mark", ON_CELLS, fontSize=11, fontWeight="bold", dy=10),
            _text("name", ink, fontSize=12, align="right", dx=8),
        ],
    }


def _ordinal(field: str, values: list[int]) -> dict[str, Any]:
    return {"field": field, "type": "ordinal", "scale": {"domain": values}}


def _boxes() -> dict[str, Any]:
    scale = {"domain": ["right", "wrong", "asked for"], "range": [GREEN, VERMILION, GREY]}
    return {
        "transform": [{"filter": "datum.verdict !== null"}],
        "mark": {"type": "rect", "cornerRadius": 3, "stroke": "white", "strokeWidth": 1},
        "encoding": {
            "color": {"field": "verdict", "type": "nominal", "scale": scale, "legend": None},
            "tooltip": [
                {"field": field, "type": "nominal"} for field in ("place", "letter", "verdict")
            ],
        },
    }


def _text(field: str, colour: str, **style: Any) -> dict[str, Any]:
    return {
        "transform": [{"filter": f"datum.{field} !== null"}],
        "mark": {"type": "text", "color": colour, **style},
        "encoding": {"text": {"field": field, "type": "nominal"}},
    }


def _words(steps: list[int], decoded: list[str], expected: str) -> str:
    if not steps:
        return f"Nothing decoded yet; asked for {expected}."
    right = sum(got == want for got, want in zip(decoded[-1], expected, strict=False))
    return (
        f"At step {steps[-1]:,} the model wrote {decoded[-1] or 'nothing'}; asked for {expected}: "
        f"{right} of {len(expected)} letters in place."
    )
