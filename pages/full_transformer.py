"""The encoder-decoder: a drawing to click on, then one chapter at a time."""

from collections.abc import Callable

import streamlit as st

from core.transformer.shape import Sizes
from pages.parts.controls import sequence_box
from pages.parts.frame import open_page
from pages.parts.full import (
    checks,
    cross,
    decoding,
    depth,
    drawing,
    masks,
    positions,
    weights,
)
from pages.parts.story import choose_part, next_part

CHAPTERS: dict[str, Callable[[Sizes, str], None]] = {
    "Positions": positions.show,
    "Masks": masks.show,
    "Weights": weights.show,
    "Depth": depth.show,
    "Cross-attention": cross.show,
    "Decoding": decoding.show,
    "Checks": checks.show,
}
SLIDERS = "Weights"  # the chapter to which the sliders of the model's sizes belong


def choose() -> str:
    """The headline of the lower half and the chapter shown."""
    st.subheader("Look closer", anchor=False)
    return choose_part("Chapter", list(CHAPTERS), "f_part")


def tell(chapter: str, sizes: Sizes, sequence: str) -> None:
    """The chapter, and a way on to the next."""
    CHAPTERS[chapter](sizes, sequence)
    next_part(chapter, list(CHAPTERS), "f_part")


@st.fragment
def story(sizes: Sizes, sequence: str) -> None:
    """The lower half, redrawn alone when another chapter is chosen."""
    chapter = choose()
    if chapter == SLIDERS:
        st.rerun()  # The sliders move into the story, and the drawing follows them.
    tell(chapter, sizes, sequence)


open_page("full_transformer", "Click a box of the drawing.")
words, norms, settings = st.columns([5, 3, 4], vertical_alignment="bottom")
with words:
    sequence = sequence_box().sequence
with norms:
    pre_norm = weights.choose_placement()
picture, closer = st.container(), st.container()
# The sliders stand where they matter most: beside the count of weights, else out of the way.
beside_count = st.session_state.get("f_part", st.query_params.get("f_part")) == SLIDERS
if beside_count:
    with closer:
        choose()
with closer if beside_count else settings:
    sizes = weights.choose_sizes(sequence, pre_norm=pre_norm, folded=not beside_count)
with picture:
    drawing.show(sizes, sequence)
with closer:
    if beside_count:
        tell(SLIDERS, sizes, sequence)
    else:
        story(sizes, sequence)
