"""Four myths, two measurements, a self-check: one of them on the screen at a time."""

from collections.abc import Callable

import streamlit as st

from pages.parts.frame import open_page
from pages.parts.traps import (
    alphabets,
    importance,
    measured,
    order,
    questions,
    tables,
    weights,
)
from pages.parts.traps.words import check_link

PARTS: dict[str, Callable[[], None]] = {
    "Importance": importance.show,
    "Order": order.show,
    "Weights": weights.show,
    "Any tokens": alphabets.show,
    "Forgetting": measured.show_forgetting,
    "Cost": measured.show_cost,
    "Self-check": questions.show,
    "In short": tables.show,
}
FIRST = next(iter(PARTS))


@st.fragment
def story() -> None:
    """The experiment that is open; another one is opened without drawing the frame again."""
    check_link({"x": ("experiment", lambda text: text in PARTS)})
    part = st.segmented_control(
        "Experiment",
        list(PARTS),
        default=FIRST,
        required=True,
        key="x",
        bind="query-params",
        label_visibility="collapsed",
    )
    PARTS.get(part or FIRST, PARTS[FIRST])()


open_page("traps", "Read the myth, then change the head or the sequence.")
story()
