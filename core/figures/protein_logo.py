"""A sequence logo: at each position the letters stand as tall as their share of information.

Height of a letter = p(letter) * (log2 20 - entropy), in bits (Schneider and Stephens 1990,
without their small-sample correction, since these are a model's probabilities, not counts).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, finish
from core.figures.protein_letters import letter_path

_CHEMISTRY = (
    ("acidic", "DE", VERMILION),
    ("basic", "KRH", BLUE),
    ("polar", "STNQ", GREEN),
    ("cysteine, glycine, proline", "CGP", ORANGE),
    ("hydrophobic", "AVLIM", GREY),
    ("aromatic", "FWY", PURPLE),
)
_SMALLEST = 0.02


def letter_heights(probabilities: Float[np.ndarray, "L V"]) -> Float[np.ndarray, "L V"]:
    """Bits of each letter at each position; a position's heights sum to its information."""
    p = np.clip(probabilities, 1e-12, 1.0)
    information = np.log2(p.shape[1]) + (p * np.log2(p)).sum(axis=1, keepdims=True)
    return p * np.maximum(information, 0.0)


def sequence_logo(
    labels: Sequence[str],
    letters: Sequence[str],
    probabilities: Float[np.ndarray, "L V"],
    true_letters: str,
) -> go.Figure:
    """The logo of a stretch; the true residue of each position is its axis label."""
    heights = letter_heights(probabilities)
    figure = go.Figure()
    shapes = [s for column, row in enumerate(heights) for s in _stack(column, letters, row)]
    figure.update_layout(shapes=shapes, legend={"orientation": "h", "y": -0.16, "yanchor": "top"})
    _hover_columns(figure, labels, letters, probabilities, heights, true_letters)
    for name, members, colour in _CHEMISTRY:
        marker = {"color": colour, "symbol": "square", "size": 11}
        label = f"{name} {members}"
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=label)
    figure.update_yaxes(title="bits", range=[0, np.log2(len(letters)) * 1.02], nticks=6)
    figure.update_xaxes(
        tickvals=list(range(len(labels))), ticktext=list(labels), tickangle=0, showgrid=False
    )
    return finish(figure, height=400)


def _stack(
    column: int, letters: Sequence[str], heights: Float[np.ndarray, " V"]
) -> Iterator[dict[str, object]]:
    """The letters of one position, the lowest first; what is too small to see is left out."""
    bottom = 0.0
    for i in np.argsort(heights):
        if heights[i] >= _SMALLEST:
            top = bottom + float(heights[i])
            yield _letter_shape(letters[i], (column - 0.45, column + 0.45, bottom, top))
            bottom = top


def letter_colour(letter: str) -> str:
    """The chemistry class's colour."""
    return next(colour for _, members, colour in _CHEMISTRY if letter in members)


def _letter_shape(letter: str, box: tuple[float, float, float, float]) -> dict[str, object]:
    return {
        "type": "path",
        "path": letter_path(letter, *box),
        "fillcolor": letter_colour(letter),
        "line": {"width": 0},
        "fillrule": "evenodd",
    }


def _hover_columns(
    figure: go.Figure,
    labels: Sequence[str],
    letters: Sequence[str],
    probabilities: Float[np.ndarray, "L V"],
    heights: Float[np.ndarray, "L V"],
    true_letters: str,
) -> None:
    texts = []
    for label, row, true in zip(labels, probabilities, true_letters, strict=True):
        best = [f"{letters[i]} {row[i]:.3f}" for i in np.argsort(-row)[:4]]
        texts.append(f"{label}: true {true}<br>" + "<br>".join(best))
    figure.add_bar(
        x=list(range(len(labels))),
        y=heights.sum(axis=1),
        width=0.95,
        marker={"color": "rgba(0,0,0,0)"},
        hovertext=texts,
        hoverinfo="text",
        showlegend=False,
    )
