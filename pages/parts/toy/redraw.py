"""Which parts of the toy page follow from what, so that a change redraws those and no others.

The parts are fragments with these keys. A widget redraws the part it stands in by itself; call a
function of this module last in its callback when others must follow, for it ends the callback.
"""

from typing import NoReturn

import streamlit as st

MAPS, STORY, PANEL, GHOST = (f"toy_part_{name}" for name in ("maps", "story", "panel", "ghost"))
SWAP, WEIGHT, SWITCH = "Swap a residue", "Change a weight", "Switch something off"
# Chapters are open when these are true; so does the URL call them.
PLANE = "t_c2"
_ABOUT_EDITS = ("t_c1", PLANE, "t_c3", "t_c4", "t_c5", "t_c7")


def asked(*, head: bool, edits: bool) -> None:
    """Another residue or, where `head` is true, another head, chosen within the story."""
    shown = st.session_state.get("t_e") == (WEIGHT if head else SWAP)
    others = [PANEL] * shown + [GHOST] * (head and edits) + _open(PLANE)
    if others:
        st.rerun([STORY, *others])


def asked_elsewhere() -> NoReturn:
    """A head, residue or key chosen by a click on a picture."""
    st.rerun([STORY, PANEL, GHOST, *_open(PLANE)])


def edited() -> NoReturn:
    """The model or its sequence; the panel already shows what was done in it."""
    st.rerun([MAPS, GHOST, STORY, *_open(*_ABOUT_EDITS)])


def restored() -> NoReturn:
    """Everything is as it was."""
    st.rerun([MAPS, PANEL, GHOST, STORY, *_open(*_ABOUT_EDITS)])


def _open(*chapters: str) -> list[str]:
    return [f"{chapter}_part" for chapter in chapters if st.session_state.get(chapter)]
