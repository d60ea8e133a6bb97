"""Two maps over a chain: the log-odds of all 20 letters at every position, and attention.

In: arrays and labels. Out: Plotly figures. Knows no model.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import DIVERGING, GREY, SEQUENTIAL, base_layout, draw
from core.figures.protein_tracks import MARGIN, Region, bands
from core.figures.toy_words import UNSEEN_AXIS, words

CUT = 8.0  # nats: a letter 3,000 times less likely than another is as good as ruled out
# Of an attention map: the row above it and the colour scale there, as shares of its side.
_HEAD, _SCALE, _SHADES = 0.08, 0.2, 32


def log_odds_map(
    residues: str,
    letters: Sequence[str],
    log_odds: Float[np.ndarray, "V L"],
    regions: Sequence[Region],
    *,
    hover: Sequence[str],
    unit: str = "log-odds",
) -> go.Figure:
    """Letters x positions; 0 is the colour scale's middle and the true letter carries a dot.

    The scale ends at the 98th percentile of the absolute values or at `CUT`, whichever is
    nearer, so that extreme cells do not bleach the rest; hover shows the uncut number.
    """
    shapes, names = bands(regions)
    layout = base_layout(
        height=470,
        shapes=shapes,
        annotations=names,
        xaxis={"title": {"text": "position on the chain"}, "range": [0.5, len(residues) + 0.5]},
        yaxis={"type": "category", "autorange": "reversed", "dtick": 1, "tickfont": {"size": 12}},
        margin=MARGIN,
    )
    return draw([_odds(letters, log_odds, hover, unit), _dots(residues, letters)], layout)


def _odds(
    letters: Sequence[str], log_odds: Float[np.ndarray, "V L"], hover: Sequence[str], unit: str
) -> dict[str, object]:
    limit = min(float(np.percentile(np.abs(log_odds), 98)) or 1.0, CUT)
    title = {"text": f"{unit}, cut at ±{limit:.2g}", "side": "right"}
    return {
        "type": "heatmap",
        "x": list(range(1, len(hover) + 1)),
        "y": list(letters),
        "z": log_odds,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {"title": title, "thickness": 12},
        "customdata": np.tile(np.array(hover, dtype=object), (len(letters), 1)).tolist(),
        "hovertemplate": "%{customdata}<br>%{y}: %{z:.2f}<extra></extra>",
    }


def _dots(residues: str, letters: Sequence[str]) -> dict[str, object]:
    """One at each position's own letter, where `letters` has it."""
    known = [(place, letter) for place, letter in enumerate(residues, 1) if letter in letters]
    return {
        "type": "scatter",
        "x": [place for place, _ in known],
        "y": [letter for _, letter in known],
        "mode": "markers",
        "marker": {"color": "black", "size": 4, "line": {"color": "white", "width": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def attention_map(
    weights: Float[np.ndarray, "n_query n_key"],
    hover: Sequence[str],
    regions: Sequence[Region],
) -> go.Figure:
    """Who looks (rows) at whom (columns) in one head; lines part the regions.

    The colour scale ends at the 99th percentile, since one strong cell would hide the rest. It
    and the positions are drawn as traces on a second pair of axes: Plotly's own colour bar and
    axis labels take the browser as long as the map.
    """
    n, top = len(weights), float(np.percentile(weights, 99)) or 1.0
    look = {"type": "heatmap", "zmin": 0, "zmax": top, "colorscale": SEQUENTIAL, "showscale": False}
    heat = {
        **look,
        # Names as categories, once per axis: once per cell would be a megabyte for every click.
        **{"x": list(hover), "y": list(hover)},
        "z": weights,
        "hovertemplate": "from %{y}<br>to %{x}<br>weight %{z:.3f}<extra></extra>",
    }
    across, down = {"range": [-0.5, n - 0.5]}, {"range": [n - 0.5, -0.5 - _HEAD * n]}
    layout = base_layout(
        height=520,
        xaxis={**UNSEEN_AXIS, **across, "type": "category"},
        yaxis={**UNSEEN_AXIS, **down, "type": "category"},
        xaxis2={**UNSEEN_AXIS, **across, "overlaying": "x"},
        yaxis2={**UNSEEN_AXIS, **down, "overlaying": "y"},
        margin={"l": 36, "r": 44, "t": 4, "b": 26},
    )
    around = [_crosses(n, regions), {**look, **_scale(n, top)}, *_around(n, top)]
    return draw([heat, *({**trace, "xaxis": "x2", "yaxis": "y2"} for trace in around)], layout)


def _crosses(n: int, regions: Sequence[Region]) -> dict[str, object]:
    """A line across and one down where each region but the first begins."""
    ends, x, y = (-0.5, n - 0.5, None), [], []
    for at in (first - 1.5 for _, first, _ in regions[1:]):
        x += [*ends, at, at, None]
        y += [at, at, None, *ends]
    line = {"color": GREY, "width": 1}
    unheard = {"hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, **unheard}


def _scale(n: int, top: float) -> dict[str, object]:
    """The colours from 0 to `top` as a row of cells above the map, at its right end."""
    cell, height = _SCALE * n / _SHADES, _HEAD * n / 3
    shades = np.linspace(0, top, _SHADES, dtype=np.float32)[None]
    place = {"x0": n - 0.5 - _SCALE * n + cell / 2, "dx": cell, "y0": _title_row(n), "dy": height}
    return {"z": shades, **place, "hoverinfo": "skip"}


def _around(n: int, top: float) -> list[dict[str, object]]:
    """Positions along both sides; above the map what they are, and the ends of the scale."""
    places = [i for i in range(n) if (i + 1) % (20 if n > 40 else 5) == 0]
    numbers, row = [str(i + 1) for i in places], _title_row(n)
    return [
        words([-0.5] * len(places), places, numbers, "middle left"),
        words(places, [n - 0.5] * len(places), numbers, "bottom center"),
        words(
            [-0.5, n - 0.5],
            [row, row],
            ["↓ from (query), → to (key)", f" {top:.2g}"],
            "middle right",
        ),
        words([n - 0.5 - _SCALE * n], [row], ["weight 0 "], "middle left"),
    ]


def _title_row(n: int) -> float:
    return -0.5 - _HEAD * n / 2
