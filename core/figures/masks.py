"""A mask as a grid: who may look at whom.

In: a boolean array and the letters along both sides. Out: a Plotly figure.
"""

from collections.abc import Mapping, Sequence

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
    short: Mapping[str, str] | None = None,
) -> go.Figure:
    """A dot means: this query (row) may attend to this key (column).

    `short` replaces names that are too long for an axis; the pointer shows them in full.
    """
    short = short or {}
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
    font = {"size": 11 if len(keys) <= 24 else 8}
    ticks = [[short.get(name, name) for name in names] for names in (keys, queries)]
    figure.update_xaxes(
        tickvals=list(range(len(keys))), ticktext=ticks[0], tickangle=0, tickfont=font
    )
    figure.update_yaxes(
        tickvals=list(range(len(queries))), ticktext=ticks[1], autorange="reversed", tickfont=font
    )
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
