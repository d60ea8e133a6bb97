"""The sequence as tiles: letters, four rows of chemistry, two waves of position."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, DIVERGING, ORANGE, finish

_ROWS = ("hydropathy", "charge", "polar", "aromatic")
_WAVES = ((4, "fast, sine", BLUE, "solid"), (6, "slow, sine", ORANGE, "dash"))


def sequence_tiles(letters: str, vectors: Float[np.ndarray, "L 8"]) -> go.Figure:
    """Chemistry (first four columns of `vectors`) as a heat map, the two sine waves below."""
    names = [f"{letter}{i}" for i, letter in enumerate(letters, 1)]
    places = list(range(1, len(letters) + 1))
    waves = [
        _wave(names, places, vectors[:, column], name, colour, dash)
        for column, name, colour, dash in _WAVES
    ]
    quiet = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {
            **quiet,
            "side": "top",
            "anchor": "y",
            "ticks": "",
            "tickvals": places,
            "ticktext": list(letters),
            "tickfont": {"size": 22},
        },
        "xaxis2": {**quiet, "anchor": "y2", "matches": "x", "showticklabels": False},
        "yaxis": {"domain": [0.4, 1], "autorange": "reversed", "ticks": ""},
        "yaxis2": {
            "domain": [0, 0.34],
            "anchor": "x2",
            "range": [-1.25, 1.25],
            "tickvals": [0],
            "ticktext": ["position"],
            "showgrid": False,
        },
        "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0.5, "xanchor": "center"},
    }
    tiles = _tiles(names, places, vectors[:, :4].T)
    figure = go.Figure({"data": [tiles, *waves], "layout": layout})
    finish(figure, height=300)
    return figure.update_layout(margin_t=36)


def _tiles(
    names: list[str], places: list[int], chemistry: Float[np.ndarray, "4 L"]
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": np.where(chemistry == 0, np.nan, chemistry),
        "x": places,
        "y": list(_ROWS),
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "reversescale": True,
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverongaps": False,
        "customdata": np.tile(names, (4, 1)),
        "hovertemplate": "%{customdata}, %{y}: %{z:.2f}<extra></extra>",
        "text": _written(chemistry),
        "texttemplate": "%{text}",
    }


def _wave(
    names: list[str],
    places: list[int],
    heights: Float[np.ndarray, " L"],
    name: str,
    colour: str,
    dash: str,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": places,
        "y": heights,
        "name": name,
        "mode": "lines+markers",
        "line": {"color": colour, "dash": dash, "shape": "spline"},
        "customdata": names,
        "hovertemplate": "%{customdata}: %{y:.2f}<extra>" + name + "</extra>",
        "xaxis": "x2",
        "yaxis": "y2",
    }


def _written(values: Float[np.ndarray, "4 L"]) -> list[list[str]]:
    """Numbers as short text; zeros stay blank, as do their tiles, so that the rest stands out."""
    return [["" if v == 0 else f"{v:+.2f}".rstrip("0").rstrip(".") for v in row] for row in values]
