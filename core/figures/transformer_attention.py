"""A cross-attention map between two strings.

In: weights and letters. Out: a Plotly figure.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import SEQUENTIAL, finish


def cross_map(
    weights: Float[np.ndarray, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
    asks: str,
    answers: str,
) -> go.Figure:
    """Rows ask, columns answer; every row sums to 1."""
    figure = go.Figure(
        go.Heatmap(
            z=weights,
            zmin=0,
            zmax=max(float(weights.max()), 1e-9),
            colorscale=SEQUENTIAL,
            colorbar={"title": "weight", "thickness": 12},
            xgap=1,
            ygap=1,
            customdata=[
                [f"{q} {row + 1} gives {k} {column + 1}" for column, k in enumerate(keys)]
                for row, q in enumerate(queries)
            ],
            hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
        )
    )
    figure.update_xaxes(
        title=answers, tickvals=list(range(len(keys))), ticktext=list(keys), tickangle=0
    )
    figure.update_yaxes(
        title=asks,
        tickvals=list(range(len(queries))),
        ticktext=list(queries),
        autorange="reversed",
    )
    return finish(figure, height=max(300, 100 + 20 * len(queries)))
