"""Masks as grids: who may look at whom.

In: boolean arrays and the letters along both sides. Out: a Plotly figure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool
from plotly.subplots import make_subplots

from core.figures.palette import BLUE, finish

_BLOCKED = "rgba(138,143,152,0.25)"


def mask_grids(
    masks: Mapping[str, Bool[np.ndarray, "n_query n_key"]],
    queries: Sequence[str],
    keys: Sequence[str],
) -> go.Figure:
    """One grid per mask, side by side. A dot means: this query may attend to this key."""
    figure = make_subplots(cols=len(masks), subplot_titles=list(masks), horizontal_spacing=0.06)
    for column, (name, mask) in enumerate(masks.items(), 1):
        figure.add_heatmap(
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
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
            row=1,
            col=column,
        )
    figure.update_xaxes(tickvals=list(range(len(keys))), ticktext=list(keys), tickangle=0)
    figure.update_yaxes(
        tickvals=list(range(len(queries))), ticktext=list(queries), autorange="reversed"
    )
    finish(figure, height=max(300, 90 + 20 * len(queries)))
    return figure.update_layout(margin_t=36)  # room for the names of the grids


def _words(
    mask: Bool[np.ndarray, "n_query n_key"], queries: Sequence[str], keys: Sequence[str]
) -> list[list[str]]:
    return [
        [
            f"{queries[q]} (position {q + 1}) {'may' if mask[q, k] else 'may not'} look at "
            f"{keys[k]} (position {k + 1})"
            for k in range(len(keys))
        ]
        for q in range(len(queries))
    ]
