"""Attention received above the letters, effect of ablation below, ranks written on the bars."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from core.figures.palette import BLUE, ORANGE, finish


def two_rankings(
    names: Sequence[str],
    received: Float[np.ndarray, " L"],
    effect: Float[np.ndarray, " L"],
    received_ranks: Float[np.ndarray, " L"],
    effect_ranks: Float[np.ndarray, " L"],
    *,
    effect_title: str,
) -> go.Figure:
    """Two rows of bars that grow away from the letters between them; a bar carries its rank.

    names: "C1", "A2", ... `received` is a share (0 to 1) and is drawn in per cent. The same
    order above and below means that attention told what matters.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.13)
    rows = (
        ("Attention received (%)", received * 100, received_ranks, BLUE),
        (effect_title, effect, effect_ranks, ORANGE),
    )
    for row, (title, heights, places, colour) in enumerate(rows, 1):
        figure.add_bar(
            name=title,
            x=list(names),
            y=heights,
            marker_color=colour,
            text=[f"{place:g}" for place in places],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{x}: %{y:.3g}, rank %{text}<extra></extra>",
            row=row,
            col=1,
        )
        low, high = min(0.0, float(heights.min())), float(heights.max())
        room = 0.3 * (high - low or 1.0)
        limits = [low - (room if low < 0 else 0), high + room]
        figure.update_yaxes(range=limits[:: 1 if row == 1 else -1], nticks=4, row=row, col=1)
    figure.update_xaxes(type="category", showticklabels=True, row=1, col=1)
    figure.update_xaxes(showticklabels=False, row=2, col=1)
    figure.update_layout(
        bargap=0.25,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemclick": False},
    )
    finish(figure, height=270)
    # Room for the legend, which names the two rows.
    return figure.update_layout(margin_t=30)


def head_agreement(heads: Sequence[str], correlations: Float[np.ndarray, " heads"]) -> go.Figure:
    """One bar per head: its rank correlation with the effect of ablation, from -1 to 1."""
    colours = [ORANGE if value < 0 else BLUE for value in correlations]
    figure = go.Figure(
        go.Bar(
            x=list(range(1, len(heads) + 1)),
            y=correlations,
            marker_color=colours,
            customdata=list(heads),
            hovertemplate="%{customdata}: %{y:+.2f}<extra></extra>",
        )
    )
    figure.update_yaxes(range=[-1, 1], title_text="Rank correlation", tickvals=[-1, 0, 1])
    figure.update_xaxes(title_text="Head", type="category", nticks=13)
    return finish(figure, height=220)
