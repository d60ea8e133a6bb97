"""Where a residue can come from against how well it is guessed, and one letter at four places.

In: numbers and labels. Out: Plotly figures. Knows no model.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from core.figures.palette import CATEGORICAL, GREEN, GREY, SKY, VERMILION, finish

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "star")


def origin_plot(
    groups: Sequence[tuple[str, Sequence[str], Float[np.ndarray, " _"]]],
) -> go.Figure:
    """One column of labelled points per group (name, residue labels, p(true)) and its mean."""
    figure = go.Figure()
    looks = ((SKY, "circle"), (VERMILION, "diamond"), (GREEN, "square"), (SKY, "x"))
    for column, ((name, labels, values), look) in enumerate(zip(groups, looks, strict=False)):
        figure.add_scatter(
            **_points(labels, values, look), x=column + _spread(len(values)), name=name
        )
        mean = float(np.mean(values))
        ends = {"x0": column - 0.38, "x1": column + 0.38, "y0": mean, "y1": mean}
        figure.add_shape(type="line", **ends, line={"width": 3, "color": GREY})
    figure.update_xaxes(
        tickvals=list(range(len(groups))),
        ticktext=[f"{name}<br>{len(values)} residues" for name, _, values in groups],
        range=[-0.5, len(groups) - 0.4],
    )
    figure.update_yaxes(title="p(true residue)", range=[-0.05, 1.08])
    return finish(figure, height=380)


def _points(
    labels: Sequence[str], values: Float[np.ndarray, " _"], look: tuple[str, str]
) -> dict[str, object]:
    colour, symbol = look
    return {
        "y": values,
        "mode": "markers+text",
        "text": [label if len(values) <= 16 else "" for label in labels],
        # In turn above and below: on a phone neighbours stand closer than a name is wide.
        "textposition": [("top center", "bottom center")[at % 2] for at in range(len(values))],
        "customdata": list(labels),
        "marker": {"color": colour, "symbol": symbol, "size": 11, "line": {"width": 1}},
        "hovertemplate": "%{customdata}: p = %{y:.3f}<extra></extra>",
        "showlegend": False,
    }


def similarity_by_layer(
    pairs: Sequence[str], cosines: Float[np.ndarray, "layers pairs"]
) -> go.Figure:
    """Cosine similarity of each pair of places, from layer 0 (going in) to the last."""
    figure = go.Figure()
    for i, pair in enumerate(pairs):
        colour = CATEGORICAL[i % len(CATEGORICAL)]
        figure.add_scatter(
            x=list(range(len(cosines))),
            y=cosines[:, i],
            name=pair,
            mode="lines+markers",
            line={"color": colour, "dash": _DASHES[i % len(_DASHES)], "width": 2},
            marker={"color": colour, "symbol": _SYMBOLS[i % len(_SYMBOLS)], "size": 9},
            hovertemplate="layer %{x}: %{y:.3f}<extra>" + pair + "</extra>",
        )
    figure.update_xaxes(title="layer (0 = going in)", dtick=1 if len(cosines) < 20 else 5)
    figure.update_yaxes(title="cosine similarity", range=[min(0, float(cosines.min())), 1.05])
    figure.update_layout(legend={"orientation": "h", "y": -0.22, "yanchor": "top"})
    return finish(figure, height=400)


def roc_curve(
    false_rate: Float[np.ndarray, " t"],
    true_rate: Float[np.ndarray, " t"],
    area: float,
) -> go.Figure:
    """Receiver operating characteristic, with the diagonal that chance gives."""
    figure = go.Figure()
    figure.add_scatter(
        x=false_rate,
        y=true_rate,
        mode="lines",
        name=f"cross-validated, area {area:.3f}",
        line={"color": CATEGORICAL[0], "width": 3},
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="chance", line={"dash": "dash", "color": GREY}
    )
    figure.update_xaxes(title="false positives / all negatives", range=[0, 1])
    figure.update_yaxes(title="true positives / all positives", range=[0, 1.02])
    figure.update_layout(legend={"orientation": "h", "y": -0.24, "yanchor": "top"})
    return finish(figure, height=360)


def confusion_map(labels: Sequence[str], counts: Integer[np.ndarray, "k k"]) -> go.Figure:
    """Counts, true class in rows, predicted in columns, every count written in its cell."""
    figure = go.Figure(
        go.Heatmap(
            x=[f"says {label}" for label in labels],
            y=[f"is {label}" for label in labels],
            z=counts,
            text=counts,
            texttemplate="%{text}",
            textfont={"size": 18},
            colorscale=[[0, "#f3f6f9"], [1, "#56b4e9"]],
            showscale=False,
            hovertemplate="%{y}, %{x}: %{z}<extra></extra>",
        )
    )
    figure.update_traces(textfont={"color": "#10151c"})
    figure.update_yaxes(autorange="reversed")
    return finish(figure, height=320)


def _spread(n: int) -> np.ndarray:
    """Fixed horizontal offsets so that equal values do not hide each other."""
    return (np.arange(n) + 0.5) / n * 0.76 - 0.42 if n > 1 else np.zeros(n)
