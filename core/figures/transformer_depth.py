"""Norms by layer for two placements of LayerNorm.

In: one array per placement. Out: a Plotly figure.
"""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, ORANGE, base_layout, draw

_LINES = ({"color": ORANGE, "dash": "solid"}, {"color": BLUE, "dash": "dash"})
_SYMBOLS = ("circle", "diamond")


def norms_by_layer(
    norms: Mapping[str, Float[np.ndarray, " layers"]], first_layer: int, title: str
) -> go.Figure:
    """One line per placement; the first value belongs to layer `first_layer` (0 = the input)."""
    traces = [
        {
            "type": "scatter",
            "x": np.arange(first_layer, first_layer + len(values)),
            "y": values,
            "name": name,
            "mode": "lines+markers",
            "line": line,
            "marker": {"size": 6, "symbol": symbol},
            "hovertemplate": "layer %{x}: %{y:.2f}<extra>" + name + "</extra>",
        }
        for (name, values), line, symbol in zip(norms.items(), _LINES, _SYMBOLS, strict=True)
    ]
    layout = base_layout(
        height=340,
        title=title,
        margin={"l": 40, "r": 8, "t": 44, "b": 110},
        xaxis={"title": {"text": "layer"}},
        yaxis={"rangemode": "tozero"},
        legend={"orientation": "h", "y": -0.25},
    )
    return draw(traces, layout)
