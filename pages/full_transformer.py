"""The encoder-decoder: a drawing to click on, then one chapter at a time."""

from collections.abc import Callable

import streamlit as st

from core.transformer.tour import Sizes
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

CHAPTERS: dict[str, Callable[[Sizes, str], None]] = {
    "Positions": positions.show,
    "Masks": masks.show,
    "Weights": weights.show,
    "Depth": depth.show,
    "Cross-attention": cross.show,
    "Decoding": decoding.show,
    "Checks": checks.show,
}

open_page("full_transformer", "Click a box of the drawing.")
top, picture, chooser, story = st.container(), st.container(), st.container(), st.container()
with top:
    words, settings = st.columns([3, 2], vertical_alignment="bottom")
    with words:
        sequence = sequence_box().sequence
with chooser:
    st.subheader("Look closer", anchor=False)
    chapter = drawing.choose_chapter(list(CHAPTERS))
# The sliders stand where they matter most: beside the count of weights, else out of the way.
with story if chapter == "Weights" else settings:
    sizes = weights.choose_sizes(sequence, folded=chapter != "Weights")
with picture:
    drawing.show(sizes, sequence)
with story:
    CHAPTERS[chapter](sizes, sequence)
    drawing.next_chapter(chapter, list(CHAPTERS))
