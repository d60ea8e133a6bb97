"""An array that flows through the model: one row per letter, one column per dimension.

In: the array and its letters. Out: a Plotly figure.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import DIVERGING, SEQUENTIAL, base_layout, draw
from core.figures.toy_words import around

_SHORT = {"PAD": "·", "BOS": "▸", "EOS": "■"}


def flowing(
    values: Float[np.ndarray, "L width"], letters: Sequence[str], columns: Sequence[str] | None
) -> go.Figure:
    """`columns` names the columns (tokens); without it they are numbered dimensions. PAD, BOS
    and EOS are signs on the axis, the pointer shows them in full.

    Values that are never negative (probabilities) get the sequential colours.
    """
    names = list(columns) if columns else [f"dimension {n}" for n in range(values.shape[1])]
    places = [
        [f"{letter} {row}, {name}" for name in names] for row, letter in enumerate(letters, 1)
    ]
    (left, below), axes = around(letters, [_SHORT.get(name, name) for name in columns or ()], 11)
    if not columns:
        axes["xaxis"] = {"range": [-0.5, len(names) - 0.5], "fixedrange": True}
    layout = base_layout(
        height=max(220, 70 + 16 * len(letters)),
        margin={"l": 14 + 8 * max(map(len, letters)), "r": 70, "t": 12, "b": 24 if columns else 46},
        **axes,
    )
    return draw([_heat(values, places), left, *([below] if columns else [])], layout)


def _heat(values: Float[np.ndarray, "L width"], places: list[list[str]]) -> dict[str, object]:
    signed = bool((values < 0).any())
    limit = max(float(np.abs(values).max()), 1e-9)
    return {
        "type": "heatmap",
        "z": values,
        "zmin": -limit if signed else 0,
        "zmax": limit,
        "colorscale": DIVERGING if signed else SEQUENTIAL,
        "colorbar": {"thickness": 12},
        "customdata": places,
        "hovertemplate": "%{customdata}: %{z:.3f}<extra></extra>",
    }
