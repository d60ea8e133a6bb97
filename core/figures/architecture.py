"""The encoder-decoder as a drawing whose boxes can be clicked.

In: boxes with a side and a label, in the order of the forward pass. Out: a Plotly figure with
one bar per box; the bar's `customdata` is the box's key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from core.figures.palette import GREY, base_layout, draw

HALF_WIDTH, HALF_HEIGHT = 0.43, 0.31
Piece = dict[str, Any]
_COLUMN = {"encoder": 0.0, "decoder": 1.16}
# Light enough for dark letters in both themes.
_FILL = {
    "tokens": "#d9dee5",
    "embedding": "#f2c6dc",
    "positions": "#bfe0f7",
    "attention": "#f8cf7a",
    "norm": "#e6e3b8",
    "feed-forward": "#9fd9c4",
    "head": "#f3ae86",
}
_FADED, _CHOSEN, _INK = "rgba(138,143,152,0.15)", "#4ea1f3", "#10151c"


@dataclass(frozen=True)
class DrawnBox:
    """A box: `kind` picks the colour, `hover` is what the pointer shows, `faded` greys it out."""

    key: str
    label: str
    side: str
    kind: str
    hover: str
    repeated: bool = False
    faded: bool = False


def architecture(boxes: Sequence[DrawnBox], chosen: str, crossing: str, layers: int) -> go.Figure:
    """Encoder left, decoder right, upwards. `chosen` is the key of the highlighted box,
    `crossing` of the one that the encoder's output goes into. Repeated boxes come in pairs of a
    sublayer and its norm: with the norm above (post-LN) the residual path ends in it, with the
    norm below (pre-LN) in a plus sign above both.
    """
    levels = _levels(boxes)
    top = max(levels.values())
    path, arrow = _memory(boxes, levels, levels[crossing])
    notes, shapes = [*_labels(boxes, levels), arrow], [path]
    for side, x in _COLUMN.items():
        own = [box for box in boxes if box.side == side]
        repeated = [box for box in own if box.repeated]
        notes += _flow_arrows(x, [levels[box.key] for box in own])
        notes.append({"x": x, "y": top + 0.85, "text": side.title(), "showarrow": False})
        notes.append(_times(x, [levels[box.key] for box in repeated], layers))
        shapes.append(_frame(x, [levels[box.key] for box in repeated]))
        for first, second in zip(repeated[::2], repeated[1::2], strict=False):
            # A sublayer and its norm, in the order of this placement.
            around, *tips = _residual(x, levels[first.key], into_box=second.kind == "norm")
            shapes.append(around)
            notes += tips
    layout = base_layout(
        height=455,
        annotations=notes,
        shapes=shapes,
        xaxis={"visible": False, "range": [-0.68, 1.84], "fixedrange": True},
        yaxis={"visible": False, "range": [-0.55, top + 1.15], "fixedrange": True},
    )
    return draw([_bars(boxes, levels, [box.key for box in boxes].index(chosen))], layout)


def _levels(boxes: Sequence[DrawnBox]) -> dict[str, int]:
    """Boxes of one side stand on top of each other."""
    count = {"encoder": 0, "decoder": 0}
    levels = {}
    for box in boxes:
        levels[box.key] = count[box.side]
        count[box.side] += 1
    return levels


def _bars(boxes: Sequence[DrawnBox], levels: dict[str, int], chosen: int) -> Piece:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [_COLUMN[box.side] - HALF_WIDTH for box in boxes],
        "x": [2 * HALF_WIDTH] * len(boxes),
        "y": [levels[box.key] for box in boxes],
        "width": 2 * HALF_HEIGHT,
        "customdata": [box.key for box in boxes],
        "hovertext": [box.hover for box in boxes],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": [_FADED if box.faded else _FILL[box.kind] for box in boxes],
            "line": {"color": GREY, "width": 1},
            "cornerradius": 5,
        },
        "selectedpoints": [chosen],
        "selected": {"marker": {"color": _CHOSEN}},
        "unselected": {"marker": {"opacity": 1}},
        "showlegend": False,
    }


def _labels(boxes: Sequence[DrawnBox], levels: dict[str, int]) -> list[Piece]:
    """Annotations, because a click would pale the bars' own text."""
    return [
        {
            "x": _COLUMN[box.side],
            "y": levels[box.key],
            "text": box.label,
            "showarrow": False,
            "font": {"color": GREY if box.faded else _INK, "size": 13},
        }
        for box in boxes
    ]


def _flow_arrows(x: float, levels: Sequence[int]) -> list[Piece]:
    return [
        {"x": x, "y": above - HALF_HEIGHT, "ax": x, "ay": below + HALF_HEIGHT, **_arrow()}
        for below, above in pairwise(levels)
    ]


def _residual(x: float, level: int, *, into_box: bool) -> list[Piece]:
    """From below the box on `level` around it and the next one: a path, an arrow, maybe a plus."""
    outwards = _outwards(x)
    side = x + outwards * (HALF_WIDTH + 0.05)
    end = level + (1 if into_box else 1.42)
    target = x + outwards * (HALF_WIDTH if into_box else 0.04)
    start = level - 0.43
    points = [(x, start), (side, start), (side, end), (target, end)]
    tip = {"x": target, "y": end, "ax": side, "ay": end, **_arrow()}
    plus = {"x": x, "y": end, "text": "<b>+</b>", "showarrow": False, "font": {"size": 15}}
    return [_line(points), tip] if into_box else [_line(points), tip, plus]


def _line(points: Sequence[tuple[float, float | int]]) -> Piece:
    path = "M " + " L ".join(f"{x} {y}" for x, y in points)
    return {"type": "path", "path": path, "line": {"color": GREY, "width": 1.5}}


def _outwards(x: float) -> int:
    return -1 if x == 0 else 1


def _frame(x: float, levels: Sequence[int]) -> Piece:
    return {
        "type": "rect",
        "x0": x - HALF_WIDTH - 0.09,
        "x1": x + HALF_WIDTH + 0.09,
        "y0": min(levels) - 0.56,
        "y1": max(levels) + 0.58,
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
        "layer": "below",
    }


def _times(x: float, levels: Sequence[int], layers: int) -> Piece:
    return {
        "x": x + _outwards(x) * (HALF_WIDTH + 0.11),
        "y": sum(levels) / len(levels),
        "text": f"{layers} ×",
        "showarrow": False,
        "xanchor": "right" if _outwards(x) < 0 else "left",
    }


def _memory(boxes: Sequence[DrawnBox], levels: dict[str, int], cross: int) -> tuple[Piece, Piece]:
    """From the top of the encoder across to the decoder's cross-attention."""
    last = max(levels[box.key] for box in boxes if box.side == "encoder")
    right = _COLUMN["decoder"] - HALF_WIDTH
    middle = (right + _COLUMN["encoder"] + HALF_WIDTH) / 2
    points = [(0.0, last + HALF_HEIGHT), (0.0, last + 0.75), (middle, last + 0.75), (middle, cross)]
    return (
        _line(points),
        {"x": right, "y": cross, "ax": middle, "ay": cross, **_arrow()},
    )


def _arrow() -> Piece:
    return {
        "text": "",
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 2,
        "arrowsize": 0.8,
        "arrowwidth": 1.5,
        "arrowcolor": GREY,
    }
