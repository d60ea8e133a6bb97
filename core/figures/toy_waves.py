"""How a head that follows the slow wave looks along a long sequence.

In: distances and weights. Out: a Plotly figure.
"""

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, VERMILION, base_layout, draw


def reach(distances: np.ndarray, weights: np.ndarray, marks: list[float]) -> go.Figure:
    """Weights of one query by distance to the key, with a line at each place of a whole period."""
    bars = {
        "type": "bar",
        "x": distances,
        "y": np.round(weights, 5),
        "marker": {"color": BLUE},
        "hovertemplate": "%{x:+d} residues: %{y:.1%}<extra></extra>",
    }
    dotted = {"color": VERMILION, "dash": "dot", "width": 2}
    layout = base_layout(
        height=280,
        margin={"l": 52, "r": 8, "t": 12, "b": 44},
        xaxis={"title": {"text": "distance from the asking residue"}, "fixedrange": True},
        yaxis={"title": {"text": "weight"}, "tickformat": ".0%", "fixedrange": True},
        shapes=[
            {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": dotted}
            for x in marks
        ],
    )
    return draw([bars], layout)
