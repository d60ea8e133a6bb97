"""A mask as a grid: who may look at whom.

In: a boolean array and the letters along both sides. Out: a Plotly figure.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from core.figures.palette import BLUE, finish

_BLOCKED = "rgba(138,143,152,0.25)"


def mask_grid(
    mask: Bool[np.ndarray, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
) -> go.Figure:
    """A dot means: this query (row) may attend to this key (column)."""
    figure = go.Figure(
        go.Heatmap(
            z=mask.astype(int),
            zmin=0,
            zmax=1,
            colorscale=[[0, _BLOCKED], [1, BLUE]],
            showscale=False,
            xgap=1,
            ygap=1,
            text=np.where(mask, "•", ""),
            texttemplate="%{text}",
            textfont={"color": "#ffffff"},
            customdata=_words(mask, queries, keys),
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_xaxes(tickvals=list(range(len(keys))), ticktext=list(keys), tickangle=0)
    figure.update_yaxes(
        tickvals=list(range(len(queries))), ticktext=list(queries), autorange="reversed"
    )
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.tickfont = {"size": 11 if len(keys) <= 24 else 8}
    return finish(figure, height=min(640, 90 + 19 * len(queries)), title=title)


def _words(
    mask: Bool[np.ndarray, "n_query n_key"], queries: Sequence[str], keys: Sequence[str]
) -> list[list[str]]:
    return [
        [
            f"{query} (position {row + 1}) {'may' if mask[row, column] else 'may not'} look at "
            f"{key} (position {column + 1})"
            for column, key in enumerate(keys)
        ]
        for row, query in enumerate(queries)
    ]
