"""Pictures of positions: the table of waves, single waves, periods, similarity, rotary scores.

In: plain arrays. Out: Plotly figures.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Shaped

from core.figures.palette import CATEGORICAL, DIVERGING, base_layout, draw

_MARGIN = {"l": 80, "r": 8, "t": 12, "b": 72}
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def encoding_heatmap(table: Float[np.ndarray, "L d_model"]) -> go.Figure:
    """Rows are positions, counted from 0 as in the formula; columns are dimensions."""
    heatmap = {
        "type": "heatmap",
        "z": table,
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "colorbar": {"title": {"text": "PE"}, "thickness": 12},
        "hovertemplate": "position %{y}, dimension %{x}: %{z:.3f}<extra></extra>",
    }
    every = {"dtick": 1} if len(table) < 10 else {}  # no half positions
    axes = _axes("dimension", "position", yaxis={"autorange": "reversed", **every})
    margin = {"l": 80, "r": 88, "t": 20, "b": 76}
    return draw([heatmap], base_layout(height=380, margin=margin, **axes))


def waves(
    positions: Float[np.ndarray, " n"],
    curves: Sequence[Float[np.ndarray, " n"]],
    names: Sequence[str],
    marked: int,
) -> go.Figure:
    """One curve per dimension; dots mark the `marked` whole positions that a model sees."""
    traces = []
    whole = np.flatnonzero(positions == np.round(positions))[:marked]
    for number, (curve, name) in enumerate(zip(curves, names, strict=True)):
        colour = CATEGORICAL[number % len(CATEGORICAL)]
        line = {"color": colour, "dash": _DASHES[number % len(_DASHES)]}
        traces.append(_curve(positions, curve, name=name, line=line, mode="lines"))
        dots = _curve(positions[whole], curve[whole], mode="markers", showlegend=False)
        hover = "position %{x}: %{y:.3f}<extra>" + name + "</extra>"
        traces.append(dots | {"marker": {"color": colour, "size": 7}, "hovertemplate": hover})
    axes = _axes("position", "value added", yaxis={"range": [-1.1, 1.1]})
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    margin = _MARGIN | {"t": 44}
    return draw(traces, base_layout(height=320, margin=margin, legend=legend, **axes))


def period_curve(dimensions: Sequence[int], periods: Float[np.ndarray, " n"]) -> go.Figure:
    """Period of every sine-cosine pair, on a logarithmic axis."""
    curve = _curve(
        np.array(dimensions),
        periods,
        mode="lines+markers",
        marker={"size": 5},
        line={"color": CATEGORICAL[0]},
        hovertemplate="dimension %{x}: repeats after %{y:,.1f} positions<extra></extra>",
    )
    axes = _axes("dimension", "positions until it repeats", yaxis={"type": "log"})
    return draw([curve], base_layout(height=320, margin=_MARGIN, **axes))


def similarity_curve(cosine: Float[np.ndarray, " n"]) -> go.Figure:
    """Cosine similarity of two positions against their distance."""
    curve = _curve(
        np.arange(len(cosine)),
        cosine,
        mode="lines",
        line={"color": CATEGORICAL[0]},
        hovertemplate="%{x} apart: cosine %{y:.4f}<extra></extra>",
    )
    axes = _axes("distance in positions", "cosine similarity")
    return draw([curve], base_layout(height=320, margin=_MARGIN, **axes))


def score_map(scores: Float[np.ndarray, "L L"], title: str) -> go.Figure:
    """Scores of one query and one key put at every pair of positions."""
    limit = float(np.abs(scores).max())
    heatmap = {
        "type": "heatmap",
        "z": scores,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 12},
        "hovertemplate": "query at %{y}, key at %{x}: %{z:.3f}<extra></extra>",
    }
    axes = _axes("key's position", "query's position", yaxis={"autorange": "reversed"})
    margin = {"l": 80, "r": 76, "t": 44, "b": 76}
    return draw([heatmap], base_layout(height=360, title=title, margin=margin, **axes))


def _curve(
    x: Shaped[np.ndarray, " n"], y: Float[np.ndarray, " n"], **more: object
) -> dict[str, object]:
    return {"type": "scatter", "x": x, "y": y, **more}


def _axes(x: str, y: str, yaxis: Mapping[str, object] | None = None) -> dict[str, Any]:
    return {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}, **(yaxis or {})}}
