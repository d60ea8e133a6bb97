"""What this is, the sequence itself, and one card per page with a number computed now.

Neither torch nor pandas is loaded here, so that the first page opens at once.
"""

from dataclasses import dataclass

import streamlit as st

from core.alphabet import DEFAULT_SEQUENCE, FIRST_LETTER_ID
from core.figures.home_sequence import sequence_tiles
from core.protein.chain import default_chain
from core.toy.block import attention_weight_count, feed_forward_weight_count
from core.toy.jobs import reading
from core.toy.model import run_toy
from core.toy.residue_vectors import COLUMNS, residue_vectors
from core.training.recipe import PAPER
from core.training.schedule import smoothing_floor
from core.transformer.parameters import total_by_formula
from core.transformer.shape import ModelShape
from core.written import percent
from pages.parts.downloads import show_figure
from pages.parts.frame import ROOMS, open_page

QUERY = 5  # R6, whose row the toy page explains
BASE_MODEL = ModelShape(src_vocab=10_000, tgt_vocab=8_000)
CODE = """\
from core.toy.residue_vectors import COLUMNS, residue_vectors

print(*COLUMNS)
print(residue_vectors("CASSIRSSYEQYF").round(2))
"""


@dataclass(frozen=True)
class Headline:
    """The number on a page's card, and what it means in one sentence."""

    number: str
    meaning: str


def headlines() -> dict[str, Headline]:
    """One computed number per page."""
    weights = run_toy(DEFAULT_SEQUENCE).steps[0].weights
    floor = smoothing_floor(PAPER.label_smoothing, FIRST_LETTER_ID + len(PAPER.letters))
    return {
        "toy_model": Headline(
            percent(weights[QUERY].max()),
            f"{reading(DEFAULT_SEQUENCE, weights, QUERY)}: opposite charges find each other.",
        ),
        "full_transformer": Headline(
            f"{total_by_formula(BASE_MODEL) / 1e6:.1f} million",
            "weights in the base model of 2017, every one of them counted.",
        ),
        "training": Headline(
            f"{floor:.3f}",
            "is where a perfect model's loss stops, not 0, because label smoothing is on.",
        ),
        "esm": Headline(
            _written_by_germline(),
            "letters of this CDR3 are germline-encodable; can a model guess the others?",
        ),
        "traps": Headline(
            f"{feed_forward_weight_count()} : {attention_weight_count()}",
            "weights of the feed-forward network against attention, in one block of the toy.",
        ),
    }


def _written_by_germline() -> str:
    chain = default_chain()
    places = chain.cdr3_positions
    return f"{sum(chain.origin(p) != 'junction' for p in places)} of {len(places)}"


def sequence_picture() -> None:
    vectors = residue_vectors(DEFAULT_SEQUENCE)
    charged = [f"{a}{i}" for i, a in enumerate(DEFAULT_SEQUENCE, 1) if vectors[i - 1, 1]]
    show_figure(
        sequence_tiles(DEFAULT_SEQUENCE, vectors),
        key="home_sequence",
        alt=f"{DEFAULT_SEQUENCE}, {len(vectors)} residues, each as {len(COLUMNS)} numbers: "
        f"hydropathy from {vectors[:, 0].min():+.2f} to {vectors[:, 0].max():+.2f}, charge "
        f"({' and '.join(charged)} are charged), polar for {int(vectors[:, 2].sum())}, aromatic "
        f"for {int(vectors[:, 3].sum())} of them, and two waves of position.",
        table={**dict(zip(COLUMNS, vectors.T, strict=True)), "residue": list(DEFAULT_SEQUENCE)},
        code=CODE,
    )


def cards() -> None:
    rooms = [room for room in ROOMS if room.name != "home"]
    numbers = headlines()
    grid = st.grid(3, border=True)
    for room in rooms:
        with grid.cell():
            st.page_link(f"pages/{room.name}.py", label=f"**{room.title}**", icon=room.icon)
            st.subheader(numbers[room.name].number, anchor=False)
            st.markdown(numbers[room.name].meaning)
            st.caption(room.help)


open_page("home", "Begin with the toy model and read from left to right.")
st.markdown(
    f"A T-cell receptor meets an influenza peptide with a loop of {len(DEFAULT_SEQUENCE)} letters, "
    f"**{DEFAULT_SEQUENCE}**, its CDR3. This one loop explains the Transformer here: first with "
    "weights set by hand, then as the full architecture, trained before your eyes, and as a "
    "protein language model. Every number comes from the code that runs here, or is labelled "
    "“published”."
)
sequence_picture()
cards()
