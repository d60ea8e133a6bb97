"""What shuffling changed: the difference of every output number, positions off and on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import SEQUENTIAL, base_layout, draw


def shuffle_differences(
    names: Sequence[str],
    without_positions: Float[np.ndarray, "L d_model"],
    with_positions: Float[np.ndarray, "L d_model"],
) -> go.Figure:
    """Two heat maps on one colour scale: |shuffled then model - model then shuffled|.

    Rows are the residues in the shuffled order, columns the numbers of their vectors.
    """
    top = float(max(without_positions.max(), with_positions.max(), 1e-12))
    left = _map(names, without_positions, top)
    right = {**_map(names, with_positions, top), "xaxis": "x2", "yaxis": "y2"}
    numbers = {"title": {"text": "Output number"}, "type": "category", "nticks": 8}
    rows = {"autorange": "reversed", "type": "category"}
    layout = base_layout(
        height=330,
        margin={"l": 52, "r": 76, "t": 30, "b": 76},
        xaxis={**numbers, "domain": [0, 0.46]},
        xaxis2={**numbers, "domain": [0.54, 1], "anchor": "y2"},
        yaxis=rows,
        yaxis2={**rows, "anchor": "x2", "matches": "y", "showticklabels": False},
        annotations=[_title("Positions off", 0.0), _title("Positions on", 0.54)],
    )
    return draw([{**left, "showscale": False}, right], layout)


def _map(
    names: Sequence[str], values: Float[np.ndarray, "L d_model"], top: float
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": values,
        "y": list(names),
        "x": [str(i) for i in range(1, values.shape[1] + 1)],
        "zmin": 0,
        "zmax": top,
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": "Δ"}, "thickness": 14},
        "hovertemplate": "%{y}, number %{x}: difference %{z:.3g}<extra></extra>",
    }


def _title(text: str, x: float) -> dict[str, Any]:
    place = {
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
    }
    return {"text": text, "showarrow": False, "font": {"size": 15}, **place}
