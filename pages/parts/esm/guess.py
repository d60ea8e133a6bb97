"""The first section of the protein page: one residue hidden, the model's answer, or a vote."""

import math

import numpy as np
import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.figures.protein_guess import probability_bars
from core.protein.cards import TRB_MINI
from core.protein.chain import Chain, default_chain
from core.protein.guess import Guess, Guesser, guess
from core.protein.limits import foreign_warning
from core.protein.yardstick import yardsticks
from pages.parts.downloads import show_figure
from pages.parts.esm import words
from pages.parts.esm.choose import OPENED, VOTE, choose, hidden, show_strip, usual_position
from pages.parts.esm.weights import guesser

_BALLOT = "_e_ballot"
_IN_NUMPY = (
    " This one guess is computed in NumPy (core/protein/in_numpy.py): the same model and weights, "
    "equal to fair-esm's own forward pass, without waiting for PyTorch."
)


@st.fragment(key="e_guess")
def guess_section(chain: Chain, model_name: str) -> None:
    """The chain, the choice of a residue, and the answer. Only this redraws on a click."""
    usual = usual_position(chain)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        strip, choices = st.container(), st.container()
        with choices:
            position = choose(chain, usual)
        with strip:
            show_strip(chain, position)
        if not hidden(chain, position):
            _published(chain, position)
    with right:
        _answer(chain, model_name, position)


def _answer(chain: Chain, model_name: str, position: int) -> None:
    if hidden(chain, position):
        _ballot(chain, position)
        return
    model = guesser(model_name, key="guess")
    if model is None:
        return
    answer = _guess(model, chain, model_name, chain.sequence, position)
    vote = st.session_state.get(f"{_BALLOT}_{position}") if st.session_state.get(VOTE) else None
    _sentence(answer, model_name)
    _warn_if_foreign(chain, model_name)
    if vote:
        place = [letter for letter, _ in answer.top(20)].index(vote) + 1
        st.markdown(f"Your vote: **{vote}**, number {place} in its list.")
    chance = _chance(chain, position)
    figure = probability_bars(
        AMINO_ACIDS, answer.probabilities, answer.residue, voted=vote, reference=chance
    )
    listed = ", ".join(f"{letter} {p:.3f}" for letter, p in answer.top(5))
    show_figure(
        figure,
        key="e_bars",
        alt=f"Probabilities of the 20 residues at {words.residue_name(chain, position)} from "
        f"{answer.model}: {listed}; the true residue {answer.residue} has {answer.p_true:.3f}."
        + (f" Diamonds: {chance[0]}." if chance else ""),
        table=_bars_table(answer, chance),
        code=words.guess_code(chain, model_name, position),
    )


@st.cache_data(max_entries=1000, show_spinner=False)
def _guess(_model: Guesser, _chain: Chain, model_name: str, letters: str, position: int) -> Guess:
    """Computed once for all visitors: a vote or a reveal asks again for the same."""
    return guess(_model, _chain, position)


def _warn_if_foreign(chain: Chain, model_name: str) -> None:
    if warning := foreign_warning(chain, model_name):
        st.caption(f":material/warning: {warning}")


def _chance(chain: Chain, position: int) -> tuple[str, np.ndarray] | None:
    """What recombination alone says here, where the shipped table knows it."""
    known, place = yardsticks(chain), chain.numbers(position).cdr3
    if not known or place is None:
        return None
    return "recombination alone (yardstick)", known[0].probabilities[place - 1]


def _bars_table(answer: Guess, chance: tuple[str, np.ndarray] | None) -> dict[str, np.ndarray]:
    order = np.argsort(-answer.probabilities)
    columns = {"residue": np.array(list(AMINO_ACIDS)), answer.model: answer.probabilities}
    if chance:
        columns[chance[0]] = chance[1]
    return {name: column[order] for name, column in columns.items()}


def _sentence(answer: Guess, model_name: str) -> None:
    first, p_first = answer.top(1)[0]
    if answer.rank:
        truth = (
            f"The true **{answer.residue}** is number {answer.rank} in its list: "
            f"**p({answer.residue}) = {answer.p_true:.3f}**, −log p = {answer.surprise:.2f}."
        )
    else:
        truth = f"{answer.residue}, which stands there, is not one of the 20."
    st.markdown(
        f"**{answer.model}** cannot see residue {answer.position} and says **{first}** first "
        f"({p_first:.3f}). {truth} Entropy {answer.entropy_bits:.2f} of "
        f"{math.log2(len(AMINO_ACIDS)):.2f} bits.",
        help="−log p(true) is what training made small. Entropy: 0 bits is sure, the largest "
        "value is no idea at all." + (_IN_NUMPY if model_name == TRB_MINI.name else ""),
    )
    if answer.outside >= 0.0005:
        st.caption(f"The model put {answer.outside:.3f} on tokens other than the 20 residues.")


def _published(chain: Chain, position: int) -> None:
    numbers = chain.numbers(position)
    if chain.sequence != default_chain().sequence or numbers.cdr3 not in words.PUBLISHED:
        return
    letter, p_true, top = words.PUBLISHED[numbers.cdr3]
    listed = ", ".join(f"{name} {p:.2f}" for name, p in top)
    st.info(
        f"Published, {words.PUBLISHED_MODEL}, same chain, same hidden residue: p({letter}) = "
        f"{p_true:.3f}; top of its list {listed}. Not computed here.",
        icon=":material/menu_book:",
    )


def _ballot(chain: Chain, position: int) -> None:
    st.markdown(
        f"Residue {position} ({chain.region_at(position)}) is hidden from the model. "
        "**What will it put first, and how sure will it be?** Vote, then press Reveal."
    )
    st.pills(
        "Your vote", list(AMINO_ACIDS), key=f"{_BALLOT}_{position}", persist_state="page", wrap=True
    )
    st.button(
        "Reveal",
        icon=":material/visibility:",
        shortcut="v",
        on_click=_reveal,
        args=(chain.sequence, position),
    )


def _reveal(sequence: str, position: int) -> None:
    st.session_state[OPENED] = (sequence, position)
