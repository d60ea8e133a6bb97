"""The letters around a grid of cells as traces of text, in place of axes.

In: places and texts. Out: dictionaries for `palette.draw`. A trace of text takes the browser a
fifth of the time of axis labels, which Plotly measures one by one.
"""

from collections.abc import Sequence
from typing import Any

UNSEEN_AXIS = {"visible": False, "fixedrange": True}
_ALL_LABELS_UP_TO = 16


def words(
    x: Sequence[int | float | str],
    y: Sequence[int | float],
    texts: Sequence[str],
    position: str | list[str],
    size: int = 12,
) -> dict[str, object]:
    """Texts at places on the axes, `position` saying on which side; outside the plot too."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": list(x),
        "y": list(y),
        "text": list(texts),
        "textposition": position,
        "textfont": {"size": size},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
        # With a colour for selected text, which there never is, a click does not dim the rest.
        "selected": {"textfont": {"color": "#000"}},
    }


def around(
    rows: Sequence[str], columns: Sequence[str], size: int = 12
) -> tuple[list[dict[str, object]], dict[str, Any]]:
    """A grid's letters, left of every row and below every column, and its axes without labels.

    Row 0 is on top.
    """
    high, wide = len(rows), len(columns)
    # The space keeps them off the cells: a point beside the axes would not be drawn.
    spaced = [f"{name}\N{NO-BREAK SPACE}" for name in rows]
    left = words([-0.5] * high, range(high), spaced, "middle left", size)
    below = words(range(wide), [high - 0.5] * wide, columns, "bottom center", size)
    axes = {
        "xaxis": {"range": [-0.5, wide - 0.5], **UNSEEN_AXIS},
        "yaxis": {"range": [high - 0.5, -0.5], **UNSEEN_AXIS},
    }
    return [left, below], axes


def written(length: int) -> list[int]:
    """Which of so many labels to write, so that they do not run into each other."""
    every = 1 if length <= _ALL_LABELS_UP_TO else 5 if length <= 30 else 10
    return [i for i in range(length) if (i + 1) % every == 0]
