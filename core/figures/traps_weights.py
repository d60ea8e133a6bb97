"""Where the weights sit: one bar per model, split by role, in per cent of its parameters."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, finish

_COLOURS = (BLUE, ORANGE, GREY, GREEN, PURPLE)


def weight_shares(models: Sequence[str], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Horizontal bars, one per model; `counts` maps each role to one count per model."""
    totals = [sum(values) for values in zip(*counts.values(), strict=True)]
    figure = go.Figure()
    for (role, values), colour in zip(counts.items(), _COLOURS, strict=False):
        shares = [100 * value / total for value, total in zip(values, totals, strict=True)]
        figure.add_bar(
            name=role,
            y=list(models),
            x=shares,
            orientation="h",
            marker_color=colour,
            customdata=list(values),
            text=[f"{share:.0f} %" if share >= 4 else "" for share in shares],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate=role + " of %{y}: %{customdata:,} (%{x:.1f} %)<extra></extra>",
        )
    figure.update_layout(
        barmode="stack",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title_text="Per cent of all parameters", range=[0, 100])
    finish(figure, height=90 + 58 * len(models))
    return figure.update_layout(margin_t=40)
