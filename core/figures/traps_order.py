"""What shuffling changed: the difference of every output number, positions off and on."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from core.figures.palette import SEQUENTIAL, finish


def shuffle_differences(
    names: Sequence[str],
    without_positions: Float[np.ndarray, "L d_model"],
    with_positions: Float[np.ndarray, "L d_model"],
) -> go.Figure:
    """Two heat maps on one colour scale: |shuffled then model - model then shuffled|.

    Rows are the residues in the shuffled order, columns the numbers of their vectors.
    """
    top = float(max(without_positions.max(), with_positions.max(), 1e-12))
    titles = ("Positions off", "Positions on")
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, subplot_titles=titles)
    for column, values in enumerate((without_positions, with_positions), 1):
        figure.add_heatmap(
            z=values,
            y=list(names),
            x=[str(i) for i in range(1, values.shape[1] + 1)],
            zmin=0,
            zmax=top,
            colorscale=SEQUENTIAL,
            showscale=column == 2,
            colorbar={"title": "Δ", "thickness": 14},
            hovertemplate="%{y}, number %{x}: difference %{z:.3g}<extra></extra>",
            row=1,
            col=column,
        )
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title_text="Output number", type="category", nticks=8)
    finish(figure, height=330)
    return figure.update_layout(margin_t=30)
