"""The letters around a grid of cells as traces of text, in place of axes.

In: places and texts. Out: dictionaries for `palette.draw`. A trace of text takes the browser a
fifth of the time of axis labels, which Plotly measures one by one.
"""

from collections.abc import Sequence

UNSEEN_AXIS = {"visible": False, "fixedrange": True}
_ALL_LABELS_UP_TO = 16


def words(
    x: Sequence[int | float],
    y: Sequence[int | float],
    texts: Sequence[str],
    position: str,
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


def written(length: int) -> list[int]:
    """Which of so many labels to write, so that they do not run into each other."""
    every = 1 if length <= _ALL_LABELS_UP_TO else 5 if length <= 30 else 10
    return [i for i in range(length) if (i + 1) % every == 0]
