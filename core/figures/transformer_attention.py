"""A cross-attention map between two strings.

In: weights and letters. Out: a Plotly figure.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import SEQUENTIAL, base_layout, draw
from core.figures.toy_words import around
from core.written import percent


def cross_map(
    weights: Float[np.ndarray, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
    asks: str,
    answers: str,
) -> go.Figure:
    """Rows ask, columns answer; every row sums to 1."""
    letters, axes = around(queries, ["▸" if key == "BOS" else key for key in keys])
    room = 10 + 9 * max(map(len, queries))  # pixels that the rows' letters take
    layout = base_layout(
        height=max(300, 100 + 20 * len(queries)),
        xaxis=axes["xaxis"] | _titled(answers, 22),
        yaxis=axes["yaxis"] | _titled(asks, room),
        margin={"l": room + 30, "r": 98, "t": 12, "b": 48},
    )
    return draw([_heat(weights, queries, keys), *letters], layout)


def _heat(
    weights: Float[np.ndarray, "n_query n_key"], queries: Sequence[str], keys: Sequence[str]
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": weights,
        "zmin": 0,
        "zmax": max(float(weights.max()), 1e-9),
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": "weight"}, "thickness": 12},
        "xgap": 1,
        "ygap": 1,
        "customdata": [
            [
                f"{q} {row} gives {k} {column}: {percent(weight, 1)}"
                for column, (k, weight) in enumerate(zip(keys, given, strict=True), 1)
            ]
            for row, (q, given) in enumerate(zip(queries, weights.tolist(), strict=True), 1)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _titled(title: str, standoff: int) -> dict[str, Any]:
    lines = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    return {"visible": True, "title": {"text": title, "standoff": standoff}, **lines}
