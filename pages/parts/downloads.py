"""Every figure is shown through here, so that each has alt text and a download row."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.palette import Drawing

# Pandas takes longer to load than a page to open, and only a download needs it here.
if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    Columns = pd.DataFrame | Mapping[str, Sequence]
    Table = Columns | Callable[[], Columns]


def show_figure(
    figure: "go.Figure",
    *,
    key: str,
    alt: str,
    table: "Table | None" = None,
    code: str | None = None,
    on_select: "str | Callable[[], None]" = "ignore",
) -> "object":
    """Draw `figure` with its alt text, and below it one button that opens the downloads.

    `table` is the figure's data, by columns (or a function that builds it when asked for), `code` a
    runnable snippet that prints the same numbers. The camera in the figure's own bar saves
    an SVG. Returns what `st.plotly_chart` returns (the selection, when `on_select` is set).
    """
    config = {
        "displaylogo": False,
        "displayModeBar": "hover",
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "svg", "filename": key},
    }
    chosen = st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        config=config,
        on_select=on_select,
        selection_mode="points",
        theme=None if isinstance(figure, Drawing) else "streamlit",
    )
    downloads(key, figure=figure, table=table, code=code)
    return chosen


def downloads(
    key: str,
    *,
    figure: "go.Figure | None" = None,
    table: "Table | None" = None,
    code: str | None = None,
) -> None:
    """The row under a figure or table: CSV, standalone HTML, and the code for it.

    What it holds is sent once it is opened, which runs the section around it once more: figures
    that are the same stay as they are. A fragment of its own would cost every redraw of every
    figure more than all of the row.
    """
    row = st.popover(
        "Download or see the code",
        icon=":material/download:",
        type="tertiary",
        key=f"{key}_more",
        on_change="rerun",
    )
    if not row.open:
        return
    if table is not None:
        _download(row, "Data (CSV)", f"{key}.csv", "text/csv", lambda: _csv(table))
    if figure is not None:
        page = partial(figure.to_html, include_plotlyjs=True)
        _download(row, "Figure (HTML, opens offline)", f"{key}.html", "text/html", page)
        row.caption("For SVG: the camera in the figure's own bar.")
    if code is not None:
        row.code(code, language="python")


def _download(
    row: DeltaGenerator, label: str, file_name: str, mime: str, made: Callable[[], str]
) -> None:
    row.download_button(
        label,
        data=made,
        file_name=file_name,
        mime=mime,
        key=file_name.replace(".", "_"),
        on_click="ignore",
    )


def _csv(table: "Table") -> str:
    import pandas as pd

    return pd.DataFrame(table() if callable(table) else table).to_csv(index=False)
