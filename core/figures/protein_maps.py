"""Two maps over a chain: the log-odds of all 20 letters at every position, and attention.

In: arrays and labels. Out: Plotly figures. Knows no model.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import DIVERGING, GREY, SEQUENTIAL, base_layout, draw
from core.figures.protein_tracks import MARGIN, Region, bands

CUT = 8.0  # nats: a letter 3,000 times less likely than another is as good as ruled out


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
    limit = min(float(np.percentile(np.abs(log_odds), 98)) or 1.0, CUT)
    positions = list(range(1, len(residues) + 1))
    heat = {
        "type": "heatmap",
        "x": positions,
        "y": list(letters),
        "z": log_odds,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {
            "title": {"text": f"{unit}, cut at ±{limit:.2g}", "side": "right"},
            "thickness": 12,
        },
        "customdata": np.tile(np.array(hover, dtype=object), (len(letters), 1)).tolist(),
        "hovertemplate": "%{customdata}<br>%{y}: %{z:.2f}<extra></extra>",
    }
    known = [(p, r) for p, r in zip(positions, residues, strict=True) if r in letters]
    dots = {
        "type": "scatter",
        "x": [p for p, _ in known],
        "y": [r for _, r in known],
        "mode": "markers",
        "marker": {"color": "black", "size": 4, "line": {"color": "white", "width": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    shapes, names = bands(regions)
    layout = base_layout(
        height=470,
        shapes=shapes,
        annotations=names,
        xaxis={"title": {"text": "position on the chain"}, "range": [0.5, len(residues) + 0.5]},
        yaxis={"type": "category", "autorange": "reversed", "dtick": 1, "tickfont": {"size": 12}},
        margin=MARGIN,
    )
    return draw([heat, dots], layout)


def attention_map(
    weights: Float[np.ndarray, "n_query n_key"],
    hover: Sequence[str],
    regions: Sequence[Region],
) -> go.Figure:
    """Who looks (rows) at whom (columns) in one head; lines part the regions.

    The colour scale ends at the 99th percentile, since one strong cell would hide the rest.
    """
    n = len(weights)
    # Names as categories, once per axis: once per cell would be a megabyte for every click.
    places = [i for i in range(n) if (i + 1) % 20 == 0]
    axis = {
        "type": "category",
        "tickvals": places,
        "ticktext": [str(i + 1) for i in places],
        "showgrid": False,
    }
    heat = {
        "type": "heatmap",
        "x": list(hover),
        "y": list(hover),
        "z": weights,
        "zmin": 0,
        "zmax": float(np.percentile(weights, 99)) or 1.0,
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": "weight", "side": "right"}, "thickness": 12},
        "hovertemplate": "from %{y}<br>to %{x}<br>weight %{z:.3f}<extra></extra>",
    }
    layout = base_layout(
        height=520,
        shapes=[line for _, first, _ in regions[1:] for line in _cross(first - 1.5)],
        xaxis={**axis, "title": {"text": "to (key)"}, "range": [-0.5, n - 0.5]},
        yaxis={**axis, "title": {"text": "from (query)"}, "range": [n - 0.5, -0.5]},
    )
    return draw([heat], layout)


def _cross(at: float) -> list[dict[str, object]]:
    """A line across and one down, through `at` on both axes."""
    look = {"type": "line", "line": {"color": GREY, "width": 1}}
    across = {"xref": "x domain", "x0": 0, "x1": 1, "y0": at, "y1": at}
    down = {"yref": "y domain", "y0": 0, "y1": 1, "x0": at, "x1": at}
    return [{**look, **across}, {**look, **down}]
