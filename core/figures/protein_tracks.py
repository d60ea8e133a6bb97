"""Numbers along a chain: a track per residue with the regions as bands, and the chain itself.

In: residues, one number each, regions. Out: Plotly figures. A region is a tuple
(name, first, last), counted from 1 on the chain, both ends included.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, finish

Region = tuple[str, int, int]
_BAND = (GREY, SKY, ORANGE, GREEN, PURPLE)


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
    positions = list(range(1, len(residues) + 1))
    limit = -np.inf if low_is_marked_below is None else low_is_marked_below
    low = [bool(v < limit) for v in values]
    figure = go.Figure(
        go.Bar(
            x=positions,
            y=values,
            marker={"color": [VERMILION if flag else BLUE for flag in low], "line": {"width": 0}},
            text=[letter if flag else "" for letter, flag in zip(residues, low, strict=True)],
            textposition="outside",
            textangle=0,
            textfont={"size": 12},
            cliponaxis=False,
            customdata=list(hover),
            hovertemplate=f"%{{customdata}}<br>{what} %{{y:.4f}}<extra></extra>",
        )
    )
    if chosen is not None:
        figure.add_vline(x=chosen, line={"color": VERMILION, "dash": "dot", "width": 2})
    figure.update_xaxes(title="position on the chain", range=[0, len(residues) + 1])
    figure.update_yaxes(title=what, rangemode="tozero", nticks=5)
    figure.update_layout(bargap=0.15)
    return with_bands(finish(figure, height=height), regions)


def two_tracks(
    series: Sequence[tuple[str, Float[np.ndarray, " L"]]],
    regions: Sequence[Region],
    *,
    what: str,
    hover: Sequence[str],
    changed: Sequence[int] = (),
) -> go.Figure:
    """Two (or three) tracks over one chain as lines; `changed` positions get a dotted line."""
    figure = go.Figure()
    looks = ((BLUE, "solid", "circle"), (ORANGE, "dash", "diamond"), (GREY, "dot", "square"))
    for (name, values), (colour, dash, symbol) in zip(series, looks, strict=False):
        figure.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 6},
            customdata=list(hover),
            hovertemplate="%{customdata}<br>" + what + " %{y:.4f}<extra></extra>",
        )
    for position in changed:
        figure.add_vline(x=position, line={"color": VERMILION, "dash": "dot", "width": 2})
    figure.update_layout(legend={"orientation": "h", "y": 1.22})
    figure.update_xaxes(title="position on the chain", range=[0, len(series[0][1]) + 1])
    figure.update_yaxes(title=what, rangemode="tozero", nticks=5)
    return with_bands(finish(figure, height=340), regions)


def chain_strip(
    residues: str,
    regions: Sequence[Region],
    hover: Sequence[str],
    *,
    chosen: int | None = None,
    hidden: bool = True,
    per_row: int = 66,
) -> go.Figure:
    """The chain as rows of letters on region colours; the chosen residue is a framed `?`.

    Each mark's `customdata[1]` is its chain position, for clicks.
    """
    index = np.arange(len(residues))
    colours = [_region_colour(i, regions) for i in range(1, len(residues) + 1)]
    here = [i == chosen for i in range(1, len(residues) + 1)]
    figure = go.Figure(
        go.Scatter(
            x=index % per_row,
            y=-(index // per_row),
            mode="markers+text",
            text=[
                "<b>?</b>" if flag and hidden else f"<b>{letter}</b>" if flag else letter
                for letter, flag in zip(residues, here, strict=True)
            ],
            textfont={"size": [17 if flag else 13 for flag in here]},
            marker={
                "symbol": "square",
                "size": 19,
                "color": colours,
                "opacity": 0.45,
                "line": {"color": VERMILION, "width": [3 if flag else 0 for flag in here]},
            },
            customdata=[[name, i] for i, name in enumerate(hover, 1)],
            hovertemplate="%{customdata[0]}<extra></extra>",
            selected={"marker": {"opacity": 0.45}},
            unselected={"marker": {"opacity": 0.45}, "textfont": {"color": None}},
            showlegend=False,
        )
    )
    rows = -(-len(residues) // per_row)
    figure.update_xaxes(visible=False, range=[-0.7, min(per_row, len(residues)) - 0.3])
    figure.update_yaxes(visible=False, range=[-rows + 0.4, 0.6])
    finish(figure, height=26 * rows + 10)
    figure.update_layout(margin={"l": 0, "r": 0, "t": 4, "b": 0})
    return figure


def with_bands(figure: go.Figure, regions: Sequence[Region]) -> go.Figure:
    """Draw each region as a tinted band with its name above it; returns `figure`."""
    for i, (name, first, last) in enumerate(regions):
        figure.add_vrect(
            x0=first - 0.5,
            x1=last + 0.5,
            fillcolor=_BAND[i % len(_BAND)],
            opacity=0.16,
            layer="below",
            line_width=0,
            annotation={
                "text": name,
                "xanchor": "left",
                "yanchor": "bottom",
                "x": first - 0.5,
                "font": {"size": 12},
            },
        )
    figure.update_layout(margin={"t": 32})
    return figure


def _region_colour(position: int, regions: Sequence[Region]) -> str:
    for i, (_, first, last) in enumerate(regions):
        if first <= position <= last:
            return _BAND[i % len(_BAND)]
    return GREY
