"""A cross-attention map between two strings.

In: weights and letters. Out: a Plotly figure.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import SEQUENTIAL, base_layout, draw


def cross_map(
    weights: Float[np.ndarray, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
    asks: str,
    answers: str,
) -> go.Figure:
    """Rows ask, columns answer; every row sums to 1."""
    heatmap = {
        "type": "heatmap",
        "z": weights,
        "zmin": 0,
        "zmax": max(float(weights.max()), 1e-9),
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": "weight"}, "thickness": 12},
        "xgap": 1,
        "ygap": 1,
        "customdata": [
            [f"{q} {row} gives {k} {column}" for column, k in enumerate(keys, 1)]
            for row, q in enumerate(queries, 1)
        ],
        "hovertemplate": "%{customdata}: %{z:.1%}<extra></extra>",
    }
    axes: dict[str, Any] = {
        "xaxis": _axis(answers, keys) | {"tickangle": 0},
        "yaxis": _axis(asks, queries) | {"autorange": "reversed"},
    }
    return draw([heatmap], base_layout(height=max(300, 100 + 20 * len(queries)), **axes))


def _axis(title: str, names: Sequence[str]) -> dict[str, object]:
    return {"title": {"text": title}, "tickvals": [*range(len(names))], "ticktext": [*names]}
