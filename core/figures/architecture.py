"""The encoder-decoder as a drawing whose boxes can be clicked.

In: boxes with a side and a label, in the order of the forward pass. Out: a Plotly figure with
one bar per box; the bar's `customdata` is the box's key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.figures.architecture_arrows import (
    ADDED,
    COLUMN,
    HALF_HEIGHT,
    HALF_WIDTH,
    QUIET,
    Piece,
    arrows,
    flow_arrows,
    memory,
    outwards,
    residual,
)
from core.figures.palette import GREY, base_layout, draw

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

    Letters and arrows are traces: as annotations they would take five times as long to draw.
    """
    levels = _levels(boxes)
    top = max(levels.values())
    norm_above = [box.kind for box in boxes if box.repeated][1:2] == ["norm"]
    last = max(levels[box.key] for box in boxes if box.side == "encoder")
    ways, plus, notes, frames = [memory(last, levels[crossing])], [], [], []
    for side, x in COLUMN.items():
        own = [box for box in boxes if box.side == side]
        repeated = [levels[box.key] for box in own if box.repeated]
        ways += flow_arrows(x, [levels[box.key] for box in own])
        notes += [_note(x, top + 0.85, side.title()), _times(x, repeated, layers)]
        frames.append(_frame(x, repeated))
        for first, second in zip(repeated[::2], repeated[1::2], strict=False):
            ways.append(residual(x, first, into_box=norm_above))
            plus += [] if norm_above else [(x, second + ADDED)]
    layout = base_layout(
        height=455,
        clickable=True,
        annotations=notes,
        shapes=frames,
        xaxis={"visible": False, "range": [-0.68, 1.84], "fixedrange": True},
        yaxis={"visible": False, "range": [-0.55, top + 1.15], "fixedrange": True},
    )
    bars = _bars(boxes, levels, chosen)
    return draw([bars, *arrows(ways, plus), *_labels(boxes, levels)], layout)


def _levels(boxes: Sequence[DrawnBox]) -> dict[str, int]:
    """Boxes of one side stand on top of each other."""
    count = {"encoder": 0, "decoder": 0}
    levels = {}
    for box in boxes:
        levels[box.key] = count[box.side]
        count[box.side] += 1
    return levels


def _bars(boxes: Sequence[DrawnBox], levels: dict[str, int], chosen: str) -> Piece:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [COLUMN[box.side] - HALF_WIDTH for box in boxes],
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
        "selectedpoints": [[box.key for box in boxes].index(chosen)],
        "selected": {"marker": {"color": _CHOSEN}},
        "unselected": {"marker": {"opacity": 1}},
        "showlegend": False,
    }


def _labels(boxes: Sequence[DrawnBox], levels: dict[str, int]) -> list[Piece]:
    """Traces of their own, because a click would pale the bars' text."""
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": [COLUMN[box.side] for box in those],
            "y": [levels[box.key] for box in those],
            "text": [box.label for box in those],
            "textfont": {"color": colour, "size": 13},
            "unselected": {"textfont": {"color": colour}},
            **QUIET,
        }
        for colour, those in (
            (_INK, [box for box in boxes if not box.faded]),
            (GREY, [box for box in boxes if box.faded]),
        )
    ]


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
    note = _note(x + outwards(x) * (HALF_WIDTH + 0.11), sum(levels) / len(levels), f"{layers} ×")
    return note | {"xanchor": "right" if outwards(x) < 0 else "left"}


def _note(x: float, y: float, text: str) -> Piece:
    return {"x": x, "y": y, "text": text, "showarrow": False}
