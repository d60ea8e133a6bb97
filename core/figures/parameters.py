"""Where the weights of a model sit.

In: paths ("Encoder/Layer 1/Feed-forward") and counts. Out: a Plotly treemap.
"""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.figures.palette import GREEN, GREY, ORANGE, PURPLE, SKY, base_layout, draw
from core.written import percent

_CONTAINER = "#e3e8ee"
_COLOUR = {
    "Self-attention": ORANGE,
    "Cross-attention": ORANGE,
    "Feed-forward": GREEN,
    "Norms": GREY,
    "Final norm": GREY,
    "Source embedding": PURPLE,
    "Target embedding": PURPLE,
    "Generator": SKY,
}


def weight_treemap(paths: Sequence[str], counts: Sequence[int], whole: str) -> go.Figure:
    """Areas proportional to counts, boxes inside boxes; `whole` names the outermost one."""
    totals: dict[str, int] = {whole: sum(counts)}
    for path, count in zip(paths, counts, strict=True):
        pieces = path.split("/")
        for depth in range(1, len(pieces) + 1):
            inside = "/".join(pieces[:depth])
            totals[inside] = totals.get(inside, 0) + count
    ids = list(totals)
    last = [node.rsplit("/", 1)[-1] for node in ids]
    treemap = {
        "type": "treemap",
        "ids": ids,
        "labels": last,
        "parents": [_parent(node, whole) for node in ids],
        "values": [totals[node] for node in ids],
        "branchvalues": "total",
        "marker": {"colors": [_COLOUR.get(name, _CONTAINER) for name in last]},
        "text": [percent(totals[node] / totals[whole], 1) for node in ids],
        "texttemplate": "%{label}<br>%{value:,}<br>%{text}",
        "hovertemplate": "%{id}: %{value:,} weights, %{text} of all<extra></extra>",
        "textfont": {"color": "#10151c"},
    }
    readable = {"minsize": 11, "mode": "hide"}  # what is too small to read is left to the pointer
    return draw([treemap], base_layout(height=430, uniformtext=readable))


def _parent(node: str, whole: str) -> str:
    if node == whole:
        return ""
    return node.rsplit("/", 1)[0] if "/" in node else whole
