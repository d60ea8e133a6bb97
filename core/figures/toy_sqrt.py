"""Softmax with and without the division by sqrt(d_k): one draw, and many.

In: weights, or the largest weight of each draw. Out: Plotly figures.
"""

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, VERMILION, finish

_BINS = 40


def draw_bars(unscaled: np.ndarray, scaled: np.ndarray) -> go.Figure:
    """The weights of one draw, key by key, both ways."""
    keys = [f"key {index + 1}" for index in range(len(unscaled))]
    figure = go.Figure(
        [
            go.Bar(name="raw scores", x=keys, y=np.round(unscaled, 5), marker_color=VERMILION),
            go.Bar(name="divided by √d_k", x=keys, y=np.round(scaled, 5), marker_color=BLUE),
        ]
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.15})
    figure.update_yaxes(range=[0, 1], tickformat=".0%", fixedrange=True)
    return finish(figure, height=280)


def top_weight_histogram(unscaled: np.ndarray, scaled: np.ndarray) -> go.Figure:
    """How often the largest weight falls where; counted here, so the picture stays small."""
    edges = np.linspace(0, 1, _BINS + 1)
    figure = go.Figure()
    for name, values, colour in (
        ("raw scores", unscaled, VERMILION),
        ("divided by √d_k", scaled, BLUE),
    ):
        counts, _ = np.histogram(values, edges)
        figure.add_trace(
            go.Bar(
                name=name, x=edges[:-1] + 0.5 / _BINS, y=counts, marker_color=colour, opacity=0.75
            )
        )
    figure.update_layout(barmode="overlay", bargap=0, legend={"orientation": "h", "y": 1.15})
    figure.update_xaxes(title="largest weight of a draw", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title="draws")
    return finish(figure, height=300)
