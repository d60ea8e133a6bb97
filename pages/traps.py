"""Four myths, two measurements, a self-check: one of them on the screen at a time."""

from collections.abc import Callable

import streamlit as st

from pages.parts import (
    traps_alphabets,
    traps_importance,
    traps_measured,
    traps_order,
    traps_questions,
    traps_tables,
    traps_weights,
)
from pages.parts.frame import open_page
from pages.parts.traps_words import check_link

PARTS: dict[str, Callable[[], None]] = {
    "Importance": traps_importance.show,
    "Order": traps_order.show,
    "Weights": traps_weights.show,
    "Any tokens": traps_alphabets.show,
    "Forgetting": traps_measured.show_forgetting,
    "Cost": traps_measured.show_cost,
    "Self-check": traps_questions.show,
    "In short": traps_tables.show,
}
FIRST = next(iter(PARTS))

open_page("traps", "Read the myth, then change the head or the sequence.")
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
