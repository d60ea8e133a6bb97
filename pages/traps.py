"""Four myths, two measurements, a self-check: one of them on the screen at a time."""

from collections.abc import Callable

import streamlit as st

from pages.parts.frame import open_page
from pages.parts.story import choose_part, next_part
from pages.parts.traps import (
    alphabets,
    importance,
    measured,
    order,
    questions,
    tables,
    weights,
)

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


@st.fragment
def story() -> None:
    """The experiment that is open; another one is opened without drawing the frame again."""
    part = choose_part("Experiment", list(PARTS), "x")
    PARTS[part]()
    next_part(part, list(PARTS), "x")


open_page("traps", "Read the myth, then change the head or the sequence.")
story()
