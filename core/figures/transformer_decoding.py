"""The candidates of one decoding step.

In: labels and scores. Out: a Plotly figure.
"""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.figures.palette import BLUE, GREY, finish


def candidate_bars(
    labels: Sequence[str],
    probabilities: Sequence[float],
    scores: Sequence[float],
    kept: Sequence[bool],
) -> go.Figure:
    """Probability of each continuation, best score on top; a tick marks those that were kept."""
    figure = go.Figure(
        go.Bar(
            x=list(probabilities),
            y=list(range(len(labels))),
            orientation="h",
            marker={"color": [BLUE if keep else GREY for keep in kept]},
            text=[f"{p:.1%}" for p in probabilities],
            textposition="auto",
            customdata=list(scores),
            hovertext=list(labels),
            hovertemplate="%{hovertext}: %{x:.2%}, score %{customdata:.3f}<extra></extra>",
        )
    )
    ticks = [f"{'✓ ' if keep else ''}{label}" for label, keep in zip(labels, kept, strict=True)]
    figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=ticks, autorange="reversed")
    figure.update_xaxes(title="probability of the last letter", range=[0, 1], tickformat=".0%")
    return finish(figure, height=80 + 30 * len(labels))
