"""Attention maps on one pair of axes: heads two by two, or before, after and difference.

In: weight matrices and labels. Out: one Plotly figure. One pair of axes for all maps, and no
axis labels (`toy_words`), because those, not cells, are what takes the browser its time.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.figures.map_places import Strip, heads_strip, map_height
from core.figures.palette import DIVERGING, SEQUENTIAL, base_layout, draw
from core.figures.toy_words import UNSEEN_AXIS, words, written
from core.written import percent

# On a telephone the last of two such maps is narrower than its title, which then ends with it.
_NARROW_UP_TO = 5
# A title costs the browser less than a colour bar. The two are strong shades of DIVERGING.
_LESS_AND_MORE = "".join(
    f"<span style='color:{colour}'>■</span>{sign}"
    for colour, sign in (("#b35806", "−"), ("#8073ac", "+"))
)


def head_maps(
    weights: Sequence[np.ndarray], titles: Sequence[str], labels: Sequence[str]
) -> go.Figure:
    """The maps of some heads, rows queries, columns keys; a cell, or a long row, is clickable.

    The second trace frames the rows: transparent bars, which a style sheet can draw around.
    """
    strip = heads_strip(len(weights), len(labels))
    heat = _heat(strip, dict(enumerate(weights)), SEQUENTIAL, 0.0, 1.0)
    heat |= {"hoverinfo": "skip"}
    points = _cells(strip, weights, tuple(labels)) if strip.by_cell else _rows(strip, labels)
    data = [heat, _frames(strip), *_letters(strip, titles, labels), points]
    return draw(data, _layout(strip, clickable=True, barmode="overlay", hoverdistance=-1))


def ghost_maps(
    before: np.ndarray, after: np.ndarray, labels: Sequence[str], head: int
) -> go.Figure:
    """Head number `head` before and after an edit, and the difference."""
    strip = Strip(3, len(labels), 3)
    largest = max(float(np.abs(after - before).max()), 1e-9)
    both = _heat(strip, {0: before, 1: after}, SEQUENTIAL, 0.0, 1.0)
    both |= {"hovertemplate": "%{z:.1%}<extra></extra>"}
    change = _heat(strip, {2: after - before}, DIVERGING, -largest, largest)
    change |= {"hovertemplate": "%{z:+.1%}<extra></extra>"}
    titles = (f"Head {head} before", "after", f"change {_LESS_AND_MORE} {percent(largest)}")
    return draw([both, change, *_letters(strip, titles, labels)], _layout(strip))


def _heat(
    strip: Strip, blocks: dict[int, np.ndarray], colours: str, low: float, high: float
) -> dict[str, object]:
    cells = np.full((strip.height, strip.width), np.nan, dtype=np.float32)
    for which, block in blocks.items():
        left, top = strip.left(which), strip.top(which)
        cells[top : top + strip.length, left : left + strip.length] = block
    return {
        "type": "heatmap",
        "z": np.round(cells, 4),
        "colorscale": colours,
        "zmin": low,
        "zmax": high,
        "showscale": False,
        "hoverongaps": False,
    }


def _frames(strip: Strip) -> dict[str, object]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [strip.top(m) + row for m in range(strip.maps) for row in range(strip.length)],
        "x": [strip.length] * (strip.maps * strip.length),
        "base": [strip.left(m) - 0.5 for m in range(strip.maps) for _ in range(strip.length)],
        "width": 1,
        "marker": {"color": "rgba(0,0,0,0)", "line": {"width": 0}},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _clickable(x: np.ndarray, y: np.ndarray) -> dict[str, object]:
    # Streamlit reports clicks on points, never on heat-map cells. One point is drawn, unseen;
    # the browser finds the others all the same, without an element for each.
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x.tolist(),
        "y": y.tolist(),
        "marker": {"opacity": 0, "maxdisplayed": 1},
        "showlegend": False,
    }


def _cells(
    strip: Strip, weights: Sequence[np.ndarray], labels: tuple[str, ...]
) -> dict[str, object]:
    row, column = np.indices((strip.length, strip.length)).reshape(2, -1)
    across = [column + strip.left(which) for which in range(strip.maps)]
    down = [row + strip.top(which) for which in range(strip.maps)]
    return _clickable(np.concatenate(across), np.concatenate(down)) | {
        "text": _pairs(labels) * strip.maps,
        # Seven digits of whatever size, where rounding would keep none of a small weight.
        "customdata": 100 * np.concatenate([block.ravel() for block in weights], dtype=np.float32),
        "hovertemplate": "%{text}: %{customdata:.1f}\u00a0%<extra></extra>",
    }


@lru_cache(maxsize=32)
def _pairs(labels: tuple[str, ...]) -> list[str]:
    return [f"{query} asks {key}" for query in labels for key in labels]


def _rows(strip: Strip, labels: Sequence[str]) -> dict[str, object]:
    middles = [strip.left(which) + strip.length / 2 for which in range(strip.maps)]
    down = [np.arange(strip.length) + strip.top(which) for which in range(strip.maps)]
    return _clickable(np.repeat(middles, strip.length), np.concatenate(down)) | {
        "text": [f"{query} asks" for query in labels] * strip.maps,
        "hoverinfo": "text",
    }


def _letters(
    strip: Strip, titles: Sequence[str], labels: Sequence[str]
) -> tuple[dict[str, object], ...]:
    kept = written(len(labels))
    # A whole label fits under a column only where few are written.
    below = [labels[i] if len(kept) < len(labels) else labels[i][0] for i in kept]
    which = range(strip.maps)
    tops = [strip.top(m) for m in which]
    lines = list(dict.fromkeys(tops))
    return (
        words(
            [-0.5] * (len(kept) * len(lines)),
            [top + i for top in lines for i in kept],
            [labels[i] for i in kept] * len(lines),
            "middle left",
        ),
        words(
            [strip.left(m) + i for m in which for i in kept],
            [top + strip.length - 0.5 for top in tops for _ in kept],
            below * strip.maps,
            "bottom center",
        ),
        words(*_title_places(strip), titles, _title_sides(strip), size=13),
    )


def _title_sides(strip: Strip) -> list[str]:
    """To the right of where a map starts; a narrow last map's title ends with it."""
    narrow = strip.length <= _NARROW_UP_TO
    return [
        "top left" if narrow and m % strip.across == strip.across - 1 else "top right"
        for m in range(strip.maps)
    ]


def _title_places(strip: Strip) -> tuple[list[float], list[float]]:
    x = [
        strip.left(m) - 0.5 + (strip.length if side == "top left" else 0)
        for m, side in enumerate(_title_sides(strip))
    ]
    return x, [strip.top(m) - 0.5 for m in range(strip.maps)]


def _layout(strip: Strip, **more: Any) -> dict[str, object]:
    return base_layout(
        height=50 + round(strip.height * map_height(strip.length) / strip.length),
        margin={"l": 36, "r": 8, "t": 26, "b": 24},
        yaxis={"range": [strip.height - 0.5, -0.5], **UNSEEN_AXIS},
        # A little wider than the cells, for the line of a frame.
        xaxis={"range": [-0.5, 1.005 * strip.width - 0.5], **UNSEEN_AXIS},
        **more,
    )
