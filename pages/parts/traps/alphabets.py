"""Trap 4: any sequence of tokens; the reverse task on another alphabet, in its own process."""

import pandas as pd
import streamlit as st

from core.figures.traps_weights import weight_shares
from core.runs import store
from core.runs.store import Run
from core.runs.supervisor import Supervisor
from core.settings import read_settings
from core.traps.alphabets import ALPHABETS, OWN, Alphabet, own_alphabet
from core.written import percent
from pages.parts.downloads import show_figure
from pages.parts.traps.run import watch
from pages.parts.traps.words import check_link, myth
from pages.parts.visitor import key_for, visitor_key

_RUN = "_traps_run"
NOTES = "CDEFGAB"  # the notes of a scale
CODE = """\
from core.traps.alphabets import ALPHABETS, own_alphabet

alphabets = (*ALPHABETS, own_alphabet("{letters}"))
for alphabet in alphabets:
    print(alphabet.name, len(alphabet.vocabulary), alphabet.blocks, alphabet.ends)


# And to train one of them (400 steps), event by event:
# from core.training.engine import train
# for event in train(alphabets[-1].recipe): print(event)
"""


def show() -> None:
    """What an alphabet changes in the model, and a training run over it."""
    myth(
        "Transformers are for language.",
        "For any sequence of tokens: residues, nucleotides, digits. Only the vocabulary differs.",
    )
    names = [*(alphabet.name for alphabet in ALPHABETS), OWN]
    check_link(
        {
            "x_abc": ("alphabet", lambda text: text in names),
        }
    )
    chosen = st.segmented_control(
        "Alphabet", names, default=names[1], required=True, key="x_abc", bind="query-params"
    )
    alphabet = _own() if chosen == OWN else ALPHABETS[names.index(chosen or names[1])]
    supervisor = Supervisor(read_settings())
    run = _run_of(supervisor, alphabet)
    mine = st.session_state[_RUN].values()
    check_link({"x_run": ("run", lambda text: run is not None or _run_number(text) in mine)})
    _start_bar(supervisor, alphabet, run)
    if run is None:
        _shares(alphabet)
    else:
        st.fragment(watch, run_every=None if run.is_over else 1.0)(supervisor, run.id, run.is_over)


def _own() -> Alphabet:
    text = st.text_input(
        "Letters or digits, each once", NOTES, key="x_letters", bind="query-params"
    )
    try:
        return own_alphabet(text or "")
    except ValueError as problem:
        st.error(f"{problem} Showing {NOTES}.", icon=":material/error:")
        return own_alphabet(NOTES)


def _shares(alphabet: Alphabet) -> None:
    shown = ALPHABETS if alphabet in ALPHABETS else (*ALPHABETS, alphabet)
    ends = [a.ends / (a.blocks + a.ends) for a in shown]
    st.markdown(
        f"#### {percent(min(ends), 1)} to {percent(max(ends), 1)} of the weights know the "
        f"alphabet\nThe {ALPHABETS[0].blocks:,} weights of the blocks have the same shapes for "
        f"all {len(shown)}; only embeddings and output grow with the "
        f"{len(alphabet.vocabulary)} tokens (PAD, BOS, EOS and {alphabet.vocabulary.letters})."
    )
    counts = {
        "Encoder and decoder": [a.blocks for a in shown],
        "Embeddings and output": [a.ends for a in shown],
    }
    labels = [f"{a.name}, {len(a.vocabulary)} tokens" for a in shown]
    show_figure(
        weight_shares(labels, counts),
        key="traps_alphabets",
        alt="; ".join(
            f"{label}: {blocks:,} weights in the blocks, {ends:,} in embeddings and output"
            for label, blocks, ends in zip(labels, *counts.values(), strict=True)
        ),
        table=lambda: pd.DataFrame({"alphabet": labels, **counts}),
        code=CODE.format(letters=alphabet.vocabulary.letters),
    )


def _run_of(supervisor: Supervisor, alphabet: Alphabet) -> Run | None:
    """The run of this alphabet that this visitor started, or the one that the link names."""
    started: dict[str, int] = st.session_state.setdefault(_RUN, {})
    asked = st.query_params.get("x_run", "")
    run_id = started.get(alphabet.name) or _run_number(asked)
    if run_id is None:
        return None
    with supervisor.reading() as db:
        run = store.get(db, run_id)
    if run is not None and run.recipe.letters == alphabet.vocabulary.letters:
        return run
    return None


def _things(alphabet: Alphabet) -> str:
    return "your letters" if alphabet.name == OWN else alphabet.name.lower()


def _run_number(text: str) -> int | None:
    # Nine digits at most: SQLite refuses numbers beyond 64 bits with an error, not an answer.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def _start_bar(supervisor: Supervisor, alphabet: Alphabet, run: Run | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if run is None or run.is_over:
            st.button(
                f"Train it to reverse {_things(alphabet)}",
                icon=":material/play_arrow:",
                on_click=_start,
                args=(supervisor, alphabet),
            )
            st.caption(
                f"{alphabet.recipe.steps} steps of the sprint recipe, in a process of its own; "
                f"watch {alphabet.example} being written backwards."
            )
        else:
            st.button("Stop", icon=":material/stop:", on_click=_stop, args=(supervisor, run))
    said = st.session_state.pop("_traps_said", None)
    if said:
        st.warning(said)


def _start(supervisor: Supervisor, alphabet: Alphabet) -> None:
    try:
        run_id = supervisor.start(alphabet.recipe, alphabet.watch, visitor_key())
    except ValueError as problem:
        st.session_state["_traps_said"] = str(problem)
        return
    st.session_state[_RUN][alphabet.name] = run_id
    st.query_params["x_run"] = str(run_id)


def _stop(supervisor: Supervisor, run: Run) -> None:
    try:
        supervisor.command(run.id, "stop", key_for(supervisor, run))
    except ValueError as problem:
        st.session_state["_traps_said"] = str(problem)
