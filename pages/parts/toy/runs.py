"""The toy's runs on the page: the ghost, the edited run, and the code that repeats them."""

import streamlit as st

from core.toy.model import ToyRun, run_toy
from core.toy.what_if import UNTOUCHED, encode
from pages.parts.toy.edits import current_edits


def snippet(run: ToyRun, body: str) -> str:
    """Runnable code, from the repository's folder, that prints what a figure shows."""
    edits = encode(run.what_if)
    original = st.session_state["_toy_sequence"]
    return (
        "from core.toy.model import run_toy\nfrom core.toy.what_if import decode\n\n"
        f'run = run_toy("{original}", decode("{edits}")[0])\n{body}'
    )


def runs(sequence: str) -> tuple[ToyRun, ToyRun]:
    """The ghost and the edited run."""
    st.session_state["_toy_sequence"] = sequence
    before, edits = run_toy(sequence), current_edits().fitted(sequence)
    return before, before if edits == UNTOUCHED else run_toy(sequence, edits)


def ask(head: int, query: int) -> None:
    """Choose a head and a query (from 0), as if they had been clicked."""
    st.session_state["t_h"], st.session_state["t_r"] = head + 1, query + 1
