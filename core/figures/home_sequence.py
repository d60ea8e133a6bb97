"""The sequence as tiles: letters, four rows of chemistry, two waves of position."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, DIVERGING, ORANGE, base_layout, draw

_ROWS = ("hydropathy", "charge", "polar", "aromatic")
_QUIET = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
_WAVES = ((4, "fast, sine", BLUE, "solid"), (6, "slow, sine", ORANGE, "dash"))


def sequence_tiles(letters: str, vectors: Float[np.ndarray, "L 8"]) -> go.Figure:
    """Chemistry (first four columns of `vectors`) as a heat map, the two sine waves below.

    The names of the rows stand above them, so that on a telephone the tiles have all the width.
    """
    names = [f"{letter}{i}" for i, letter in enumerate(letters, 1)]
    places = list(range(1, len(letters) + 1))
    waves = [
        _wave(names, places, vectors[:, column], name, colour, dash)
        for column, name, colour, dash in _WAVES
    ]
    layout = base_layout(
        height=370,
        margin={"l": 4, "r": 4, "t": 36, "b": 8},
        xaxis=_QUIET | {"side": "top", "anchor": "y", **_letters(letters, places)},
        xaxis2={**_QUIET, "anchor": "y2", "matches": "x", "showticklabels": False},
        yaxis={**_QUIET, "domain": [0.34, 1], "range": [3.4, -0.8], "showticklabels": False},
        yaxis2={**_QUIET, "domain": [0, 0.27], "anchor": "x2", "range": [-1.25, 1.25]}
        | {"showticklabels": False},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0.5, "xanchor": "center"},
        annotations=[*(_name(row, text) for row, text in enumerate(_ROWS)), _waves_name()],
    )
    return draw([_tiles(names, places, vectors[:, :4].T), *waves], layout)


def _letters(letters: str, places: list[int]) -> dict[str, Any]:
    ticks = {"tickvals": places, "ticktext": list(letters)}
    return ticks | {"tickangle": 0, "tickfont": {"size": 20}}


def _name(row: int, text: str) -> dict[str, Any]:
    place = {"xref": "paper", "x": 0, "xanchor": "left", "y": row - 0.5, "yanchor": "middle"}
    return {"text": text, "showarrow": False, "font": {"size": 12}, **place}


def _waves_name() -> dict[str, Any]:
    return _name(0, "position") | {"yref": "paper", "y": 0.3}


def _tiles(
    names: list[str], places: list[int], chemistry: Float[np.ndarray, "4 L"]
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": np.where(chemistry == 0, np.nan, chemistry),
        "x": places,
        "y": [0, 1, 2, 3],
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "reversescale": True,
        "showscale": False,
        "xgap": 2,
        "ygap": 20,
        "hoverongaps": False,
        "customdata": [[f"{name}, {row}" for name in names] for row in _ROWS],
        "hovertemplate": "%{customdata}: %{z:.2f}<extra></extra>",
        "text": _written(chemistry),
        "texttemplate": "%{text}",
        "textfont": {"size": 12},
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
    """One decimal, which fits a narrow tile; zeros stay blank, as do their tiles."""
    return [["" if v == 0 else f"{v:+.1f}".removesuffix(".0") for v in row] for row in values]
