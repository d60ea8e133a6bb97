"""The row of one query as bars, one band per step of the formula, over its ghost.

In: one array per step. Out: a Plotly figure. All bands share one pair of axes, each drawn to its
own scale, because drawing axes is what takes the browser its time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, GREY, ORANGE, VERMILION, base_layout, draw
from core.figures.toy_words import UNSEEN_AXIS, words, written
from core.written import typeset

_FILLED = 0.66
_DASH = 0.42


@dataclass(frozen=True, eq=False)
class Panel:
    """One step: its name, a value per key, and the ghost's values when there is one."""

    name: str
    values: np.ndarray
    ghost: np.ndarray | None = None

    def span(self) -> tuple[float, float]:
        """Lowest and highest value to make room for, 0 among them."""
        everything = self.values if self.ghost is None else np.r_[self.values, self.ghost]
        low, high = min(0.0, float(everything.min())), max(0.0, float(everything.max()))
        return low, high if high > low else low + 1.0


def row_bars(panels: Sequence[Panel], labels: Sequence[str], key: int) -> go.Figure:
    """Bands from top to bottom; the followed `key` is vermilion, the ghost an orange dash.

    A bar's position is exact within its band; the value itself is in its hover label.
    """
    bars: dict[str, list] = {"x": [], "y": [], "base": [], "color": [], "text": []}
    zeros, ghosts, notes = [], [], []
    for index, panel in enumerate(panels):
        bottom = len(panels) - 1 - index
        low, high = panel.span()
        scale = _FILLED / (high - low)
        zero = bottom - low * scale
        bars["x"] += range(len(labels))
        bars["y"] += list(np.round(panel.values * scale, 5))
        bars["base"] += [zero] * len(labels)
        bars["color"] += [VERMILION if i == key else BLUE for i in range(len(labels))]
        bars["text"] += _texts(labels, panel)
        zeros += _across(-0.5, len(labels) - 0.5, zero)
        if panel.ghost is not None:
            for x, y in enumerate(np.round(zero + panel.ghost * scale, 5)):
                ghosts += _across(x - _DASH, x + _DASH, float(y))
        notes.append(_note(panel))
    data = [_lines(zeros, GREY, 1), _bars(bars)] + ([_lines(ghosts, ORANGE, 2)] if ghosts else [])
    return draw([*data, *_letters(labels, notes)], _layout(len(labels), len(panels)))


def _note(panel: Panel) -> str:
    """The step's name and the values that its bars stand for, 0 among them."""
    low, high = min(0.0, float(panel.values.min())), max(0.0, float(panel.values.max()))
    return f"{panel.name}  ({typeset(low, '.3g')} to {typeset(high, '.3g')})"


def _texts(labels: Sequence[str], panel: Panel) -> list[str]:
    step = panel.name.partition(":")[0]
    texts = [
        f"{name}: {step} {typeset(value, '.4g')}"
        for name, value in zip(labels, panel.values, strict=True)
    ]
    if panel.ghost is None:
        return texts
    return [
        f"{text}<br>untouched {typeset(was, '.4g')}"
        for text, was in zip(texts, panel.ghost, strict=True)
    ]


def _bars(bars: dict[str, list]) -> dict[str, object]:
    return {
        "type": "bar",
        "x": bars["x"],
        "y": bars["y"],
        "base": bars["base"],
        "marker": {"color": bars["color"], "line": {"width": 0}},
        "hovertext": bars["text"],
        "hoverinfo": "text",
        "showlegend": False,
    }


def _across(left: float, right: float, y: float) -> list[tuple[float | None, float | None]]:
    return [(left, y), (right, y), (None, None)]


def _lines(
    points: list[tuple[float | None, float | None]], colour: str, width: int
) -> dict[str, object]:
    # One path for all: a mark each would take the browser longer than all the rest.
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"color": colour, "width": width},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _letters(labels: Sequence[str], notes: Sequence[str]) -> tuple[dict[str, object], ...]:
    kept = written(len(labels))
    tops = [bottom + 0.94 for bottom in reversed(range(len(notes)))]
    return (
        words([-0.6] * len(notes), tops, notes, "bottom right", size=13),
        words(kept, [-0.02] * len(kept), [labels[i] for i in kept], "bottom center"),
    )


def _layout(length: int, panels: int) -> dict[str, object]:
    return base_layout(
        height=30 + 84 * panels,
        clickable=True,
        margin={"l": 4, "r": 8, "t": 4, "b": 30},
        barmode="overlay",
        bargap=0.25,
        xaxis={"range": [-0.6, length - 0.4], **UNSEEN_AXIS},
        yaxis={"range": [-0.02, panels], **UNSEEN_AXIS},
    )
