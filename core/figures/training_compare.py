"""Finished or still runs drawn over one another, and one run as a figure to keep.

In: plain arrays and names. Out: Plotly figures.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from core.figures.palette import CATEGORICAL, GREY, finish

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def overlay(
    names: Sequence[str],
    along: Sequence[Float[np.ndarray, "..."]],
    values: Sequence[Float[np.ndarray, "..."]],
    *,
    title: str,
    x_title: str = "Step",
    floors: Sequence[float] = (),
) -> go.Figure:
    """One line per run against `along` (steps or seconds); each differs in colour and in dash.

    The runs may differ in length. Equal `floors` are drawn once.
    """
    figure = go.Figure()
    for at, (name, x, y) in enumerate(zip(names, along, values, strict=True)):
        line = {
            "color": CATEGORICAL[at % len(CATEGORICAL)],
            "dash": DASHES[at % len(DASHES)],
            "width": 2.5,
        }
        figure.add_scatter(x=x, y=y, name=name, mode="lines", line=line)
    for floor in sorted({round(floor, 4) for floor in floors}):
        # Neither a colour nor, beside its own, a dash of a run.
        figure.add_hline(floor, line={"color": GREY, "dash": "dot"}, annotation_text="floor")
    figure.update_xaxes(title=x_title, rangemode="tozero", gridcolor=_faint())
    figure.update_yaxes(title=title, rangemode="tozero", gridcolor=_faint())
    figure.update_layout(legend={"orientation": "h", "y": -0.25}, showlegend=True)
    return finish(figure, height=380)


def loss_figure(
    steps: Int[np.ndarray, " n"],
    raw: Float[np.ndarray, " n"],
    smoothed: Float[np.ndarray, " n"],
    *,
    name: str,
    floor: float | None,
) -> go.Figure:
    """The loss of one run as a still figure: raw, smoothed and floor."""
    floors = [] if floor is None else [floor]
    figure = overlay(
        [f"{name}, smoothed"],
        [steps.astype(float)],
        [smoothed],
        title="Loss (nats per letter)",
        floors=floors,
    )
    figure.add_scatter(
        x=steps, y=raw, name="raw", mode="lines", opacity=0.5, line={"color": GREY, "width": 1}
    )
    return figure


def _faint() -> str:
    return "rgba(138,143,152,0.25)"
