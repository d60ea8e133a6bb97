"""A query and its keys as points on a plane: the dot product as a shadow on the arrow.

In: arrays and labels. Out: Plotly figures.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    base_layout,
    draw,
)
from core.written import percent

_NAMED_PLACES = 14


def query_key_plane(
    query: np.ndarray,
    keys: np.ndarray,
    weights: np.ndarray,
    labels: Sequence[str],
    query_label: str,
) -> go.Figure:
    """One query as an arrow, all keys as points; a key's score is its shadow on the arrow.

    Keys at the same place share a point. Its size shows their weights together, as written. A
    query much longer than the keys is drawn shorter, and says so.
    """
    query, name = _fitting(query, keys, query_label)
    reach = max(float(np.abs(keys).max()), float(np.abs(query).max()), 1e-9)
    places = grouped(keys)
    points = keys[[members[0] for members in places]]
    data = [*_shadows(query, points, reach), _key_points(points, places, weights, labels)]
    axis = {"range": [-1.35 * reach, 1.35 * reach], "fixedrange": True}
    layout = base_layout(
        height=420,
        showlegend=False,
        margin={"l": 44, "r": 8, "t": 12, "b": 40},
        xaxis={"title": {"text": "dimension 1"}, **axis},
        yaxis={"title": {"text": "dimension 2"}, "scaleanchor": "x", **axis},
        annotations=[_arrow(query), _query_name(query, name)],
    )
    return draw(data, layout)


def _fitting(query: np.ndarray, keys: np.ndarray, label: str) -> tuple[np.ndarray, str]:
    """The query and its name, shorter where the keys would else shrink to nothing."""
    longest, length = float(np.linalg.norm(keys, axis=1).max()), float(np.linalg.norm(query))
    if not longest or length <= 1.5 * longest:
        return query, label
    times = length / (1.2 * longest)
    return query / times, f"{label}, {times:.1f} times as long"


def grouped(points: np.ndarray) -> list[list[int]]:
    """Indices of points that coincide (to 6 decimals), in order of first appearance."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index, point in enumerate(np.round(points, 6) + 0.0):
        groups.setdefault(tuple(point), []).append(index)
    return list(groups.values())


def _place_text(members: list[int], labels: Sequence[str], share: float) -> str:
    names = " ".join(labels[i] for i in members[:4]) + (" …" if len(members) > 4 else "")
    return f"{names}<br>{percent(share)}"


def _key_points(
    points: np.ndarray, places: list[list[int]], weights: np.ndarray, labels: Sequence[str]
) -> dict[str, object]:
    shares = [float(weights[members].sum()) for members in places]
    # Many places: only those that get a share worth reading are named; hovering names all.
    least = 0.0 if len(places) <= _NAMED_PLACES else 0.05
    names = [
        _place_text(members, labels, share) if share >= least else ""
        for members, share in zip(places, shares, strict=True)
    ]
    return {
        "type": "scatter",
        "name": "keys",
        "mode": "markers+text",
        "x": points[:, 0],
        "y": points[:, 1],
        "text": names,
        "textposition": "top center",
        "marker": {"size": [10 + 40 * s for s in shares], "color": ORANGE, "opacity": 0.8},
        "hovertext": [", ".join(labels[i] for i in members) for members in places],
        "hoverinfo": "text",
    }


def _arrow(query: np.ndarray) -> dict[str, object]:
    return {
        "x": float(query[0]),
        "y": float(query[1]),
        "ax": 0,
        "ay": 0,
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 3,
        "arrowwidth": 3,
        "arrowcolor": VERMILION,
        "text": "",
    }


def _query_name(query: np.ndarray, label: str) -> dict[str, object]:
    return {
        "x": float(query[0]),
        "y": float(query[1]),
        "yshift": -26,
        "text": f"<b>query of {label}</b>",
        "font": {"color": VERMILION},
        "showarrow": False,
    }


def _shadows(query: np.ndarray, keys: np.ndarray, reach: float) -> list[dict[str, object]]:
    """The query's line, and a dotted perpendicular from each key down to it."""
    length = float(np.linalg.norm(query))
    if length == 0:
        return []
    direction = query / length
    feet = np.outer(keys @ direction, direction)
    ends = 1.4 * reach * np.array([-direction, direction])
    gap = [None] * len(keys)
    down = [
        [v for trio in zip(keys[:, axis], feet[:, axis], gap, strict=True) for v in trio]
        for axis in (0, 1)
    ]
    return [
        _line(list(ends[:, 0]), list(ends[:, 1]), {"color": GREY, "width": 1}),
        _line(down[0], down[1], {"color": BLUE, "width": 1, "dash": "dot"}),
    ]


def _line(x: list, y: list, line: dict[str, object]) -> dict[str, object]:
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip"}
