"""Where the weights sit: one bar per model, split by role, in per cent of its parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, base_layout, draw
from core.written import percent

_COLOURS = (BLUE, ORANGE, GREY, GREEN, PURPLE)


def weight_shares(models: Sequence[str], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Horizontal bars, one per model; `counts` maps each role to one count per model."""
    totals = [sum(values) for values in zip(*counts.values(), strict=True)]
    bars = [
        _bars(models, role, values, totals, colour)
        for (role, values), colour in zip(counts.items(), _COLOURS, strict=False)
    ]
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
    layout = base_layout(
        height=90 + 58 * len(models),
        margin={"l": 172, "r": 22, "t": 48, "b": 64},
        barmode="stack",
        legend=legend,
        xaxis={"title": {"text": "Per cent of all parameters"}, "range": [0, 100]},
        yaxis={"autorange": "reversed"},
    )
    return draw(bars, layout)


def _bars(
    models: Sequence[str], role: str, values: Sequence[int], totals: Sequence[int], colour: str
) -> dict[str, Any]:
    shares = [100 * value / total for value, total in zip(values, totals, strict=True)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": role,
        "x": shares,
        "y": list(models),
        "marker": {"color": colour},
        "customdata": list(values),
        "text": [percent(share / 100) if share >= 4 else "" for share in shares],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hovertemplate": role + " of %{y}: %{customdata:,} (%{x:.1f}\u00a0%)<extra></extra>",
    }
