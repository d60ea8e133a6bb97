"""Pictures of positions: the table of waves, single waves, periods, similarity, rotary scores.

In: plain arrays. Out: Plotly figures.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import CATEGORICAL, DIVERGING, finish

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def encoding_heatmap(table: Float[np.ndarray, "L d_model"]) -> go.Figure:
    """Rows are positions, counted from 0 as in the formula; columns are dimensions."""
    figure = go.Figure(
        go.Heatmap(
            z=table,
            zmin=-1,
            zmax=1,
            colorscale=DIVERGING,
            colorbar={"title": "PE", "thickness": 12},
            hovertemplate="position %{y}, dimension %{x}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="dimension")
    figure.update_yaxes(title="position", autorange="reversed")
    return finish(figure, height=380)


def waves(
    positions: Float[np.ndarray, " n"],
    curves: Sequence[Float[np.ndarray, " n"]],
    names: Sequence[str],
    marked: int,
) -> go.Figure:
    """One curve per dimension; dots mark the `marked` whole positions that a model sees."""
    figure = go.Figure()
    whole = np.flatnonzero(positions == np.round(positions))[:marked]
    for number, (curve, name) in enumerate(zip(curves, names, strict=True)):
        colour = CATEGORICAL[number % len(CATEGORICAL)]
        line = {"color": colour, "dash": _DASHES[number % len(_DASHES)]}
        figure.add_scatter(x=positions, y=curve, name=name, line=line, mode="lines")
        figure.add_scatter(
            x=positions[whole],
            y=curve[whole],
            mode="markers",
            marker={"color": colour, "size": 7},
            showlegend=False,
            hovertemplate="position %{x}: %{y:.3f}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="position")
    figure.update_yaxes(title="value added", range=[-1.1, 1.1])
    figure.update_layout(legend={"orientation": "h", "y": 1.12})
    return finish(figure, height=320)


def period_curve(dimensions: Sequence[int], periods: Float[np.ndarray, " n"]) -> go.Figure:
    """Period of every sine-cosine pair, on a logarithmic axis."""
    figure = go.Figure(
        go.Scatter(
            x=list(dimensions),
            y=periods,
            mode="lines+markers",
            marker={"size": 5},
            line={"color": CATEGORICAL[0]},
            hovertemplate="dimension %{x}: repeats after %{y:,.1f} positions<extra></extra>",
        )
    )
    figure.update_xaxes(title="dimension")
    figure.update_yaxes(title="positions until it repeats", type="log")
    return finish(figure, height=320)


def similarity_curve(cosine: Float[np.ndarray, " n"]) -> go.Figure:
    """Cosine similarity of two positions against their distance."""
    figure = go.Figure(
        go.Scatter(
            y=cosine,
            mode="lines",
            line={"color": CATEGORICAL[0]},
            hovertemplate="%{x} apart: cosine %{y:.4f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="distance in positions")
    figure.update_yaxes(title="cosine similarity")
    return finish(figure, height=320)


def score_map(scores: Float[np.ndarray, "L L"], title: str) -> go.Figure:
    """Scores of one query and one key put at every pair of positions."""
    limit = float(np.abs(scores).max())
    figure = go.Figure(
        go.Heatmap(
            z=scores,
            zmin=-limit,
            zmax=limit,
            colorscale=DIVERGING,
            colorbar={"thickness": 12},
            hovertemplate="query at %{y}, key at %{x}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="key's position")
    figure.update_yaxes(title="query's position", autorange="reversed")
    return finish(figure, height=360, title=title)
