"""The encoder-decoder: a drawing to click on, then one chapter at a time."""

from collections.abc import Callable

import streamlit as st

from core.transformer.tour import Sizes
from pages.parts import (
    full_checks,
    full_cross,
    full_decoding,
    full_depth,
    full_drawing,
    full_masks,
    full_positions,
    full_weights,
)
from pages.parts.controls import sequence_box
from pages.parts.frame import open_page

CHAPTERS: dict[str, Callable[[Sizes, str], None]] = {
    "Positions": full_positions.show,
    "Masks": full_masks.show,
    "Weights": full_weights.show,
    "Depth": full_depth.show,
    "Cross-attention": full_cross.show,
    "Decoding": full_decoding.show,
    "Checks": full_checks.show,
}

open_page("full_transformer", "Click a box of the drawing.")
top, drawing, chooser, story = st.container(), st.container(), st.container(), st.container()
with top:
    words, settings = st.columns([3, 2], vertical_alignment="bottom")
    with words:
        sequence = sequence_box().sequence
with chooser:
    st.subheader("Look closer", anchor=False)
    chapter = full_drawing.choose_chapter(list(CHAPTERS))
# The sliders stand where they matter most: beside the count of weights, else out of the way.
with story if chapter == "Weights" else settings:
    sizes = full_weights.choose_sizes(sequence, folded=chapter != "Weights")
with drawing:
    full_drawing.show(sizes, sequence)
with story:
    CHAPTERS[chapter](sizes, sequence)
    full_drawing.next_chapter(chapter, list(CHAPTERS))
