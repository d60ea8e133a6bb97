"""Numbers along a chain: a track per residue with the regions as bands, and the chain itself.

In: residues, one number each, regions. Out: Plotly figures. A region is a tuple
(name, first, last), counted from 1 on the chain, both ends included.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures import palette
from core.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

Region = tuple[str, int, int]
# A region keeps its colours whatever else the chain has: band, and cell under a letter. Cells
# are pale and opaque under dark letters, so that the strip reads the same in light and dark.
_TINTS = {
    "leader": (GREY, "#d9dce0"),
    "V": (SKY, "#cfe6f7"),
    "CDR3": (ORANGE, "#f8dca0"),
    "J": (GREEN, "#b5e2d3"),
}
_OTHER_TINT = (PURPLE, "#ecd0df")
_INK = "#10151c"
_BELOW = {"orientation": "h", "y": -0.24, "yanchor": "top"}
# The bar of buttons would lie on the letters: it stands upright in a free column instead.
_UPRIGHT = {"orientation": "v", "remove": ["zoom", "pan", "zoomIn", "zoomOut", "resetScale"]}
MARGIN = {"l": 68, "r": 8, "t": 32, "b": 64}  # on top for the bands' names


def residue_track(
    residues: str,
    values: Float[np.ndarray, " L"],
    regions: Sequence[Region],
    *,
    what: str,
    hover: Sequence[str],
    chosen: int | None = None,
    low_is_marked_below: float | None = None,
    height: int = 280,
) -> go.Figure:
    """One bar per residue, regions as labelled bands; bar i belongs to chain position i + 1.

    `hover` holds the name of each residue in every numbering in use. Bars under
    `low_is_marked_below` also carry their letter, so that colour is not the only sign.
    """
    limit = -np.inf if low_is_marked_below is None else low_is_marked_below
    bars = {
        **_bars(residues, values, [bool(v < limit) for v in values]),
        "customdata": list(hover),
        "hovertemplate": f"%{{customdata}}<br>{what} %{{y:.4f}}<extra></extra>",
    }
    marked = [] if chosen is None else [chosen]
    return palette.draw(
        [bars], _along_chain(len(residues), regions, what, marked, height) | {"bargap": 0.15}
    )


def _bars(residues: str, values: Float[np.ndarray, " L"], low: list[bool]) -> dict[str, object]:
    return {
        "type": "bar",
        "x": list(range(1, len(residues) + 1)),
        "y": values,
        "marker": {"color": [VERMILION if flag else BLUE for flag in low], "line": {"width": 0}},
        "text": [letter if flag else "" for letter, flag in zip(residues, low, strict=True)],
        "textposition": "outside",
        "textangle": 0,
        "textfont": {"size": 12},
        "cliponaxis": False,
    }


def two_tracks(
    series: Sequence[tuple[str, Float[np.ndarray, " L"]]],
    regions: Sequence[Region],
    *,
    what: str,
    hover: Sequence[str],
    changed: Sequence[int] = (),
) -> go.Figure:
    """Two (or three) tracks over one chain as lines; `changed` positions get a dotted line."""
    looks = ((BLUE, "solid", "circle"), (ORANGE, "dash", "diamond"), (GREY, "dot", "square"))
    lines = [
        {
            "type": "scatter",
            "x": list(range(1, len(values) + 1)),
            "y": values,
            "name": name,
            "mode": "lines+markers",
            "line": {"color": colour, "dash": dash, "width": 1.5},
            "marker": {"color": colour, "symbol": symbol, "size": 6},
            "customdata": list(hover),
            "hovertemplate": "%{customdata}<br>" + what + " %{y:.4f}<extra></extra>",
        }
        for (name, values), (colour, dash, symbol) in zip(series, looks, strict=False)
    ]
    layout = _along_chain(len(series[0][1]), regions, what, changed, 360)
    return palette.draw(lines, layout | {"legend": _BELOW})


def _along_chain(
    length: int, regions: Sequence[Region], what: str, marked: Sequence[int], height: int
) -> dict[str, object]:
    """The layout of a track: bands behind, a dotted line at each marked position."""
    shapes, names = bands(regions)
    dotted = {"type": "line", "y0": 0, "y1": 1, "yref": "y domain"}
    dotted["line"] = {"color": VERMILION, "dash": "dot", "width": 2}
    return palette.base_layout(
        height=height,
        shapes=[*({**dotted, "x0": at, "x1": at} for at in marked), *shapes],
        annotations=names,
        xaxis={"title": {"text": "position on the chain"}, "range": [0, length + 1]},
        yaxis={"title": {"text": what}, "rangemode": "tozero", "nticks": 5},
        margin=MARGIN,
    )


def chain_strip(
    residues: str,
    regions: Sequence[Region],
    hover: Sequence[str],
    *,
    hidden: int | None = None,
    per_row: int = 30,
) -> go.Figure:
    """The chain as rows of letters on region colours; each has an unseen square, to be framed.

    The residue at `hidden` is written as `?`. Each mark's `customdata[1]` is its chain
    position, for clicks; each row begins with the number of its first residue.
    """
    rows = -(-len(residues) // per_row)
    numbers = [
        {"x": -0.8, "y": -i, "text": f"{i * per_row + 1}", "xanchor": "right", "showarrow": False}
        for i in range(rows)
    ]
    layout = palette.base_layout(
        clickable=True,
        height=28 * rows + 6,
        shapes=_strip_shapes(regions, per_row),
        annotations=numbers,
        xaxis={"visible": False, "range": [-3, min(per_row, len(residues)) + 1.4]},
        yaxis={"visible": False, "range": [-rows + 0.4, 0.6]},
        margin={"l": 0, "r": 0, "t": 2, "b": 4},
        modebar=_UPRIGHT,
    )
    return palette.draw([_strip_letters(residues, hover, hidden, per_row)], layout)


def _strip_letters(residues: str, hover: Sequence[str], hidden: int | None, per_row: int) -> dict:
    places = range(1, len(residues) + 1)
    return {
        "type": "scatter",
        "x": [(place - 1) % per_row for place in places],
        "y": [-((place - 1) // per_row) for place in places],
        "mode": "markers+text",
        "text": ["?" if p == hidden else s for p, s in zip(places, residues, strict=True)],
        "textfont": {"size": 14, "color": _INK},
        "marker": {"symbol": "square", "size": 14, "color": "rgba(0,0,0,0)"},
        "customdata": [[name, place] for place, name in zip(places, hover, strict=True)],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
        "unselected": {"marker": {"opacity": 0}, "textfont": {"color": _INK}},
        "showlegend": False,
    }


def _strip_shapes(regions: Sequence[Region], per_row: int) -> list[dict[str, object]]:
    """A tinted box for each stretch of a region on a row."""
    shapes = []
    for name, first, last in regions:
        for row in range((first - 1) // per_row, (last - 1) // per_row + 1):
            begin, end = max(first - 1, row * per_row), min(last, (row + 1) * per_row)
            x0, x1 = begin - row * per_row - 0.5, end - row * per_row - 0.5
            box = {"type": "rect", "x0": x0, "x1": x1, "y0": -row - 0.46, "y1": -row + 0.46}
            fill = {"fillcolor": _tint(name)[1], "line": {"width": 0}}
            shapes.append({**box, **fill, "layer": "below"})
    return shapes


def bands(regions: Sequence[Region]) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Each region as a tinted band (shapes) with its name above it (annotations)."""
    high = {"yref": "y domain", "y0": 0, "y1": 1}
    look = {"type": "rect", "opacity": 0.16, "layer": "below", "line": {"width": 0}}
    shapes = [
        {**high, **look, "x0": first - 0.5, "x1": last + 0.5, "fillcolor": _tint(name)[0]}
        for name, first, last in regions
    ]
    # In the middle: on a phone the CDR3 is as narrow as its name.
    above = {"y": 1, "yref": "y domain", "xanchor": "center", "yanchor": "bottom"}
    names = [
        {**above, "x": (first + last) / 2, "text": name, "showarrow": False, "font": {"size": 12}}
        for name, first, last in regions
    ]
    return shapes, names


def _tint(region: str) -> tuple[str, str]:
    return _TINTS.get(region, _OTHER_TINT)
