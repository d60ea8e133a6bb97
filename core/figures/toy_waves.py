"""How a head that follows the slow wave looks along a long sequence.

In: distances and weights. Out: a Plotly figure.
"""

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, VERMILION, finish


def reach(distances: np.ndarray, weights: np.ndarray, marks: list[float]) -> go.Figure:
    """Weights of one query by distance to the key, with a line at each place of a whole period."""
    figure = go.Figure(
        go.Bar(
            x=distances,
            y=np.round(weights, 5),
            marker_color=BLUE,
            hovertemplate="%{x:+d} residues: %{y:.1%}<extra></extra>",
        )
    )
    for mark in marks:
        figure.add_vline(x=mark, line={"color": VERMILION, "dash": "dot", "width": 2})
    figure.update_xaxes(title="distance from the asking residue", fixedrange=True)
    figure.update_yaxes(tickformat=".0%", title="weight", fixedrange=True)
    return finish(figure, height=280)
