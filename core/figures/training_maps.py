"""Cross-attention while a run trains: all layers and heads side by side, and one from near.

In: weights (layers, h, n_query, n_key) and letters. Out: Vega-Lite charts that redraw in place.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from core.figures.training_live import LiveChart
from core.written import percent


def all_heads(
    weights: Float[np.ndarray, "layers h n_query n_key"],
    antidiagonal: Sequence[float],
    *,
    row_height: int = 150,
) -> LiveChart:
    """Every map as one tile: layers downwards, heads to the right, bright = much weight.

    One chart and not one per head: a browser redraws it in one go, and it shrinks to a phone.
    """
    layers, heads, n_query, n_key = weights.shape
    # Names are axis labels, because those take the colour of the page's theme.
    spec = {
        "height": row_height * layers,
        "encoding": {
            "x": _tile_axis("x", heads, n_key, "head"),
            "y": {**_tile_axis("y", layers, n_query, "layer"), "sort": "descending"},
        },
        "layer": [_tiles()],
    }
    words = "; ".join(
        f"layer {at} puts {percent(share)} on the anti-diagonal"
        for at, share in enumerate(antidiagonal, 1)
    )
    alt = f"Cross-attention maps of {layers} layers and {heads} heads: {words}."
    return LiveChart(spec, _cells(weights), alt)


def _cells(weights: Float[np.ndarray, "layers h n_query n_key"]) -> dict[str, list[Any]]:
    """One row per weight: where its tile's cell lies, and what a tooltip says of it."""
    _, _, n_query, n_key = weights.shape
    layer, head, query, key = (axis.ravel() for axis in np.indices(weights.shape))
    return {
        "x": (head * (n_key + 1) + key).tolist(),
        "y": (layer * (n_query + 1) + query).tolist(),
        "layer": (layer + 1).tolist(),
        "head": (head + 1).tolist(),
        "writes": (query + 1).tolist(),
        "reads": (key + 1).tolist(),
        "weight": np.round(weights.astype(float), 3).ravel().tolist(),
    }


def one_head(
    weights: Float[np.ndarray, "n_query n_key"],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    name: str,
    height: int = 380,
) -> LiveChart:
    """One map with its letters: a row per letter the decoder has read, a column per source."""
    query, key = (axis.ravel() for axis in np.indices(weights.shape))
    row_labels = [f"{at} {letter}" for at, letter in enumerate(rows)]
    column_labels = [f"{letter} {at}" for at, letter in enumerate(columns, 1)]
    data = {
        "having read": [row_labels[i] for i in query],
        "looks at": [column_labels[j] for j in key],
        "weight": np.round(weights.astype(float), 3).ravel().tolist(),
    }
    spec = {
        "height": height,
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": _letters("looks at", column_labels),
            "y": _letters("having read", row_labels),
            "color": _weight_colour(legend=True),
        },
    }
    i, j = np.unravel_index(int(np.argmax(weights)), weights.shape)
    words = f"Cross-attention of {name}: the largest weight is {weights[i, j]:.2f}, "
    return LiveChart(spec, data, f"{words}from {row_labels[i]} to {column_labels[j]}.")


def _tiles() -> dict[str, object]:
    return {
        "mark": {"type": "rect", "aria": False},  # the whole chart is described in words instead
        "encoding": {
            "x2": {"field": "x_end"},
            "y2": {"field": "y_end"},
            "color": _weight_colour(legend=False),
            "tooltip": [
                {"field": name, "type": "quantitative"}
                for name in ("layer", "head", "writes", "reads", "weight")
            ],
        },
        "transform": [
            {"calculate": "datum.x + 1", "as": "x_end"},
            {"calculate": "datum.y + 1", "as": "y_end"},
        ],
    }


def _tile_axis(field: str, tiles: int, size: int, name: str) -> dict[str, object]:
    """An axis whose only labels stand at the middle of each tile."""
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0, tiles * (size + 1) - 1], "nice": False, "zero": False},
        "axis": {
            "values": [at * (size + 1) + size / 2 for at in range(tiles)],
            "labelExpr": f"'{name} ' + (floor(datum.value / {size + 1}) + 1)",
            "title": None,
            "ticks": False,
            "grid": False,
            "domain": False,
            "orient": "top" if field == "x" else "left",
            "labelAngle": 0 if field == "x" else -90,
            "labelAlign": "center",
        },
    }


def _letters(field: str, labels: list[str]) -> dict[str, object]:
    return {
        "field": field,
        "type": "nominal",
        "sort": labels,
        "title": field,
        "axis": {"labelAngle": 0, "ticks": False},
    }


def _weight_colour(*, legend: bool) -> dict[str, object]:
    return {
        "field": "weight",
        "type": "quantitative",
        "scale": {"scheme": "cividis", "domain": [0, 1]},
        "legend": {"title": "weight", "orient": "bottom"} if legend else None,
    }
