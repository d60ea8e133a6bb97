"""One hidden residue as 20 probability bars, and p(true) of a stretch from several sources.

In: letters, probabilities, the true letter. Out: a Plotly figure. Knows no model.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, GREY, ORANGE, VERMILION, base_layout, draw, finish


def probability_bars(
    letters: Sequence[str],
    probabilities: Float[np.ndarray, " V"],
    true_letter: str | None,
    *,
    voted: str | None = None,
    reference: tuple[str, Float[np.ndarray, " V"]] | None = None,
) -> go.Figure:
    """The distribution over `letters`, largest first.

    The true letter is hatched, outlined and named in text as well as coloured; a voted letter
    is named too. `reference` (name, probabilities) adds a second distribution as diamonds.
    `true_letter` None marks nothing.
    """
    order = sorted(range(len(letters)), key=lambda i: -float(probabilities[i]))
    names, values = [letters[i] for i in order], [float(probabilities[i]) for i in order]
    drawn, largest = [_bars(names, values, true_letter)], max(values)
    if reference is not None:
        drawn.append(_diamonds(reference[0], names, [float(reference[1][i]) for i in order]))
        largest = max(largest, float(reference[1].max()))
    ticks = [_tick(n, v, true_letter, voted) for n, v in zip(names, values, strict=True)]
    down = {"type": "category", "tickvals": names, "ticktext": ticks, "tickfont": {"size": 13}}
    layout = base_layout(
        height=410 if reference is None else 430,
        xaxis={"title": {"text": "probability"}, "range": [0, largest * 1.04], "nticks": 6},
        yaxis={**down, "autorange": "reversed", "showgrid": False},
        bargap=0.25,
        legend={"orientation": "h", "y": 1.08, "x": 0},
        margin={"l": 92, "r": 8, "t": 12 if reference is None else 36, "b": 64},
    )
    return draw(drawn, layout)


def _bars(names: list[str], values: list[float], true_letter: str | None) -> dict[str, object]:
    true = [name == true_letter for name in names]
    return {
        "type": "bar",
        "y": names,
        "x": values,
        "orientation": "h",
        "marker": {
            "color": [VERMILION if t else BLUE for t in true],
            "pattern": {"shape": ["/" if t else "" for t in true], "fgcolor": "white"},
            "line": {"color": VERMILION, "width": [2 if t else 0 for t in true]},
        },
        "showlegend": False,
        "hovertemplate": "%{y}: p = %{x:.4f}<extra></extra>",
    }


def yardstick(
    labels: Sequence[str],
    series: Sequence[tuple[str, Float[np.ndarray, " L"]]],
    true_columns: Sequence[bool] | None = None,
) -> go.Figure:
    """p(true residue) along a stretch for several sources, each with its own symbol.

    `true_columns` True marks the columns that only the junction can explain.
    """
    figure = go.Figure()
    looks = ((BLUE, "circle", "solid"), (ORANGE, "diamond", "dash"), (GREY, "square", "dot"))
    for (name, values), (colour, symbol, dash) in zip(series, looks, strict=False):
        figure.add_scatter(
            x=list(labels),
            y=values,
            name=name,
            mode="lines+markers",
            marker={"color": colour, "symbol": symbol, "size": 11},
            line={"color": colour, "dash": dash, "width": 2},
            hovertemplate=f"%{{x}}: p = %{{y:.3f}}<extra>{_plain(name)}</extra>",
        )
    for column, marked in enumerate(true_columns or ()):
        if marked:
            ends = {"x0": column - 0.5, "x1": column + 0.5}
            figure.add_vrect(**ends, fillcolor=GREY, opacity=0.2, line_width=0)
    figure.update_layout(legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    figure.update_yaxes(title="p(true residue)", range=[-0.03, 1.05])
    figure.update_xaxes(type="category", tickfont={"size": 15}, tickangle=0)
    return finish(figure, height=380)


def _diamonds(name: str, letters: list[str], values: list[float]) -> dict[str, object]:
    return {
        "type": "scatter",
        "y": letters,
        "x": values,
        "name": name,
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 10, "color": ORANGE, "line": {"width": 1}},
        "hovertemplate": "%{y}: p = %{x:.4f}<extra>" + _plain(name) + "</extra>",
        "showlegend": True,
    }


def _tick(name: str, value: float, true_letter: str | None, voted: str | None) -> str:
    """The letter and its number, with what else is to be said of it, at the foot of its bar."""
    words = ["true"] if name == true_letter else []
    words += ["vote"] if name == voted else []
    text = " ".join([*words, name, f"{value:.3f}"])
    return f"<b>{text}</b>" if words else text


def _plain(text: str) -> str:
    """Plotly reads a small set of tags in hover text; names are shown as typed."""
    return text.replace("<", "&lt;").replace(">", "&gt;")
