"""The row of one query as bars, one band per step of the formula, over its ghost.

In: one array per step. Out: a Plotly figure. All bands share one pair of axes, each drawn to its
own scale, because drawing axes is what takes the browser its time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, GREY, ORANGE, VERMILION, base_layout, draw

_ALL_LABELS_UP_TO = 20
_FILLED = 0.68


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
    ghosts: dict[str, list] = {"x": [], "y": [], "text": []}
    zeros, notes = [], []
    for index, panel in enumerate(panels):
        bottom = len(panels) - 1 - index
        low, high = panel.span()
        scale = _FILLED / (high - low)
        zero = bottom - low * scale
        bars["x"] += range(len(labels))
        bars["y"] += list(np.round(panel.values * scale, 5))
        bars["base"] += [zero] * len(labels)
        bars["color"] += [VERMILION if i == key else BLUE for i in range(len(labels))]
        bars["text"] += _texts(labels, panel.name, panel.values)
        if panel.ghost is not None:
            ghosts["x"] += range(len(labels))
            ghosts["y"] += list(np.round(zero + panel.ghost * scale, 5))
            ghosts["text"] += _texts(labels, "untouched", panel.ghost)
        zeros += [(-0.5, zero), (len(labels) - 0.5, zero), (None, None)]
        notes.append(_note(f"{panel.name}  ({low:.3g} to {high:.3g})", bottom + 0.98))
    data = [_zero_lines(zeros), _bars(bars)] + ([_ghosts(ghosts)] if ghosts["x"] else [])
    return draw(data, _layout(labels, len(panels), notes))


def _texts(labels: Sequence[str], name: str, values: np.ndarray) -> list[str]:
    step = name.partition(":")[0]
    return [f"{label}: {step} {value:.4g}" for label, value in zip(labels, values, strict=True)]


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


def _ghosts(ghosts: dict[str, list]) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": ghosts["x"],
        "y": ghosts["y"],
        "hovertext": ghosts["text"],
        "hoverinfo": "text",
        "marker": {"symbol": "line-ew", "size": 14, "line": {"width": 2, "color": ORANGE}},
        "showlegend": False,
    }


def _zero_lines(points: list[tuple[float | None, float | None]]) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"color": GREY, "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _note(text: str, y: float) -> dict[str, object]:
    return {
        "text": text,
        "x": 0,
        "xref": "paper",
        "y": y,
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 13},
    }


def _layout(labels: Sequence[str], panels: int, notes: list[dict]) -> dict[str, object]:
    every = 1 if len(labels) <= _ALL_LABELS_UP_TO else 5
    kept = [i for i in range(len(labels)) if (i + 1) % every == 0]
    return base_layout(
        height=30 + 84 * panels,
        margin={"l": 4, "r": 4, "t": 4, "b": 30},
        barmode="overlay",
        bargap=0.25,
        xaxis={
            "range": [-0.6, len(labels) - 0.4],
            "tickvals": kept,
            "ticktext": [labels[i] for i in kept],
            "tickangle": 0 if len(labels) <= 16 or every > 1 else -90,
            "ticks": "",
            "fixedrange": True,
            "automargin": False,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={"range": [-0.02, panels], "visible": False, "fixedrange": True},
        annotations=notes,
    )
