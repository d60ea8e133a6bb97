"""A mask as a grid: who may look at whom.

In: a boolean array and the letters along both sides. Out: a Plotly figure.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from core.figures.palette import BLUE, base_layout, draw
from core.figures.toy_words import around

_BLOCKED = "rgba(138,143,152,0.25)"


def mask_grid(
    mask: Bool[np.ndarray, "L L"], names: Sequence[str], labels: Sequence[str], title: str
) -> go.Figure:
    """A dot means: this query (row) may attend to this key (column).

    The pointer shows `names`; `labels` stand along both sides.
    """
    grid = {
        "type": "heatmap",
        "z": mask.astype(int),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, _BLOCKED], [1, BLUE]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": _words(mask, names),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    sides, axes = around(labels, labels, 11 if len(labels) <= 24 else 8)
    layout = base_layout(
        height=min(640, 90 + 19 * len(names)),
        title=title,
        margin={"l": 24, "r": 8, "t": 44, "b": 24},
        shapes=[_dots(mask)],
        **axes,
    )
    return draw([grid, *sides], layout)


def _dots(mask: Bool[np.ndarray, "L L"]) -> dict[str, object]:
    """A white mark on every allowed pair, all in one path: one by one they take far longer."""
    marks = [f"M{x - 0.1:g},{y}H{x + 0.1:g}" for y, x in np.argwhere(mask).tolist()]
    return {"type": "path", "path": "".join(marks), "line": {"color": "#ffffff", "width": 4}}


def _words(mask: Bool[np.ndarray, "L L"], names: Sequence[str]) -> list[list[str]]:
    return [
        [
            f"{query} {'may' if allowed else 'may not'} look at {key}"
            for key, allowed in zip(names, row, strict=True)
        ]
        for query, row in zip(names, mask.tolist(), strict=True)
    ]
