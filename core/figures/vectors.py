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
    # Between two blocks lies a column without numbers and without a name.
    gap = np.full((len(row_labels), 1), np.nan)
    cells = np.hstack([column for block in blocks for column in (block, gap)][:-1])
    starts = [float(at) - 0.5 for at in np.cumsum([0, *(b.shape[1] + 1 for b in blocks[:-1])])]
    heat = _heat(cells, row_labels, column_labels, numbers=numbers and cells.size <= _NUMBERS_UP_TO)
    height, width = cells.shape
    below = [name for block in column_labels for name in (*_spaced(block, width), "")][:-1]
    rows = words([-0.5] * height, range(height), row_labels, "middle left")
    columns = words(range(width), [height - 0.5] * width, below, "bottom center", size=10)
    headings = words(starts, [-0.5] * len(starts), titles, "top right", size=13)
    layout = base_layout(
        height=70 + max(26 * height, 110),
        margin={"l": 44, "r": 8, "t": 30, "b": 36},
        yaxis={"range": [height - 0.5, -0.5], **UNSEEN_AXIS},
        xaxis={"range": [-0.5, width - 0.5], **UNSEEN_AXIS},
    )
    return draw([heat, rows, columns, headings], layout)


def _heat(
    cells: np.ndarray, rows: Sequence[str], columns: Sequence[Sequence[str]], *, numbers: bool
) -> dict[str, object]:
    names = [name for block in columns for name in (*block, "")][:-1]
    largest = max(1e-9, float(np.nanmax(np.abs(cells))))
    return {
        "type": "heatmap",
        "z": np.round(cells, 4),
        "colorscale": DIVERGING,
        "zmin": -largest,
        "zmax": largest,
        "showscale": False,
        "text": [[f"{row} {name}" for name in names] for row in rows],
        "hovertemplate": "%{text}: %{z:.3f}<extra></extra>",
        "hoverongaps": False,
        **({"texttemplate": "%{z:.2f}"} if numbers else {}),
    }


def _spaced(names: Sequence[str], width: int) -> list[str]:
    """One block's names, some left out where `width` columns of the longest would touch."""
    needed = max(map(len, names)) * width / _SIGNS_ON_A_PHONE
    every = next((step for step in (1, 2, 5) if step >= needed), 10)
    return [name if at % every == 0 else "" for at, name in enumerate(names, 1)]
