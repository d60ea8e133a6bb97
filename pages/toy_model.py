"""The toy model: four heads set by hand read one sequence, every number visible and editable."""

import streamlit as st

from pages.parts.controls import sequence_box
from pages.parts.frame import open_page
from pages.parts.toy.block import whole_block
from pages.parts.toy.chapters import bag_of_letters, same_letters, slow_wave, vectors
from pages.parts.toy.edits import read_edits
from pages.parts.toy.experiments import against_pytorch, square_root
from pages.parts.toy.ghost import ghost
from pages.parts.toy.link import say_what_the_link_lacks
from pages.parts.toy.maps import STYLE, maps
from pages.parts.toy.panel import edit_panel
from pages.parts.toy.row import plane, story

open_page(
    "toy_model",
    "Click a cell of a map: its row asks, its column answers, worked out below. "
    "Dark: 0\u00a0% of a row's attention; yellow: all of it.",
)
sequence = sequence_box("Sequence (2 to 60 residues)").sequence
read_edits()
say_what_the_link_lacks(sequence)
st.html(STYLE)
left, right = st.columns(2)
with left:
    maps(sequence)
who_asks = right.container(key="toy_pick")
edits = st.container()
vectors(sequence)
with st.container(key="toy_story"):
    # Halves, because Plotly draws twice what is a third of a pixel wider than a whole number.
    sums, bars = st.columns(2)
with sums:
    story(sequence, who_asks, bars)
# After the pickers, whose choices a link may hold.
with edits:
    edit_panel(sequence)
    ghost(sequence)
for chapter in (
    plane,
    same_letters,
    bag_of_letters,
    slow_wave,
    square_root,
    whole_block,
    against_pytorch,
):
    chapter(sequence)
