"""Lines against length on logarithmic axes: influence that fades, cost that grows."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.figures.palette import BLUE, CATEGORICAL, GREY, ORANGE, base_layout, draw

_SYMBOLS = ("circle", "square", "diamond", "star", "cross")
# Below this the share is shown at the floor: the axis would otherwise span 60 powers of ten.
SMALLEST_SHARE = 1e-12
_ON_THE_RIGHT = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}


def fading(
    lengths: Sequence[int], shares: Mapping[str, Mapping[int, float]], marked: int
) -> go.Figure:
    """First letter's share of all influence on the last output, one line per network.

    Length -> share (0 to 1) for every network; the dashed line, over `lengths`, is an equal
    share for every letter, 1 / length. An upright line stands at the length `marked`.
    """
    upright = _dashed("", [marked, marked], [SMALLEST_SHARE, 1.0]) | {"showlegend": False}
    equal = _dashed("An equal share, 1 / length", lengths, [1 / length for length in lengths])
    looks = zip(CATEGORICAL, _SYMBOLS, strict=False)
    lines = [_line(*line, *look) for line, look in zip(shares.items(), looks, strict=False)]
    layout = base_layout(
        height=380,
        margin={"l": 82, "r": 8, "t": 68, "b": 64},
        xaxis=_length_axis(lengths),
        yaxis=_log(4) | {"title": {"text": "Share of the first letter"}},
        legend=_legend(1.02),
    )
    return draw([equal, *lines, upright], layout)


def _line(name: str, found: Mapping[int, float], colour: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": name,
        "x": list(found),
        "y": [max(share, SMALLEST_SHARE) for share in found.values()],
        "customdata": list(found.values()),
        "mode": "lines+markers",
        "line": {"color": colour, "width": 3},
        "marker": {"symbol": symbol, "size": 10},
        "hovertemplate": name + ", %{x} letters: %{customdata:.2e}<extra></extra>",
    }


def cost(
    lengths: Sequence[int],
    seconds: Sequence[float],
    megabytes: Sequence[float],
    curve_lengths: Sequence[float],
    curve_seconds: Sequence[float],
) -> go.Figure:
    """Measured time and memory against length, each beside an exact quadratic."""
    curve_megabytes = [megabytes[-1] * (length / lengths[-1]) ** 2 for length in curve_lengths]
    traces = [
        _dashed("Exactly quadratic", curve_lengths, [1000 * s for s in curve_seconds]),
        _measured(lengths, [1000 * s for s in seconds], BLUE),
        _dashed("Exactly quadratic", curve_lengths, curve_megabytes) | _ON_THE_RIGHT,
        _measured(lengths, megabytes, ORANGE) | _ON_THE_RIGHT,
    ]
    layout = base_layout(
        height=340,
        margin={"l": 44, "r": 8, "t": 80, "b": 64},
        **_two_sides(lengths),
        legend=_legend(1.12),
        annotations=[_title("Time (ms)", 0.225), _title("Memory (MB)", 0.775)],
    )
    return draw(traces, layout)


def _two_sides(lengths: Sequence[int]) -> dict[str, Any]:
    along = _length_axis(lengths)
    # Plotly writes powers larger than the numbers beside them.
    plain = _log(1) | {"exponentformat": "none"}
    return {
        "xaxis": along | {"domain": [0, 0.45]},
        "xaxis2": along | {"domain": [0.55, 1], "anchor": "y2"},
        "yaxis": plain,
        "yaxis2": plain | {"anchor": "x2"},
    }


def _measured(x: Sequence[int], y: Sequence[float], colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": "Measured here",
        "x": list(x),
        "y": list(y),
        "mode": "markers+lines",
        "line": {"color": colour, "width": 3},
        "marker": {"size": 11},
        "hovertemplate": "%{x} letters: %{y:.3g}<extra></extra>",
    }


def _dashed(name: str, x: Sequence[float] | Sequence[int], y: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": name,
        "x": list(x),
        "y": list(y),
        "mode": "lines",
        "line": {"color": GREY, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _length_axis(lengths: Sequence[int]) -> dict[str, Any]:
    title = {"text": "Length of the sequence"}
    return {"type": "log", "title": title, "tickvals": list(lengths)}


def _log(step: int) -> dict[str, Any]:
    return {"type": "log", "exponentformat": "power", "dtick": step}


def _legend(y: float) -> dict[str, Any]:
    return {"orientation": "h", "y": y, "yanchor": "bottom", "x": 0}


def _title(text: str, x: float) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "x": x, "y": 1, "yanchor": "bottom"}
    place |= {"xanchor": "center"}
    return {"text": text, "showarrow": False, "font": {"size": 15}, **place}
