"""Colours and layout shared by every figure: safe for colour-blind eyes, light and dark.

Categorical colours are Okabe and Ito's (2008); Cividis and PuOr stay readable in all common
forms of colour vision. Text takes the colour of the page.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import get_colorscale

BLUE, ORANGE, GREEN, VERMILION = "#2a86c7", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, GREY = "#cc79a7", "#56b4e9", "#8a8f98"
CATEGORICAL = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY)
_LINE = "rgba(138,143,152,0.3)"
_FONT = {"size": 14, "family": "Source Sans, sans-serif"}
SEQUENTIAL = "Cividis"
DIVERGING = "PuOr"

# Plotly lists all its scales again at every call.
_scale = lru_cache(get_colorscale)


def base_layout(
    *, height: int, title: str | None = None, clickable: bool = False, **more: Any
) -> dict[str, Any]:
    """The shared margins, sizes and colours, with `more` on top; for `draw`.

    Streamlit mounts a figure and at once hands it to Plotly again. Plotly then draws all of it
    twice, unless there is no theme and a `datarevision` tells it that the data are the same; that
    holds for lists, not for packed arrays of one dimension. So the axes in `more` get lines that
    suit light and dark here, and `pages.parts.frame` gives text its colour. `clickable`: marks can
    be selected.
    """
    # What Streamlit would set for a figure that can be clicked, and Plotly draw once more.
    clicks = {"clickmode": "event+select", "hovermode": "closest", "dragmode": "pan"}
    return {
        "height": height,
        "title": {"text": title, "font": {"size": 16}} if title else None,
        "margin": {"l": 8, "r": 8, "t": 44 if title else 12, "b": 8},
        "datarevision": 1,
        "font": _FONT,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"bgcolor": "#31363f", "font": {**_FONT, "color": "#fff"}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": BLUE},
        **(clicks if clickable else {"dragmode": False}),
        **{n: _ruled(n, v) if n.startswith(("xaxis", "yaxis")) else v for n, v in more.items()},
    }


def _ruled(name: str, axis: Mapping[str, Any]) -> dict[str, Any]:
    """The axis with the lines and sizes that Streamlit's theme would give it."""
    upright = name.startswith("x")
    lines = {"gridcolor": _LINE, "zerolinecolor": _LINE, "automargin": True, "ticklabelstandoff": 4}
    lines |= {"showgrid": False, "zeroline": False} if upright else {}
    title = {"font": {"size": 14}, "standoff": 16 if upright else 24, **axis.get("title", {})}
    return lines | {**axis} | ({"title": title} if "text" in title else {})


class Drawing(go.Figure):
    """A figure that is what it was drawn from until somebody asks for more than that.

    A page sends a figure's dictionary and nothing else. Making Plotly's objects from it and a
    deep copy of them costs more than all the rest of a redraw, so both wait until `data`,
    `layout` or a change is asked for.
    """

    def __init__(
        self,
        data: Sequence[Mapping[str, object]] = (),
        layout: Mapping[str, object] = MappingProxyType({}),
    ):
        given = {name: value for name, value in layout.items() if value is not None}
        object.__setattr__(self, "_drawn", {"data": [*data], "layout": given})

    def __getattr__(self, name: str) -> Any:
        special = name.startswith("__")  # Python itself asks for these, when it copies
        drawn = None if special else self.__dict__.pop("_drawn", None)
        if drawn is None:
            raise AttributeError(name)
        # Else Plotly takes the template that Streamlit registers.
        layout = {"template": {}, **drawn["layout"]}
        super().__init__(drawn["data"], layout, _validate=False)
        return getattr(self, name)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        drawn = self.__dict__.get("_drawn")
        return (Drawing, (*drawn.values(),)) if drawn else (go.Figure, super().__reduce__()[1])

    def to_dict(self) -> dict[str, Any]:
        """Data and layout as dictionaries, tables of numbers as Plotly packs them."""
        drawn = self.__dict__.get("_drawn")
        if drawn is None:
            return super().to_dict()
        packed = [{name: _packed(v) for name, v in trace.items()} for trace in drawn["data"]]
        return drawn | {"data": packed}


def _packed(value: object) -> object:
    """A table of numbers in base64, as plotly.js reads it; everything else as it is.

    A row of numbers is written as text, 32-bit ones with the 7 digits that they have.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fi" or not value.size:
        return value
    if value.ndim == 1:
        return np.ascontiguousarray(value)
    # plotly.js knows neither 64-bit whole numbers nor 16-bit fractions.
    kind = "i4" if value.dtype.kind == "i" else "f8" if value.dtype == np.float64 else "f4"
    numbers = np.ascontiguousarray(value, dtype=f"<{kind}")
    shape = ", ".join(map(str, numbers.shape))
    return {"dtype": kind, "bdata": b64encode(numbers.tobytes()).decode(), "shape": shape}


def draw(data: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> Drawing:
    """A figure from complete dictionaries, without Plotly's checks of every property.

    The checks cost seven times the rest and find the same each time, so tests make them
    (`go.Figure(figure.to_dict())` is the checked copy), not every click of a visitor.
    """
    return Drawing([_spelt_out(trace) for trace in data], layout)


def _spelt_out(trace: Mapping[str, object]) -> dict[str, object]:
    """The browser's Plotly knows fewer colour scales by name than Python's."""
    scale = trace.get("colorscale")
    return {**trace, "colorscale": _scale(scale)} if isinstance(scale, str) else {**trace}


def finish(figure: go.Figure, *, height: int, title: str | None = None) -> go.Figure:
    """Shared margins, text size and a transparent background for a figure that Streamlit themes."""
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
