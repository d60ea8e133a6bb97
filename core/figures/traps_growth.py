"""Lines against length on logarithmic axes: influence that fades, cost that grows."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.palette import BLUE, CATEGORICAL, GREY, ORANGE, finish

_SYMBOLS = ("circle", "square", "diamond", "star", "cross")
# Below this the share is shown at the floor: the axis would otherwise span 60 powers of ten.
SMALLEST_SHARE = 1e-12


def fading(lengths: Sequence[int], shares: Mapping[str, Sequence[float]]) -> go.Figure:
    """First letter's share of all influence on the last output, one line per network.

    Shares are 0 to 1; the dashed line is an equal share for every letter, 1 / length.
    """
    figure = go.Figure()
    figure.add_scatter(
        name="An equal share, 1 / length",
        x=list(lengths),
        y=[1 / length for length in lengths],
        mode="lines",
        line={"color": GREY, "dash": "dash"},
        hoverinfo="skip",
    )
    for i, (name, values) in enumerate(shares.items()):
        figure.add_scatter(
            name=name,
            x=list(lengths),
            y=[max(value, SMALLEST_SHARE) for value in values],
            customdata=list(values),
            mode="lines+markers",
            line={"color": CATEGORICAL[i], "width": 3},
            marker={"symbol": _SYMBOLS[i], "size": 10},
            hovertemplate=name + ", %{x} letters: %{customdata:.2e}<extra></extra>",
        )
    figure.update_xaxes(type="log", title_text="Length of the sequence", tickvals=list(lengths))
    figure.update_yaxes(
        type="log", title_text="Share of the first letter", exponentformat="power", dtick=2
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    finish(figure, height=340)
    return figure.update_layout(margin_t=60)


def cost(
    lengths: Sequence[int],
    seconds: Sequence[float],
    megabytes: Sequence[float],
    curve_lengths: Sequence[float],
    curve_seconds: Sequence[float],
) -> go.Figure:
    """Measured time and memory against length, each beside an exact quadratic."""
    figure = make_subplots(rows=1, cols=2, subplot_titles=("Time (ms)", "Memory (MB)"))
    longest = len(lengths) - 1
    curve_megabytes = [
        megabytes[longest] * (length / lengths[longest]) ** 2 for length in curve_lengths
    ]
    measured = ([1000 * s for s in seconds], list(megabytes))
    drawn = ([1000 * s for s in curve_seconds], curve_megabytes)
    for column, (points, curve, colour) in enumerate(
        zip(measured, drawn, (BLUE, ORANGE), strict=True), 1
    ):
        figure.add_scatter(
            name="Exactly quadratic",
            x=list(curve_lengths),
            y=curve,
            mode="lines",
            line={"color": GREY, "dash": "dash"},
            showlegend=column == 1,
            hoverinfo="skip",
            row=1,
            col=column,
        )
        figure.add_scatter(
            name="Measured here",
            x=list(lengths),
            y=points,
            mode="markers+lines",
            line={"color": colour, "width": 3},
            marker={"size": 11},
            showlegend=column == 1,
            hovertemplate="%{x} letters: %{y:.3g}<extra></extra>",
            row=1,
            col=column,
        )
    figure.update_xaxes(type="log", title_text="Length of the sequence", tickvals=list(lengths))
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    figure.update_layout(legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0})
    finish(figure, height=340)
    return figure.update_layout(margin_t=80)
