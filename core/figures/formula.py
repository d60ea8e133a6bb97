"""The row of one query as bars, one panel per step of the formula, over its ghost.

In: one array per step. Out: a Plotly figure with one x axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, GREY, ORANGE, VERMILION, finish

_ALL_LABELS_UP_TO = 20


@dataclass(frozen=True, eq=False)
class Panel:
    """One step: its name, a value per key, and the ghost's values when there is one."""

    name: str
    values: np.ndarray
    ghost: np.ndarray | None = None


def row_bars(panels: Sequence[Panel], labels: Sequence[str], key: int) -> go.Figure:
    """Panels from top to bottom; the followed `key` is vermilion, the ghost a grey line."""
    figure = go.Figure()
    step = 1 / len(panels)
    positions = list(range(len(labels)))
    for index, panel in enumerate(panels):
        axis = "y" if index == 0 else f"y{index + 1}"
        colours = [VERMILION if position == key else BLUE for position in positions]
        figure.add_trace(_bars(panel, positions, labels, colours, axis))
        if panel.ghost is not None:
            figure.add_trace(_ghost(panel.ghost, axis))
        top = 1 - index * step
        figure.layout[axis.replace("y", "yaxis")] = {
            "domain": [max(0, top - 0.94 * step), top - 0.3 * step],
            "anchor": "x",
            "nticks": 3,
            "fixedrange": True,
            "automargin": False,
            "ticks": "",
            "zerolinecolor": GREY,
            "tickfont": {"size": 11},
        }
        figure.add_annotation(
            text=panel.name, x=0, y=top, xref="paper", yref="paper", xanchor="left",
            yanchor="top", showarrow=False, font={"size": 13},
        )  # fmt: skip
    return _dressed(figure, labels)


def _bars(
    panel: Panel, positions: list[int], labels: Sequence[str], colours: list[str], axis: str
) -> go.Bar:
    return go.Bar(
        x=positions,
        y=np.round(panel.values, 6),
        yaxis=axis,
        marker={"color": colours},
        customdata=list(labels),
        hovertemplate="%{customdata}: %{y:.4g}<extra></extra>",
        showlegend=False,
    )


def _ghost(values: np.ndarray, axis: str) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(values))),
        y=np.round(values, 6),
        yaxis=axis,
        mode="markers",
        marker={"symbol": "line-ew", "size": 14, "line": {"width": 2, "color": ORANGE}},
        hovertemplate="untouched: %{y:.4g}<extra></extra>",
        showlegend=False,
    )


def _dressed(figure: go.Figure, labels: Sequence[str]) -> go.Figure:
    every = 1 if len(labels) <= _ALL_LABELS_UP_TO else 5
    kept = [i for i in range(len(labels)) if every == 1 or (i + 1) % every == 0]
    figure.update_layout(
        bargap=0.25,
        xaxis={
            "tickvals": kept,
            "ticktext": [labels[i] for i in kept],
            "tickangle": 0 if len(labels) <= 16 else -90,
            "fixedrange": True,
            "automargin": False,
            "ticks": "",
            "showgrid": False,
            "anchor": "free",
            "position": 0,
        },
    )
    finish(figure, height=540)
    figure.update_layout(margin={"l": 44, "r": 8, "t": 6, "b": 30})
    return figure
