"""Softmax with and without the division by sqrt(d_k): one draw, and many.

In: weights, or the largest weight of each draw. Out: Plotly figures.
"""

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, VERMILION, base_layout, draw

_BINS = 40
_NAMES = ("raw scores", "divided by √d_k")
_LEGEND = {"orientation": "h", "y": 1.15}
_AXIS = {"fixedrange": True, "gridcolor": "rgba(138,143,152,0.3)", "zeroline": False}
_MARGIN = {"l": 48, "r": 22, "t": 12, "b": 44}


def draw_bars(unscaled: np.ndarray, scaled: np.ndarray) -> go.Figure:
    """The weights of one draw, key by key, both ways."""
    keys = list(range(1, len(unscaled) + 1))
    data = _bars(keys, [np.round(y, 5) for y in (unscaled, scaled)])
    layout = base_layout(
        height=300,
        margin=_MARGIN,
        legend=_LEGEND,
        xaxis={"title": {"text": "key"}, "dtick": 2, "tick0": 1, "showgrid": False, **_AXIS},
        yaxis={"range": [0, 1], "tickformat": ".0%", **_AXIS},
    )
    return draw(data, layout)


def top_weight_histogram(unscaled: np.ndarray, scaled: np.ndarray) -> go.Figure:
    """How often the largest weight falls where; counted here, so the picture stays small."""
    edges = np.linspace(0, 1, _BINS + 1)
    middles = (edges[:-1] + 0.5 / _BINS).tolist()
    counts = [np.histogram(values, edges)[0] for values in (unscaled, scaled)]
    data = [bars | {"opacity": 0.75} for bars in _bars(middles, counts)]
    layout = base_layout(
        height=300,
        margin=_MARGIN,
        barmode="overlay",
        bargap=0,
        legend=_LEGEND,
        xaxis={
            "title": {"text": "largest weight of a draw"},
            "tickformat": ".0%",
            "range": [0, 1],
            "showgrid": False,
            **_AXIS,
        },
        yaxis={"title": {"text": "draws"}, **_AXIS},
    )
    return draw(data, layout)


def _bars(x: list, heights: list[np.ndarray]) -> list[dict[str, object]]:
    """The same bars without and with the division."""
    return [
        {"type": "bar", "name": name, "x": x, "y": y.tolist(), "marker": {"color": colour}}
        for name, y, colour in zip(_NAMES, heights, (VERMILION, BLUE), strict=True)
    ]
