"""The story in four tables, every line with a number measured as the table is opened."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.alphabet import DEFAULT_SEQUENCE
from core.traps.families import REASONS, families
from core.traps.parts import parts
from core.traps.shown import Shown
from core.traps.tricks import tricks
from pages.parts.downloads import downloads
from pages.parts.traps.words import check_link

DROPOUT = """\
**Where dropout sits:** on the attention weights, on the activations inside the feed-forward
network, on each sublayer's output before it is added to the residual, and on embeddings plus
positions."""
CODE = """\
from core.traps.{module} import {function}

for line in {function}:
    print(line)
"""


def _shown(lines: tuple[Shown, ...], name: str) -> pd.DataFrame:
    rows = [(line.name, line.role, line.measured) for line in lines]
    return pd.DataFrame(rows, columns=[name, "What it does", "Measured now"])


def _families() -> pd.DataFrame:
    names = {
        "name": "Kind",
        "attention": "Attention",
        "trained_to": "Trained to",
        "examples": "Examples",
        "good_for": "Good for",
        "looks": f"Looks allowed, {len(DEFAULT_SEQUENCE)} letters",
    }
    lines = [vars(family) | {"looks": looks} for family, looks in families()]
    return pd.DataFrame(lines).rename(columns=names)


def _reasons() -> pd.DataFrame:
    names = {"because": "Because", "instead_of": "Instead of", "experiment": "See it under"}
    return pd.DataFrame(REASONS).rename(columns=names)


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str, str]] = {
    "Parts and roles": (lambda: _shown(parts(), "Part"), "parts", "parts()"),
    "Three families": (_families, "families", "families()"),
    "Why they won": (_reasons, "families", "REASONS"),
    "Training tricks": (lambda: _shown(tricks(), "Trick"), "tricks", "tricks()"),
}


@st.fragment
def show() -> None:
    """One table at a time."""
    first = next(iter(TABLES))
    check_link({"x_table": ("table", lambda text: text in TABLES)})
    chosen = st.segmented_control(
        "Table", list(TABLES), default=first, required=True, key="x_table", bind="query-params"
    )
    name = chosen if chosen in TABLES else first
    build, module, function = TABLES[name]
    table = build()
    st.table(table.set_index(table.columns[0]))
    if name == "Training tricks":
        st.markdown(DROPOUT)
        st.page_link(
            "pages/training.py",
            label="Switch them off one by one on the training page",
            icon=":material/show_chart:",
        )
    code = CODE.format(module=module, function=function).replace(
        f"import {function}", f"import {function.removesuffix('()')}"
    )
    downloads(f"traps_{name.lower().replace(' ', '_')}", table=table, code=code)
