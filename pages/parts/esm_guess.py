"""The first section of the protein page: choose a residue, hide it, see or vote on the guess."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.figures.protein_guess import probability_bars
from core.figures.protein_tracks import chain_strip
from core.protein.chain import Chain, default_chain
from core.protein.yardstick import yardsticks
from pages.parts import esm_words as words
from pages.parts.downloads import show_figure
from pages.parts.esm_weights import model_or_offer

AT, PICK, VOTE, OPENED = "e_at", "_e_pick", "e_vote", "_e_opened"


def chosen_position(chain: Chain) -> int:
    """The chain position in the URL, kept inside the chain; its CDR3's R (or middle) at first."""
    positions = chain.cdr3_positions
    usual = positions[min(5, len(positions) - 1)] if positions else (len(chain) + 1) // 2
    at = st.session_state.get(AT)
    if at is not None and not 1 <= at <= len(chain):
        st.session_state[AT] = usual
    return usual


@st.fragment(key="e_guess")
def guess_section(chain: Chain, model_name: str) -> None:
    """The chain, the choice of a residue, and the answer. Only this redraws on a click."""
    usual = chosen_position(chain)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        strip, choices = st.container(), st.container()
        with choices:
            position = _choose(chain, usual)
        with strip:
            _strip(chain, position)
        if not _hidden(chain, position):
            _published(chain, position)
    with right:
        _answer(chain, model_name, position)


def _choose(chain: Chain, usual: int) -> int:
    """The three ways to choose. The number comes first in the code: it reads the URL."""
    pills, (number, vote) = st.container(), st.columns(2, vertical_alignment="bottom")
    position = int(
        number.number_input(
            f"or any of the {len(chain)}",
            min_value=1,
            max_value=len(chain),
            value=usual,
            key=AT,
            bind="query-params",
            help="The position on the chain, from 1. A click on a letter above does the same.",
        )
    )
    vote.toggle(
        "Hold a vote",
        key=VOTE,
        bind="query-params",
        help="The answer stays hidden until you press Reveal (key V).",
    )
    if chain.cdr3_positions:
        st.session_state[PICK] = position if position in chain.cdr3_positions else None
        hide = _hidden(chain, position)
        pills.pills(
            "Hide a residue of the CDR3",
            list(chain.cdr3_positions),
            key=PICK,
            format_func=lambda p: _pill(chain, p, hide=hide and p == position),
            on_change=_picked,
        )
    return position


def _pill(chain: Chain, position: int, *, hide: bool) -> str:
    letter = "?" if hide else chain.sequence[position - 1]
    return f"{letter}{chain.numbers(position).cdr3}"


def _picked() -> None:
    if st.session_state[PICK] is not None:
        st.session_state[AT] = st.session_state[PICK]


def _strip(chain: Chain, position: int) -> None:
    hide = _hidden(chain, position)
    names = words.residue_names(chain)
    names[position - 1] = words.residue_name(chain, position, hide=hide)
    figure = chain_strip(chain.sequence, words.regions(chain), names, chosen=position, hidden=hide)
    parts = ", ".join(f"{r.name} {r.start} to {r.end}" for r in chain.regions)
    show_figure(
        figure,
        key="e_strip",
        alt=f"The chain's {len(chain)} residues, {parts}. Hidden now: "
        f"{words.residue_name(chain, position, hide=hide)}.",
        table=lambda: _chain_table(chain),
        code=words.chain_code(chain),
        on_select=_clicked,
    )


def _clicked() -> None:
    points = st.session_state["e_strip"].selection.points
    if points:
        st.session_state[AT] = int(points[0]["customdata"][1])


def _chain_table(chain: Chain) -> pd.DataFrame:
    rows = []
    for position, letter in enumerate(chain.sequence, 1):
        numbers = chain.numbers(position)
        rows.append((position, letter, chain.region_at(position), numbers.cdr3, numbers.imgt))
    return pd.DataFrame(rows, columns=["position", "residue", "region", "cdr3", "imgt"])


def _hidden(chain: Chain, position: int) -> bool:
    """Whether the answer for this residue is to stay hidden."""
    opened = st.session_state.get(OPENED) == (chain.sequence, position)
    return bool(st.session_state.get(VOTE)) and not opened


def _answer(chain: Chain, model_name: str, position: int) -> None:
    if _hidden(chain, position):
        _ballot(chain, position)
        return
    model = model_or_offer(model_name, key="guess")
    if model is None:
        return
    answer = _guess(model, chain, position)
    vote = st.session_state.get("_e_ballot") if st.session_state.get(VOTE) else None
    _sentence(answer)
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


def _warn_if_foreign(chain: Chain, model_name: str) -> None:
    if model_name == "trb-mini" and not (chain.v_gene or "").startswith("TRBV"):
        st.caption(
            ":material/warning: TRB-mini knows human beta chains only, and no TRBV gene was found "
            "in this one: what it says here means little."
        )


def _chance(chain: Chain, position: int) -> tuple[str, np.ndarray] | None:
    """What recombination alone says here, where the shipped table knows it."""
    known, place = yardsticks(chain), chain.numbers(position).cdr3
    if not known or place is None:
        return None
    return "recombination alone (yardstick)", known[0].probabilities[place - 1]


def _bars_table(answer, chance: tuple[str, np.ndarray] | None) -> pd.DataFrame:
    columns = {"residue": list(AMINO_ACIDS), answer.model: answer.probabilities}
    if chance:
        columns[chance[0]] = chance[1]
    return pd.DataFrame(columns).sort_values(answer.model, ascending=False)


def _guess(model, chain: Chain, position: int):
    from core.protein.guess import guess  # here, not above: it loads torch

    return guess(model, chain, position)


def _sentence(answer) -> None:
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
        "value is no idea at all.",
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
    st.pills("Your vote", list(AMINO_ACIDS), key="_e_ballot", persist_state="page", wrap=True)
    st.button(
        "Reveal",
        icon=":material/visibility:",
        shortcut="v",
        on_click=_reveal,
        args=(chain.sequence, position),
    )


def _reveal(sequence: str, position: int) -> None:
    st.session_state[OPENED] = (sequence, position)
