"""What a link to the toy page may ask for; the widgets put their usual value where it does not."""

import streamlit as st

from core.toy.heads import HEADS
from core.toy.jobs import labels
from pages.parts.links import say_what_is_damaged, whole_number
from pages.parts.toy.block import STAGES
from pages.parts.toy.edits import current_edits
from pages.parts.toy.experiments import WIDTHS
from pages.parts.toy.ghost import VIEWS
from pages.parts.toy.panel import KINDS
from pages.parts.toy.runs import runs


def say_what_the_link_lacks(sequence: str) -> None:
    """Name what the link asks for and this page has not; what was chosen since is no link's."""
    before, after = runs(sequence)
    names = labels(after.sequence)
    _rename_swapped(labels(before.sequence), names)
    _say_what_swaps_lack(len(sequence))
    shuffles = whole_number(0, 9999)
    allowed = {
        "t_h": ("head", whole_number(1, len(HEADS))),
        "t_r": ("residue that asks", names.__contains__),
        "t_k": ("residue that answers", ["strongest", *names].__contains__),
        "t_e": ("kind of edit", KINDS.__contains__),
        "t_g": ("comparison", VIEWS.__contains__),
        "t_b": ("stage", [shown for shown, _ in STAGES.values()].__contains__),
        "t_l": ("letter", after.sequence.__contains__),
        "t_s": ("shuffle number", shuffles),
        "t_d": ("draw number", shuffles),
        "t_n": ("d_k", [str(width) for width in WIDTHS].__contains__),
    }
    say_what_is_damaged(
        {key: check for key, check in allowed.items() if key not in st.session_state}
    )


def _say_what_swaps_lack(length: int) -> None:
    if any(swap.position > length for swap in current_edits().swaps):
        st.warning(
            f"A swap is left out: it names a residue beyond the {length} of this sequence.",
            icon=":material/link_off:",
        )


def _rename_swapped(before: list[str], after: list[str]) -> None:
    """A link made while its residue was swapped still calls it by the name that it had."""
    for key in ("t_r", "t_k"):
        name = st.query_params.get(key)
        if key not in st.session_state and name in before and name not in after:
            position = before.index(name)
            st.session_state[key], st.query_params[key] = position + 1, after[position]
