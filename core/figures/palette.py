"""Colours and layout shared by every figure: safe for colour-blind eyes, light and dark.

Categorical colours are Okabe and Ito's (2008); Cividis and PuOr stay readable in all common
forms of colour vision. Text and grid colours are left to the page's theme.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import plotly.graph_objects as go
from plotly.colors import get_colorscale

BLUE, ORANGE, GREEN, VERMILION = "#2a86c7", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, GREY = "#cc79a7", "#56b4e9", "#8a8f98"
CATEGORICAL = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY)
SEQUENTIAL = "Cividis"
DIVERGING = "PuOr"

# Plotly lists all its scales again at every call.
_scale = lru_cache(get_colorscale)


def base_layout(*, height: int, title: str | None = None, **more: object) -> dict[str, object]:
    """The shared margins, text size and transparent background, with `more` on top.

    For `go.Figure(data=[...], layout=base_layout(...))`: building a figure from dictionaries in
    one go takes a fifth of the time of updating it step by step, and the empty template keeps
    it small on its way to the browser, where the page's theme styles it anyway.
    """
    return {
        "template": {},
        "height": height,
        "title": {"text": title, "font": {"size": 16}} if title else None,
        "margin": {"l": 8, "r": 8, "t": 44 if title else 12, "b": 8},
        "font": {"size": 14},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"font": {"size": 14}},
        "dragmode": False,
        **more,
    }


def draw(data: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> go.Figure:
    """A figure from complete dictionaries, without Plotly's checks of every property.

    The checks cost seven times the rest and find the same each time, so tests make them
    (`go.Figure(figure.to_dict())` is the checked copy), not every click of a visitor.
    """
    return go.Figure(data=[_spelt_out(trace) for trace in data], layout=layout, _validate=False)


def _spelt_out(trace: Mapping[str, object]) -> dict[str, object]:
    """The browser's Plotly knows fewer colour scales by name than Python's."""
    scale = trace.get("colorscale")
    return {**trace, "colorscale": _scale(scale)} if isinstance(scale, str) else {**trace}


def finish(figure: go.Figure, *, height: int, title: str | None = None) -> go.Figure:
    """Apply the shared margins, text size and transparent background; returns `figure`."""
    figure.update_layout(
        height=height,
        title={"text": title, "font": {"size": 16}} if title else None,
        margin={"l": 8, "r": 8, "t": 44 if title else 12, "b": 8},
        font={"size": 14},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hoverlabel={"font": {"size": 14}},
        dragmode=False,
    )
    return figure
