"""Choosing the residue to hide: the chain as letters, pills for the CDR3, a number, the vote."""

import streamlit as st

from core.figures.palette import VERMILION
from core.figures.protein_tracks import chain_strip
from core.protein.chain import Chain
from pages.parts.downloads import show_figure
from pages.parts.esm import words

AT, PICK, VOTE, OPENED, _LAST = "e_at", "_e_pick", "e_vote", "_e_opened", "_e_clicked"
_USUAL, _HELD = "_e_usual", "_e_vote_held"


def usual_position(chain: Chain) -> int:
    """Where to begin in this chain: its CDR3's sixth residue, or its middle.

    What was never chosen moves there with a new chain, and so does what lies outside it.
    """
    positions = chain.cdr3_positions
    usual = positions[min(5, len(positions) - 1)] if positions else (len(chain) + 1) // 2
    at, before = st.session_state.get(AT), st.session_state.get(_USUAL, usual)
    st.session_state[_USUAL] = usual
    if at is not None and (at == before != usual or not 1 <= at <= len(chain)):
        st.session_state[AT] = usual
    return usual


def choose(chain: Chain, usual: int) -> int:
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
    held = vote.toggle(
        "Hold a vote",
        key=VOTE,
        bind="query-params",
        help="The answer stays hidden until you press Reveal (key V).",
    )
    if held != st.session_state.get(_HELD, held):
        st.session_state[_HELD] = held
        st.rerun()  # the sections below open and close with it
    st.session_state[_HELD] = held
    if chain.cdr3_positions:
        with pills:
            _cdr3_pills(chain, position)
    return position


def _cdr3_pills(chain: Chain, position: int) -> None:
    st.session_state[PICK] = position if position in chain.cdr3_positions else None
    hide = hidden(chain, position)
    st.pills(
        "Hide a residue of the CDR3",
        list(chain.cdr3_positions),
        key=PICK,
        format_func=lambda p: _pill(chain, p, hide=hide and p == position),
        on_change=_picked,
    )


def _pill(chain: Chain, position: int, *, hide: bool) -> str:
    letter = "?" if hide else chain.sequence[position - 1]
    return f"{letter}{chain.numbers(position).cdr3}"


def _picked() -> None:
    if st.session_state[PICK] is not None:
        st.session_state[AT] = st.session_state[PICK]


def show_strip(chain: Chain, position: int) -> None:
    """The chain as letters; a click on one chooses it."""
    hide = hidden(chain, position)
    names = words.residue_names(chain)
    names[position - 1] = words.residue_name(chain, position, hide=hide)
    figure = chain_strip(
        chain.sequence, words.regions(chain), names, hidden=position if hide else None
    )
    parts = ", ".join(f"{r.name} {r.start} to {r.end}" for r in chain.regions)
    show_figure(
        figure,
        key="e_strip",
        alt=f"The chain's {len(chain)} residues, {parts}; the hidden one is framed.",
        table=lambda: _chain_table(chain),
        code=words.strip_code(chain),
        on_select=_clicked,
    )
    # Plotly would draw all letters anew to move one frame, so the page's style sheet moves it.
    letter = f".st-key-e_strip .scatterlayer .point:nth-of-type({position})"
    st.html(
        f"<style>{letter} {{stroke: {VERMILION} !important; stroke-width: 3px !important; "
        "stroke-opacity: 1 !important; opacity: 1 !important}}</style>"
    )


def _clicked() -> None:
    """A letter was clicked; the chart reports a second click on one letter as no letter at all."""
    points = st.session_state["e_strip"].selection.points
    if points:
        st.session_state[_LAST] = int(points[0]["customdata"][1])
    if _LAST in st.session_state:
        st.session_state[AT] = st.session_state[_LAST]


def _chain_table(chain: Chain) -> dict[str, list]:
    positions = range(1, len(chain) + 1)
    numbers = [chain.numbers(position) for position in positions]
    return {
        "position": list(positions),
        "residue": list(chain.sequence),
        "region": [chain.region_at(position) for position in positions],
        "cdr3": [n.cdr3 for n in numbers],
        "imgt": [n.imgt for n in numbers],
    }


def hidden(chain: Chain, position: int) -> bool:
    """Whether the answer for this residue is to stay hidden."""
    opened = st.session_state.get(OPENED) == (chain.sequence, position)
    return bool(st.session_state.get(VOTE)) and not opened
