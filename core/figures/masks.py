"""A mask as a grid: who may look at whom.

In: a boolean array and the letters along both sides. Out: a Plotly figure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from core.figures.palette import BLUE, base_layout, draw
from core.figures.toy_words import around

_BLOCKED = "rgba(138,143,152,0.25)"


def mask_grid(
    mask: Bool[np.ndarray, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    short: Mapping[str, str] | None = None,
) -> go.Figure:
    """A dot means: this query (row) may attend to this key (column).

    `short` replaces names that are too long for an axis; the pointer shows them in full.
    """
    short = short or {}
    grid = {
        "type": "heatmap",
        "z": mask.astype(int),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, _BLOCKED], [1, BLUE]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": _words(mask, queries, keys),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    y, x = np.nonzero(mask)
    # Marks, because letters in a heat map take three times as long to draw.
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": {"color": "#ffffff", "size": 4},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    rows, columns = ([short.get(name, name) for name in names] for names in (queries, keys))
    letters, axes = around(rows, columns, 11 if len(keys) <= 24 else 8)
    layout = base_layout(
        height=min(640, 90 + 19 * len(queries)),
        title=title,
        margin={"l": 24, "r": 8, "t": 44, "b": 24},
        **axes,
    )
    return draw([grid, dots, *letters], layout)


def _words(
    mask: Bool[np.ndarray, "n_query n_key"], queries: Sequence[str], keys: Sequence[str]
) -> list[list[str]]:
    return [
        [
            f"{query} (position {row + 1}) {'may' if mask[row, column] else 'may not'} look at "
            f"{key} (position {column + 1})"
            for column, key in enumerate(keys)
        ]
        for row, query in enumerate(queries)
    ]
