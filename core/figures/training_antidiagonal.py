"""How much of its attention each layer puts on the anti-diagonal, while a run trains.

In: shares by step and layer. Out: a Vega-Lite chart that redraws in place.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from core.figures.palette import CATEGORICAL
from core.figures.training_live import LiveChart
from core.figures.training_marks import PERCENT, step_axis
from core.written import percent


def antidiagonal_chart(
    steps: Int[np.ndarray, " n"],
    shares: Float[np.ndarray, "n layers"],
    *,
    last: int,
    published: float,
    height: int = 200,
) -> LiveChart:
    """Anti-diagonal average of each layer by step, and the published one as a line."""
    spec = {
        "height": height,
        "layer": [_lines(last), _names(last), _published_line(published)],
    }
    words = f"The published average of the last layer is {percent(published)}."
    if len(steps):
        words = f"Last layer {percent(shares[-1, -1])} at step {steps[-1]:,}. {words}"
    return LiveChart(spec, _columns(steps, shares), words)


def _columns(
    steps: Int[np.ndarray, " n"], shares: Float[np.ndarray, "n layers"]
) -> dict[str, list[Any]]:
    names = [f"layer {at + 1}" for at in range(shares.shape[1] if len(steps) else 0)]
    # Named at its end: a legend would take a third of so small a chart.
    ends = [None] * (len(names) * (len(steps) - 1)) + names
    return {
        "step": np.repeat(steps, len(names)).tolist(),
        "layer": names * len(steps),
        "share": shares.ravel().tolist(),
        "name": ends,
    }


def _lines(last: int) -> dict[str, Any]:
    return {
        "mark": {"type": "line", "point": True, "tooltip": True},
        "encoding": {**_share_by_step(last), "strokeDash": _by_layer(dashes=True)},
    }


def _names(last: int) -> dict[str, Any]:
    return {
        "mark": {
            "type": "text",
            "align": "right",
            # In turn above and below, as lines that end together would hide their names.
            "dy": {"expr": "+slice(datum.layer, -1) % 2 ? -10 : 14"},
            "fontWeight": "bold",
        },
        "transform": [{"filter": "datum.name !== null"}],
        "encoding": {**_share_by_step(last), "text": {"field": "name"}},
    }


def _published_line(share: float) -> dict[str, Any]:
    mark = {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": "gray"}
    return {
        "data": {"values": [{}]},
        "mark": {**mark, "aria": False},
        "encoding": {"y": {"datum": share}},
    }


def _share_by_step(last: int) -> dict[str, object]:
    return {
        "x": step_axis(last, ticks=4),
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "Anti-diagonal",
            "scale": {"domain": [0, 1]},
            "axis": {"labelExpr": PERCENT, "tickCount": 3},
        },
        "color": _by_layer(dashes=False),
    }


def _by_layer(*, dashes: bool) -> dict[str, object]:
    scale = {} if dashes else {"scale": {"range": list(CATEGORICAL)}}
    return {"field": "layer", "type": "nominal", "legend": None, **scale}
