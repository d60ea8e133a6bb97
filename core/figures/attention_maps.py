"""Attention maps side by side on one pair of axes: heads, or before, after and difference.

In: weight matrices and labels. Out: one Plotly figure. One pair of axes for all maps because
drawing axes, not cells, is what takes the browser its time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import DIVERGING, SEQUENTIAL, base_layout, draw

GAP = 1
_ALL_LABELS_UP_TO = 16
_STILL = {"ticks": "", "automargin": False, "showgrid": False, "zeroline": False}


@dataclass(frozen=True, eq=False)
class Strip:
    """Where the maps lie: map m's column j is at x = m * (length + GAP) + j."""

    maps: int
    length: int

    @property
    def width(self) -> int:
        return self.maps * (self.length + GAP) - GAP

    def left(self, which: int) -> int:
        """x of the first column of map `which`."""
        return which * (self.length + GAP)

    def at(self, point: int) -> tuple[int, int]:
        """Which map and which row the clickable bar number `point` belongs to."""
        return divmod(point, self.length)


def head_maps(
    weights: Sequence[np.ndarray], titles: Sequence[str], labels: Sequence[str]
) -> go.Figure:
    """The maps of all heads, rows queries, columns keys; each row is one clickable bar."""
    strip = Strip(len(weights), len(labels))
    heat = _heat(strip, dict(enumerate(weights)), SEQUENTIAL, 0.0, 1.0)
    heat |= {"hoverinfo": "skip", "colorbar": _colour_bar(".0%")}
    return draw(
        [heat, _clickable_rows(strip, weights, labels)],
        _layout(strip, titles, labels),
    )


def ghost_maps(before: np.ndarray, after: np.ndarray, labels: Sequence[str]) -> go.Figure:
    """One head before and after an edit, and the difference."""
    strip = Strip(3, len(labels))
    largest = max(float(np.abs(after - before).max()), 1e-9)
    both = _heat(strip, {0: before, 1: after}, SEQUENTIAL, 0.0, 1.0)
    both |= {"showscale": False, "hovertemplate": "%{z:.1%}<extra></extra>"}
    change = _heat(strip, {2: after - before}, DIVERGING, -largest, largest)
    change |= {"colorbar": _colour_bar("+.0%"), "hovertemplate": "%{z:+.1%}<extra></extra>"}
    titles = ("Before", "After", "Difference")
    return draw([both, change], _layout(strip, titles, labels))


def map_height(length: int) -> int:
    """Pixels: rows stay readable, and the default sequence fits a small screen."""
    return 52 + max(190, min(14 * length, 480))


def row_text(row: np.ndarray, labels: Sequence[str], query: int, shown: int = 5) -> str:
    """The query and its largest weights, for a hover label."""
    top = np.argsort(-row, kind="stable")[:shown]
    return f"{labels[query]} looks at<br>" + "<br>".join(
        f"{labels[key]}  {row[key]:.1%}" for key in top
    )


def _heat(
    strip: Strip, blocks: dict[int, np.ndarray], colours: str, low: float, high: float
) -> dict[str, object]:
    cells = np.full((strip.length, strip.width), np.nan)
    for which, block in blocks.items():
        cells[:, strip.left(which) : strip.left(which) + strip.length] = block
    return {
        "type": "heatmap",
        "z": np.round(cells, 4),
        "colorscale": colours,
        "zmin": low,
        "zmax": high,
        "hoverongaps": False,
    }


def _colour_bar(numbers: str) -> dict[str, object]:
    return {"thickness": 8, "tickformat": numbers, "nticks": 4, "outlinewidth": 0, "ticks": ""}


def _clickable_rows(
    strip: Strip, weights: Sequence[np.ndarray], labels: Sequence[str]
) -> dict[str, object]:
    # Streamlit reports clicks on bars, never on heat-map cells.
    rows = range(strip.length)
    return {
        "type": "bar",
        "orientation": "h",
        "y": [row for _ in weights for row in rows],
        "x": [strip.length] * (len(weights) * strip.length),
        "base": [strip.left(which) - 0.5 for which in range(len(weights)) for _ in rows],
        "width": 1,
        "marker": {"color": "rgba(0,0,0,0)", "line": {"width": 0}},
        "hovertext": [row_text(block[row], labels, row) for block in weights for row in rows],
        "hoverinfo": "text",
        "showlegend": False,
    }


def _ticks(labels: Sequence[str], *, letters_only: bool) -> tuple[list[int], list[str]]:
    every = 1 if len(labels) <= _ALL_LABELS_UP_TO else 5 if len(labels) <= 30 else 10
    kept = [i for i in range(len(labels)) if (i + 1) % every == 0]
    return kept, [labels[i][0] if letters_only and every == 1 else labels[i] for i in kept]


def _layout(strip: Strip, titles: Sequence[str], labels: Sequence[str]) -> dict[str, object]:
    rows, row_labels = _ticks(labels, letters_only=False)
    columns, column_labels = _ticks(labels, letters_only=True)
    return base_layout(
        height=map_height(strip.length),
        margin={"l": 36, "r": 8, "t": 26, "b": 24},
        barmode="overlay",
        yaxis={
            "range": [strip.length - 0.5, -0.5],
            "tickvals": rows,
            "ticktext": row_labels,
            "tickfont": {"size": 12},
            "fixedrange": True,
            **_STILL,
        },
        xaxis={
            "range": [-0.5, strip.width - 0.5],
            "tickvals": [strip.left(which) + c for which in range(strip.maps) for c in columns],
            "ticktext": column_labels * strip.maps,
            "tickangle": 0,
            "tickfont": {"size": 12},
            "fixedrange": True,
            **_STILL,
        },
        annotations=[
            title_above(title, strip.left(which) - 0.5) for which, title in enumerate(titles)
        ],
    )


def title_above(text: str, x: float) -> dict[str, object]:
    """A small title whose left edge is at `x`, above the plot."""
    return {
        "text": text,
        "x": x,
        "y": 1,
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 13},
    }
