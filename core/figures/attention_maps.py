"""Attention maps side by side on one pair of axes: heads, or before, after and difference.

In: weight matrices and labels. Out: one Plotly figure. One pair of axes for all maps, and no
axis labels (`toy_words`), because those, not cells, are what takes the browser its time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import DIVERGING, SEQUENTIAL, base_layout, draw
from core.figures.toy_words import UNSEEN_AXIS, words, written

GAP = 1
_CELLS_UP_TO = 30
# On a telephone the last of two such maps is narrower than its title, which then ends with it.
_NARROW_UP_TO = 5
# A title costs the browser less than a colour bar. The two are strong shades of DIVERGING.
_LESS_AND_MORE = "".join(
    f"<span style='color:{colour}'>■</span>{sign}"
    for colour, sign in (("#b35806", "−"), ("#8073ac", "+"))
)


@dataclass(frozen=True, eq=False)
class Strip:
    """Where the maps lie: map m's column j is at x = m * (length + GAP) + j."""

    maps: int
    length: int

    @property
    def width(self) -> int:
        return self.maps * (self.length + GAP) - GAP

    @property
    def by_cell(self) -> bool:
        """Whether each cell can be clicked; in a long sequence each row can, as a whole."""
        return self.length <= _CELLS_UP_TO

    def left(self, which: int) -> int:
        """x of the first column of map `which`."""
        return which * (self.length + GAP)

    def at(self, point: int) -> tuple[int, int, int | None]:
        """Map, row and column of the clickable point number `point`; no column for a row."""
        if not self.by_cell:
            return *divmod(point, self.length), None
        which, cell = divmod(point, self.length**2)
        return which, *divmod(cell, self.length)


def head_maps(
    weights: Sequence[np.ndarray], titles: Sequence[str], labels: Sequence[str]
) -> go.Figure:
    """The maps of some heads, rows queries, columns keys; a cell, or a long row, is clickable.

    The second trace frames the rows: transparent bars, which a style sheet can draw around.
    """
    strip = Strip(len(weights), len(labels))
    heat = _heat(strip, dict(enumerate(weights)), SEQUENTIAL, 0.0, 1.0)
    heat |= {"hoverinfo": "skip"}
    points = _cells(strip, weights, tuple(labels)) if strip.by_cell else _rows(strip, labels)
    data = [heat, _frames(strip), *_letters(strip, titles, labels), points]
    return draw(data, _layout(strip, clickable=True, barmode="overlay", hoverdistance=-1))


def ghost_maps(
    before: np.ndarray, after: np.ndarray, labels: Sequence[str], head: int
) -> go.Figure:
    """Head number `head` before and after an edit, and the difference."""
    strip = Strip(3, len(labels))
    largest = max(float(np.abs(after - before).max()), 1e-9)
    both = _heat(strip, {0: before, 1: after}, SEQUENTIAL, 0.0, 1.0)
    both |= {"hovertemplate": "%{z:.1%}<extra></extra>"}
    change = _heat(strip, {2: after - before}, DIVERGING, -largest, largest)
    change |= {"hovertemplate": "%{z:+.1%}<extra></extra>"}
    titles = (f"Head {head} before", "after", f"change {_LESS_AND_MORE} {largest:.0%}")
    return draw([both, change, *_letters(strip, titles, labels)], _layout(strip))


def map_height(length: int) -> int:
    """Pixels: rows stay readable, and the default sequence fits a small screen."""
    return 52 + max(190, min(14 * length, 480))


def _heat(
    strip: Strip, blocks: dict[int, np.ndarray], colours: str, low: float, high: float
) -> dict[str, object]:
    cells = np.full((strip.length, strip.width), np.nan, dtype=np.float32)
    for which, block in blocks.items():
        cells[:, strip.left(which) : strip.left(which) + strip.length] = block
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
        "y": list(range(strip.length)) * strip.maps,
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
    return _clickable(np.concatenate(across), np.tile(row, strip.maps)) | {
        "text": _pairs(labels) * strip.maps,
        # Seven digits of whatever size, where rounding would keep none of a small weight.
        "customdata": np.concatenate([block.ravel() for block in weights]).astype(np.float32),
        "hovertemplate": "%{text}: %{customdata:.1%}<extra></extra>",
    }


@lru_cache(maxsize=32)
def _pairs(labels: tuple[str, ...]) -> list[str]:
    return [f"{query} asks {key}" for query in labels for key in labels]


def _rows(strip: Strip, labels: Sequence[str]) -> dict[str, object]:
    middles = [strip.left(which) + strip.length / 2 for which in range(strip.maps)]
    return _clickable(
        np.repeat(middles, strip.length), np.tile(np.arange(strip.length), strip.maps)
    ) | {"text": [f"{query} asks" for query in labels] * strip.maps, "hoverinfo": "text"}


def _letters(
    strip: Strip, titles: Sequence[str], labels: Sequence[str]
) -> tuple[dict[str, object], ...]:
    kept = written(len(labels))
    # A whole label fits under a column only where few are written.
    below = [labels[i] if len(kept) < len(labels) else labels[i][0] for i in kept]
    lefts = [strip.left(which) for which in range(strip.maps)]
    starts, sides = [left - 0.5 for left in lefts], ["top right"] * strip.maps
    if strip.length <= _NARROW_UP_TO:
        starts[-1], sides[-1] = strip.width - 0.5, "top left"
    return (
        words([-0.5] * len(kept), kept, [labels[i] for i in kept], "middle left"),
        words(
            [left + i for left in lefts for i in kept],
            [strip.length - 0.5] * (len(kept) * strip.maps),
            below * strip.maps,
            "bottom center",
        ),
        words(starts, [-0.5] * strip.maps, titles, sides, size=13),
    )


def _layout(strip: Strip, **more: Any) -> dict[str, object]:
    return base_layout(
        height=map_height(strip.length),
        margin={"l": 36, "r": 8, "t": 26, "b": 24},
        yaxis={"range": [strip.length - 0.5, -0.5], **UNSEEN_AXIS},
        xaxis={"range": [-0.5, strip.width - 0.5], **UNSEEN_AXIS},
        **more,
    )
