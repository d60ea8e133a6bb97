"""The candidates of one decoding step.

In: labels and scores. Out: a Plotly figure.
"""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.figures.palette import BLUE, GREY, base_layout, draw
from core.written import percent, typeset

_TICKS = (0, 0.5, 1)


def candidate_bars(
    labels: Sequence[str],
    probabilities: Sequence[float],
    scores: Sequence[float],
    kept: Sequence[bool],
) -> go.Figure:
    """Probability of each continuation, best score on top; a tick marks those that were kept."""
    bars = _bars(labels, probabilities, scores, [BLUE if keep else GREY for keep in kept])
    ticks = [f"{'✓ ' if keep else ''}{label}" for label, keep in zip(labels, kept, strict=True)]
    along = {"title": {"text": "probability of the last letter"}, "range": [0, 1]}
    room = 12 + 9 * max(map(len, ticks))  # pixels that the labels take
    layout = base_layout(
        height=80 + 30 * len(labels),
        margin={"l": room, "r": 22, "t": 12, "b": 64},
        yaxis={"tickvals": bars["y"], "ticktext": ticks, "autorange": "reversed"},
        xaxis=along | {"tickvals": _TICKS, "ticktext": [percent(tick) for tick in _TICKS]},
    )
    return draw([bars], layout)


def _bars(
    labels: Sequence[str],
    probabilities: Sequence[float],
    scores: Sequence[float],
    colours: Sequence[str],
) -> dict[str, object]:
    return {
        "type": "bar",
        "x": list(probabilities),
        "y": list(range(len(labels))),
        "orientation": "h",
        "marker": {"color": list(colours)},
        "text": [percent(p, 1) for p in probabilities],
        "textposition": "auto",
        "hovertext": [
            f"{label}: {percent(p, 2)}, score {typeset(score, '.3f')}"
            for label, p, score in zip(labels, probabilities, scores, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
