"""The encoder-decoder as a drawing whose boxes can be clicked.

In: boxes with a side and a label, in the order of the forward pass. Out: a Plotly figure with
one bar per box; the bar's `customdata` is the box's key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go

from core.figures.palette import GREY, finish

HALF_WIDTH, HALF_HEIGHT = 0.43, 0.36
_COLUMN = {"encoder": 0.0, "decoder": 1.12}
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
    `crossing` of the one that the encoder's output goes into.
    """
    levels = _levels(boxes)
    figure = go.Figure(_bars(boxes, levels, [box.key for box in boxes].index(chosen)))
    _labels(figure, boxes, levels)
    top = max(levels.values())
    for side, x in _COLUMN.items():
        on_side = [box for box in boxes if box.side == side]
        _flow_arrows(figure, x, [levels[box.key] for box in on_side])
        _repeat_frame(figure, x, [levels[b.key] for b in on_side if b.repeated], layers)
        figure.add_annotation(x=x, y=top + 0.85, text=side.title(), showarrow=False)
    _memory_arrow(figure, boxes, levels, levels[crossing])
    figure.update_xaxes(visible=False, range=[-0.68, 1.8], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-0.55, top + 1.15], fixedrange=True)
    return finish(figure, height=455)


def _levels(boxes: Sequence[DrawnBox]) -> dict[str, int]:
    """Boxes of one side stand on top of each other."""
    count = {"encoder": 0, "decoder": 0}
    levels = {}
    for box in boxes:
        levels[box.key] = count[box.side]
        count[box.side] += 1
    return levels


def _bars(boxes: Sequence[DrawnBox], levels: dict[str, int], chosen: int) -> go.Bar:
    return go.Bar(
        orientation="h",
        base=[_COLUMN[box.side] - HALF_WIDTH for box in boxes],
        x=[2 * HALF_WIDTH] * len(boxes),
        y=[levels[box.key] for box in boxes],
        width=2 * HALF_HEIGHT,
        customdata=[box.key for box in boxes],
        hovertext=[box.hover for box in boxes],
        hovertemplate="%{hovertext}<extra></extra>",
        marker={
            "color": [_FADED if box.faded else _FILL[box.kind] for box in boxes],
            "line": {"color": GREY, "width": 1},
            "cornerradius": 5,
        },
        selectedpoints=[chosen],
        selected={"marker": {"color": _CHOSEN}},
        unselected={"marker": {"opacity": 1}},
        showlegend=False,
    )


def _labels(figure: go.Figure, boxes: Sequence[DrawnBox], levels: dict[str, int]) -> None:
    """Annotations, because a click would pale the bars' own text."""
    for box in boxes:
        figure.add_annotation(
            x=_COLUMN[box.side],
            y=levels[box.key],
            text=box.label,
            showarrow=False,
            font={"color": GREY if box.faded else _INK, "size": 13},
        )


def _flow_arrows(figure: go.Figure, x: float, levels: Sequence[int]) -> None:
    for below, above in pairwise(levels):
        figure.add_annotation(
            x=x, y=above - HALF_HEIGHT, ax=x, ay=below + HALF_HEIGHT, **_arrow(), text=""
        )


def _repeat_frame(figure: go.Figure, x: float, levels: Sequence[int], layers: int) -> None:
    edge = HALF_WIDTH + 0.06
    figure.add_shape(
        type="rect",
        x0=x - edge,
        x1=x + edge,
        y0=min(levels) - 0.5,
        y1=max(levels) + 0.5,
        line={"color": GREY, "width": 1.5, "dash": "dot"},
        layer="below",
    )
    outside = x - edge - 0.02 if x == 0 else x + edge + 0.02
    figure.add_annotation(
        x=outside,
        y=sum(levels) / len(levels),
        text=f"{layers} ×",
        showarrow=False,
        xanchor="right" if x == 0 else "left",
    )


def _memory_arrow(
    figure: go.Figure, boxes: Sequence[DrawnBox], levels: dict[str, int], cross: int
) -> None:
    """From the top of the encoder across to the decoder's cross-attention."""
    last = max(levels[box.key] for box in boxes if box.side == "encoder")
    middle = (_COLUMN["decoder"] - HALF_WIDTH + _COLUMN["encoder"] + HALF_WIDTH) / 2
    points = [(0.0, last + HALF_HEIGHT), (0.0, last + 0.75), (middle, last + 0.75), (middle, cross)]
    path = "M " + " L ".join(f"{x} {y}" for x, y in points)
    figure.add_shape(type="path", path=path, line={"color": GREY, "width": 1.5})
    figure.add_annotation(
        x=_COLUMN["decoder"] - HALF_WIDTH, y=cross, ax=middle, ay=cross, **_arrow(), text=""
    )


def _arrow() -> dict[str, object]:
    return {
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
