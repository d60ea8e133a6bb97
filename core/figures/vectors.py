"""Vectors as heat strips of numbers.

In: arrays and labels. Out: Plotly figures.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import (
    DIVERGING,
    base_layout,
    draw,
)
from core.figures.toy_words import UNSEEN_AXIS, words

_NUMBERS_UP_TO = 200
_SIGNS_ON_A_PHONE = 56


def vector_strip(
    blocks: Sequence[np.ndarray],
    titles: Sequence[str],
    row_labels: Sequence[str],
    column_labels: Sequence[Sequence[str]],
    *,
    numbers: bool = True,
) -> go.Figure:
    """Blocks with the same rows side by side, one colour scale, numbers in the cells if few.

    As many columns are named as a telephone has room for; hovering names all.
    """
    lefts = np.cumsum([0] + [block.shape[1] + 1 for block in blocks[:-1]])
    cells = np.full((len(row_labels), sum(b.shape[1] + 1 for b in blocks) - 1), np.nan)
    for left, block in zip(lefts, blocks, strict=True):
        cells[:, left : left + block.shape[1]] = block
    # Between two blocks lies a column without a name.
    names = [name for block in column_labels for name in (*block, "")][:-1]
    heat = _heat(cells, row_labels, names)
    if numbers and cells.size <= _NUMBERS_UP_TO:
        heat["texttemplate"] = "%{z:.2f}"
    height, width = cells.shape
    below = [name for block in column_labels for name in (*_spaced(block, width), "")][:-1]
    letters = (
        words([-0.5] * height, range(height), row_labels, "middle left"),
        words(range(width), [height - 0.5] * width, below, "bottom center", size=10),
        words(
            [float(left) - 0.5 for left in lefts], [-0.5] * len(lefts), titles, "top right", size=13
        ),
    )
    layout = base_layout(
        height=70 + max(26 * height, 110),
        margin={"l": 44, "r": 8, "t": 30, "b": 36},
        yaxis={"range": [height - 0.5, -0.5], **UNSEEN_AXIS},
        xaxis={"range": [-0.5, width - 0.5], **UNSEEN_AXIS},
    )
    return draw([heat, *letters], layout)


def _heat(cells: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> dict[str, object]:
    largest = max(1e-9, float(np.nanmax(np.abs(cells))))
    return {
        "type": "heatmap",
        "z": np.round(cells, 4),
        "colorscale": DIVERGING,
        "zmin": -largest,
        "zmax": largest,
        "showscale": False,
        "text": [[f"{row} {column}" for column in columns] for row in rows],
        "hovertemplate": "%{text}: %{z:.3f}<extra></extra>",
        "hoverongaps": False,
    }


def _spaced(names: Sequence[str], width: int) -> list[str]:
    """One block's names, some left out where `width` columns of the longest would touch."""
    needed = max(map(len, names)) * width / _SIGNS_ON_A_PHONE
    every = next((step for step in (1, 2, 5) if step >= needed), 10)
    return [name if at % every == 0 else "" for at, name in enumerate(names, 1)]
