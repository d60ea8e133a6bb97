"""The sequence as tiles: letters, four rows of chemistry, two waves of position."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from core.figures.palette import BLUE, DIVERGING, ORANGE, finish

_ROWS = ("hydropathy", "charge", "polar", "aromatic")
_WAVES = ("fast, sine", "fast, cosine", "slow, sine", "slow, cosine")


def sequence_tiles(letters: str, vectors: Float[np.ndarray, "L 8"]) -> go.Figure:
    """Chemistry (first four columns of `vectors`) as a heat map, the two sine waves below."""
    names = [f"{letter}{i}" for i, letter in enumerate(letters, 1)]
    places = list(range(1, len(letters) + 1))
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.66, 0.34], vertical_spacing=0.06
    )
    chemistry = vectors[:, :4].T
    figure.add_heatmap(
        z=np.where(chemistry == 0, np.nan, chemistry),
        x=places,
        y=list(_ROWS),
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        reversescale=True,
        showscale=False,
        xgap=3,
        ygap=3,
        hoverongaps=False,
        customdata=np.tile(names, (4, 1)),
        hovertemplate="%{customdata}, %{y}: %{z:.2f}<extra></extra>",
        text=_written(chemistry),
        texttemplate="%{text}",
        row=1,
        col=1,
    )
    for column, colour, dash in ((4, BLUE, "solid"), (6, ORANGE, "dash")):
        figure.add_scatter(
            x=places,
            y=vectors[:, column],
            name=_WAVES[column - 4],
            mode="lines+markers",
            line={"color": colour, "dash": dash, "shape": "spline"},
            customdata=names,
            hovertemplate="%{customdata}: %{y:.2f}<extra>" + _WAVES[column - 4] + "</extra>",
            row=2,
            col=1,
        )
    return _laid_out(figure, places, letters)


def _laid_out(figure: go.Figure, places: Sequence[int], letters: str) -> go.Figure:
    axis = {"tickvals": list(places), "ticktext": list(letters), "tickfont": {"size": 22}}
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    figure.update_xaxes(side="top", showticklabels=True, ticks="", **axis, row=1, col=1)
    figure.update_yaxes(autorange="reversed", ticks="", row=1, col=1)
    figure.update_yaxes(
        range=[-1.25, 1.25], tickvals=[0], ticktext=["position"], showgrid=False, row=2, col=1
    )
    figure.update_layout(
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0.5, "xanchor": "center"}
    )
    finish(figure, height=300)
    return figure.update_layout(margin_t=36)


def _written(values: Float[np.ndarray, "4 L"]) -> list[list[str]]:
    """Numbers as short text; zeros stay blank, as do their tiles, so that the rest stands out."""
    return [["" if v == 0 else f"{v:+.2f}".rstrip("0").rstrip(".") for v in row] for row in values]
