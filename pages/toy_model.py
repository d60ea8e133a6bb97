"""The toy model: four heads set by hand read one sequence, every number visible and editable."""

from pages.parts.controls import sequence_box
from pages.parts.frame import open_page
from pages.parts.toy.chapters import bag_of_letters, same_letters, slow_wave, vectors
from pages.parts.toy.edits import read_edits
from pages.parts.toy.experiments import against_pytorch, square_root, whole_block
from pages.parts.toy.maps import maps, story

open_page("toy_model", "Click a row of a map: that residue asks, and its row is worked out below.")
sequence = sequence_box("Sequence (2 to 60 residues)").sequence
read_edits()
vectors(sequence)
maps(sequence)
story(sequence)
for chapter in (
    same_letters,
    bag_of_letters,
    slow_wave,
    square_root,
    whole_block,
    against_pytorch,
):
    chapter(sequence)
