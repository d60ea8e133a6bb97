"""Attention received above the letters, effect of ablation below, ranks written on the bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import BLUE, ORANGE, base_layout, draw
from core.figures.toy_words import words, written

_FIRST_RANKS = 5
_LOWER = {"xaxis": "x2", "yaxis": "y2"}


def two_rankings(
    names: Sequence[str],
    received: Float[np.ndarray, " L"],
    effect: Float[np.ndarray, " L"],
    received_ranks: Float[np.ndarray, " L"],
    effect_ranks: Float[np.ndarray, " L"],
    *,
    effect_title: str,
) -> go.Figure:
    """Two rows of bars that grow away from the letters between them; a bar carries its rank.

    names: "C1", "A2", ... `received` is a share (0 to 1) and is drawn in per cent. The same
    order above and below means that attention told what matters. Above 16 letters only the
    first five ranks are written, so that they do not touch.
    """
    per_cent = received * 100
    above = _bars(names, per_cent, received_ranks, BLUE, "Attention received (%)")
    below = _bars(names, effect, effect_ranks, ORANGE, effect_title) | _LOWER
    ranks = _ranks(above, ("top", "bottom")), _ranks(below, ("bottom", "top"))
    layout = base_layout(
        height=270,
        # Room for the legend, which names the two rows.
        margin={"l": 44, "r": 8, "t": 42, "b": 20},
        bargap=0.25,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "itemclick": False},
        xaxis={"type": "category", "anchor": "y", **_some(names)},
        xaxis2={"type": "category", "anchor": "y2", "matches": "x", "showticklabels": False},
        yaxis={"domain": [0.56, 1], "range": _limits(per_cent), "nticks": 4},
        yaxis2={"domain": [0, 0.44], "range": _limits(effect)[::-1], "nticks": 4, "anchor": "x2"},
    )
    return draw([above, below, *ranks], layout)


def _some(names: Sequence[str]) -> dict[str, Any]:
    """As many names as fit between the rows on a telephone, upright."""
    return {
        "tickvals": [names[at] for at in written(len(names))],
        "tickangle": 0,
        "tickfont": {"size": 11},
        "ticklabelstandoff": 0,
    }


def head_agreement(heads: Sequence[str], correlations: Float[np.ndarray, " heads"]) -> go.Figure:
    """One bar per head: its rank correlation with the effect of ablation, from -1 to 1.

    Heads are called "Head 2, …" or "Layer 1, head 2"; those of one layer stand together.
    """
    groups = [name.split(",")[0] for name in heads]
    first = list(dict.fromkeys(groups))
    x = [at + 0.8 * first.index(group) for at, group in enumerate(groups)]
    middles = [np.mean([at for at, g in zip(x, groups, strict=True) if g == one]) for one in first]
    bars = {
        "type": "bar",
        "x": x,
        "y": correlations,
        "marker": {"color": [ORANGE if value < 0 else BLUE for value in correlations]},
        "customdata": list(heads),
        "hovertemplate": "%{customdata}: %{y:+.2f}<extra></extra>",
    }
    layout = base_layout(
        height=220,
        margin={"l": 66, "r": 8, "t": 20, "b": 64},
        yaxis={"range": [-1, 1], "title": {"text": "Rank correlation"}, "tickvals": [-1, 0, 1]},
        xaxis={
            "title": {"text": first[0].split()[0]},
            "tickvals": middles,
            "ticktext": [one.split()[-1] for one in first],
        },
    )
    return draw([bars], layout)


def _bars(
    names: Sequence[str],
    heights: Float[np.ndarray, " L"],
    places: Float[np.ndarray, " L"],
    colour: str,
    title: str,
) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": title,
        "x": list(names),
        "y": heights,
        "marker": {"color": colour},
        "text": [f"{place:g}" for place in places],
        "textposition": "none",
        "hovertemplate": "%{x}: %{y:.3g}, rank %{text}<extra></extra>",
    }


def _ranks(bars: dict[str, Any], position: tuple[str, str]) -> dict[str, Any]:
    """The ranks at the bars' ends: `position` (top or bottom) of those above zero, and below."""
    places = [f"{position[int(height < 0)]} center" for height in bars["y"]]
    axes = {name: bars[name] for name in ("xaxis", "yaxis") if name in bars}
    few = len(written(len(places))) == len(places)
    texts = [rank if few or float(rank) <= _FIRST_RANKS else "" for rank in bars["text"]]
    return words(bars["x"], [*bars["y"]], texts, places) | axes


def _limits(heights: Float[np.ndarray, " L"]) -> list[float]:
    """From below the lowest bar to above the highest, with room for the ranks."""
    low, high = min(0.0, float(heights.min())), max(0.0, float(heights.max()))
    room = 0.3 * (high - low or 1.0)
    return [low - room if low < 0 else low, high + room]
