"""The toy's runs on the page: the ghost, the edited run, what is asked, and code that repeats."""

from functools import lru_cache

import streamlit as st

from core.toy.model import ToyRun, run_toy
from core.toy.what_if import encode
from pages.parts.toy.edits import current_edits

OUTPUTS = [f"h{head}.{dimension}" for head in range(1, 5) for dimension in (1, 2)]

# Every part of the page asks for the same two runs; they are only read.
_run = lru_cache(maxsize=64)(run_toy)


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
    return _run(sequence), _run(sequence, current_edits().fitted(sequence))


def asked(before: ToyRun) -> tuple[int, int]:
    """Head and query as chosen, counted from 0; at first the most decided row of head 1."""
    query = st.session_state.get("t_r") or most_decided(before) + 1
    head = st.session_state.get("t_h") or 1
    return head - 1, min(query, len(before.sequence)) - 1


def most_decided(run: ToyRun) -> int:
    """The row of head 1 with the largest weight, counted from 0."""
    return int(run.steps[0].weights.max(axis=1).argmax())


def followed(run: ToyRun, head: int, query: int) -> tuple[int, bool]:
    """The key to follow, counted from 0, and whether it is the one that was chosen.

    None chosen means the strongest; so does one that the mask hides.
    """
    steps = run.steps[head]
    chosen = min(st.session_state.get("t_k") or 0, len(run.sequence)) - 1
    if chosen >= 0 and steps.may_attend[query, chosen]:
        return chosen, True
    return int(steps.weights[query].argmax()), chosen < 0


def ask_next(head: int, query: int, key: int | None) -> None:
    """`ask` once the story is drawn again: for buttons.

    With the redraw that a button's callback asks for, Streamlit sends the browser's old choices.
    """
    st.session_state["_toy_ask_next"] = head, query, key


def take_what_is_asked() -> None:
    """What a button asked for. Before the widgets of the story."""
    waiting = st.session_state.pop("_toy_ask_next", None)
    if waiting is not None:
        ask(*waiting)


def ask(head: int, query: int, key: int | None = None) -> None:
    """Choose a head, a query and a key (from 0; None: the strongest), as if in their widgets."""
    chosen = {"t_h": head + 1, "t_r": query + 1, "t_k": 0 if key is None else key + 1}
    st.session_state.update(chosen)
