"""Vectors as pictures: heat strips of numbers, and queries and keys as points on a plane.

In: arrays and labels. Out: Plotly figures.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import BLUE, DIVERGING, GREY, ORANGE, VERMILION, finish

_STILL = {
    "ticks": "",
    "automargin": False,
    "showgrid": False,
    "zeroline": False,
    "fixedrange": True,
}
_NUMBERS_UP_TO = 200


def vector_strip(
    blocks: Sequence[np.ndarray],
    titles: Sequence[str],
    row_labels: Sequence[str],
    column_labels: Sequence[Sequence[str]],
    *,
    numbers: bool = True,
) -> go.Figure:
    """Blocks with the same rows side by side, one colour scale, numbers in the cells if few."""
    lefts = np.cumsum([0] + [block.shape[1] + 1 for block in blocks[:-1]])
    cells = np.full((len(row_labels), sum(b.shape[1] + 1 for b in blocks) - 1), np.nan)
    for left, block in zip(lefts, blocks, strict=True):
        cells[:, left : left + block.shape[1]] = block
    largest = max(1e-9, float(np.nanmax(np.abs(cells))))
    figure = go.Figure(
        go.Heatmap(
            z=np.round(cells, 4),
            colorscale=DIVERGING,
            zmin=-largest,
            zmax=largest,
            showscale=False,
            texttemplate="%{z:.2f}" if numbers and cells.size <= _NUMBERS_UP_TO else None,
            hovertemplate="%{y} %{x}: %{z:.3f}<extra></extra>",
            hoverongaps=False,
        )
    )
    ticks = [
        left + i
        for left, names in zip(lefts, column_labels, strict=True)
        for i in range(len(names))
    ]
    figure.update_layout(
        yaxis={
            "range": [len(row_labels) - 0.5, -0.5],
            "tickvals": list(range(len(row_labels))),
            "ticktext": list(row_labels),
            **_STILL,
        },
        xaxis={
            "range": [-0.5, cells.shape[1] - 0.5],
            "tickvals": ticks,
            "ticktext": [name for names in column_labels for name in names],
            **_STILL,
        },
        annotations=[
            {
                "text": title, "x": left - 0.5, "y": 1, "yref": "paper", "xanchor": "left",
                "yanchor": "bottom", "showarrow": False, "font": {"size": 14},
            }
            for left, title in zip(lefts, titles, strict=True)
        ],
    )  # fmt: skip
    finish(figure, height=70 + max(26 * len(row_labels), 110))
    figure.update_layout(margin={"l": 44, "r": 8, "t": 30, "b": 36})
    return figure


def query_key_plane(
    query: np.ndarray,
    keys: np.ndarray,
    weights: np.ndarray,
    labels: Sequence[str],
    query_label: str,
) -> go.Figure:
    """One query as an arrow, all keys as points; a key's score is its shadow on the arrow.

    Keys at the same place share a point. Its size shows the weight, written beside it.
    """
    places = grouped(keys)
    largest = max(float(np.abs(keys).max()), float(np.abs(query).max()), 1e-9)
    figure = go.Figure()
    _add_shadows(figure, query, keys[[members[0] for members in places]], largest)
    shares = [float(weights[members].sum()) for members in places]
    figure.add_trace(
        go.Scatter(
            x=[keys[members[0], 0] for members in places],
            y=[keys[members[0], 1] for members in places],
            mode="markers+text",
            text=[
                _place_text(members, labels, s) for members, s in zip(places, shares, strict=True)
            ],
            textposition="top center",
            marker={"size": [10 + 40 * share for share in shares], "color": ORANGE, "opacity": 0.8},
            hovertext=[", ".join(labels[i] for i in members) for members in places],
            hoverinfo="text",
            name="keys",
        )
    )
    figure.add_annotation(
        x=query[0], y=query[1], ax=0, ay=0, xref="x", yref="y", axref="x", ayref="y",
        arrowhead=3, arrowwidth=3, arrowcolor=VERMILION, text="", showarrow=True,
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[query[0]], y=[query[1]], mode="text", text=[f"<b>query of {query_label}</b>"],
            textposition="bottom center", textfont={"color": VERMILION}, hoverinfo="skip",
        )
    )  # fmt: skip
    span = 1.35 * largest
    figure.update_layout(
        showlegend=False,
        xaxis={"title": "dimension 1", "range": [-span, span], "fixedrange": True},
        yaxis={"title": "dimension 2", "range": [-span, span], "fixedrange": True},
    )
    return finish(figure, height=420)


def grouped(points: np.ndarray) -> list[list[int]]:
    """Indices of points that coincide (to 6 decimals), in order of first appearance."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index, point in enumerate(np.round(points, 6) + 0.0):
        groups.setdefault(tuple(point), []).append(index)
    return list(groups.values())


def _place_text(members: list[int], labels: Sequence[str], share: float) -> str:
    names = " ".join(labels[i] for i in members[:4]) + (" …" if len(members) > 4 else "")
    return f"{names}<br>{share:.0%}"


def _add_shadows(figure: go.Figure, query: np.ndarray, keys: np.ndarray, reach: float) -> None:
    """The query's line, and a dotted perpendicular from each key down to it."""
    length = float(np.linalg.norm(query))
    if length == 0:
        return
    direction = query / length
    feet = np.outer(keys @ direction, direction)
    gaps = [None] * len(keys)
    figure.add_trace(
        go.Scatter(
            x=[-1.4 * reach * direction[0], 1.4 * reach * direction[0]],
            y=[-1.4 * reach * direction[1], 1.4 * reach * direction[1]],
            mode="lines", line={"color": GREY, "width": 1}, hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[v for trio in zip(keys[:, 0], feet[:, 0], gaps, strict=True) for v in trio],
            y=[v for trio in zip(keys[:, 1], feet[:, 1], gaps, strict=True) for v in trio],
            mode="lines", line={"color": BLUE, "width": 1, "dash": "dot"}, hoverinfo="skip",
        )
    )  # fmt: skip
