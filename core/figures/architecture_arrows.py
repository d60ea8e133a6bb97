"""The lines of the drawing: from box to box, around a sublayer, across to the decoder.

In: the levels that boxes stand on. Out: points, and the two traces that draw them all.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from core.figures.palette import GREY

HALF_WIDTH, HALF_HEIGHT = 0.43, 0.31
ADDED = 0.42  # how far above a box the stream is added in pre-LN
QUIET = {"hoverinfo": "skip", "showlegend": False}
Piece = dict[str, Any]
Point = tuple[float, float | int]
Points = list[Point]
COLUMN = {"encoder": 0.0, "decoder": 1.16}


def flow_arrows(x: float, levels: Sequence[int]) -> list[Points]:
    """From box to box, straight up."""
    return [
        [(x, below + HALF_HEIGHT), (x, above - HALF_HEIGHT)] for below, above in pairwise(levels)
    ]


def residual(x: float, level: int, *, into_box: bool) -> Points:
    """From below the box on `level` around it and the next one, into that or above both."""
    away = outwards(x)
    side = x + away * (HALF_WIDTH + 0.05)
    end = level + 1 + (0 if into_box else ADDED)
    target = x + away * (HALF_WIDTH if into_box else 0.03)
    start = level - 0.43
    return [(x, start), (side, start), (side, end), (target, end)]


def memory(last: int, cross: int) -> Points:
    """From the encoder's `last` level across to the decoder's cross-attention."""
    right = COLUMN["decoder"] - HALF_WIDTH
    middle = (right + COLUMN["encoder"] + HALF_WIDTH) / 2
    above = last + 0.75
    start = [(0.0, last + HALF_HEIGHT), (0.0, above)]
    return [*start, (middle, above), (middle, cross), (right, cross)]


def arrows(ways: Sequence[Points], plus: Points) -> list[Piece]:
    """All lines as one trace, all heads and plus signs as another."""
    lines = [point for points in ways for point in (*points, (None, None))]
    heads = [_head(*points[-2:]) for points in ways] + [(x, y, "cross") for x, y in plus]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [x for x, _ in lines],
            "y": [y for _, y in lines],
            "line": {"color": GREY, "width": 1.5},
            **QUIET,
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": [x for x, _, _ in heads],
            "y": [y for _, y, _ in heads],
            "marker": {"color": GREY, "size": 7, "symbol": [symbol for _, _, symbol in heads]},
            "unselected": {"marker": {"opacity": 1}},
            **QUIET,
        },
    ]


def _head(before: Point, end: Point) -> tuple[float, float | int, str]:
    """Centre and symbol of an arrow's head whose tip is at `end`."""
    if end[0] == before[0]:
        return end[0], end[1] - 0.09, "triangle-up"
    if end[0] > before[0]:
        return end[0] - 0.02, end[1], "triangle-right"
    return end[0] + 0.02, end[1], "triangle-left"


def outwards(x: float) -> int:
    """Away from the other column: -1 is to the left."""
    return -1 if x == 0 else 1
