"""Two maps over a chain: the log-odds of all 20 letters at every position, and attention.

In: arrays and labels. Out: Plotly figures. Knows no model.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from core.figures.palette import DIVERGING, GREY, SEQUENTIAL, finish
from core.figures.protein_tracks import Region, with_bands


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

    The scale ends at the 98th percentile of the absolute values, so that one extreme cell
    does not bleach the rest; hover shows the uncut number.
    """
    limit = float(np.percentile(np.abs(log_odds), 98)) or 1.0
    positions = list(range(1, len(residues) + 1))
    figure = go.Figure(
        go.Heatmap(
            x=positions,
            y=list(letters),
            z=log_odds,
            zmin=-limit,
            zmax=limit,
            colorscale=DIVERGING,
            colorbar={"title": {"text": unit, "side": "right"}, "thickness": 12},
            customdata=np.tile(np.array(hover, dtype=object), (len(letters), 1)),
            hovertemplate="%{customdata}<br>%{y}: %{z:.2f}<extra></extra>",
        )
    )
    known = [(p, r) for p, r in zip(positions, residues, strict=True) if r in letters]
    figure.add_scatter(
        x=[p for p, _ in known],
        y=[r for _, r in known],
        mode="markers",
        marker={"color": "black", "size": 4, "line": {"color": "white", "width": 1}},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_yaxes(type="category", autorange="reversed", dtick=1, tickfont={"size": 12})
    figure.update_xaxes(title="position on the chain", range=[0.5, len(residues) + 0.5])
    return with_bands(finish(figure, height=470), regions)


def attention_map(
    weights: Float[np.ndarray, "n_query n_key"],
    hover: Sequence[str],
    regions: Sequence[Region],
) -> go.Figure:
    """Who looks (rows) at whom (columns) in one head; lines part the regions.

    The colour scale ends at the 99th percentile, since one strong cell would hide the rest.
    """
    n = len(weights)
    names = np.array(hover, dtype=object)
    pairs = np.dstack([np.repeat(names[:, None], n, 1), np.repeat(names[None, :], n, 0)])
    figure = go.Figure(
        go.Heatmap(
            x=list(range(1, n + 1)),
            y=list(range(1, n + 1)),
            z=weights,
            zmin=0,
            zmax=float(np.percentile(weights, 99)) or 1.0,
            colorscale=SEQUENTIAL,
            colorbar={"title": {"text": "weight", "side": "right"}, "thickness": 12},
            customdata=pairs,
            hovertemplate=(
                "from %{customdata[0]}<br>to %{customdata[1]}<br>weight %{z:.3f}<extra></extra>"
            ),
        )
    )
    for _, first, _ in regions[1:]:
        figure.add_hline(y=first - 0.5, line={"color": GREY, "width": 1})
        figure.add_vline(x=first - 0.5, line={"color": GREY, "width": 1})
    figure.update_yaxes(title="from (query)", autorange="reversed", range=[n + 0.5, 0.5])
    figure.update_xaxes(title="to (key)", range=[0.5, n + 0.5])
    return finish(figure, height=520)
