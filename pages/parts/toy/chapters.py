"""The toy's chapters below the first screen: closed until asked for, and not computed till then."""

from collections import Counter

import numpy as np
import streamlit as st

from core.figures.toy_waves import reach
from core.figures.vectors import vector_strip
from core.toy.compare import output_shift
from core.toy.jobs import label, labels
from core.toy.model import ToyRun, run_toy
from core.toy.residue_vectors import COLUMN_MEANINGS, COLUMNS, slow_wave_period
from core.toy.shuffle import shuffle_proof
from core.toy.slow_wave import limit_sentence
from core.toy.what_if import LONGEST_SEQUENCE
from core.written import percent, typeset
from pages.parts.chapters import chapter
from pages.parts.downloads import show_figure
from pages.parts.toy.runs import OUTPUTS, runs, snippet

_NUMBERS_UP_TO = 24


@chapter("From letters to numbers: what the heads are given", "t_c1")
def vectors(sequence: str) -> None:
    """Letters to vectors: eight numbers per residue."""
    _, after = runs(sequence)
    names = labels(after.sequence)
    st.markdown(
        "Each residue becomes 8 numbers: 4 of chemistry, 4 of position, stacked. Real models "
        "**add** position to content instead; stacked, you can see which is which."
    )
    show_figure(
        vector_strip(
            [after.vectors.T], [""], COLUMNS, [names], numbers=len(names) <= _NUMBERS_UP_TO
        ),
        key="toy_vectors",
        alt=f"Eight numbers for each of {len(names)} residues; {names[0]} is "
        + ", ".join(f"{c} {v:.2f}" for c, v in zip(COLUMNS, after.vectors[0], strict=True)),
        table={"residue": names, **dict(zip(COLUMNS, after.vectors.T, strict=True))},
        code=snippet(after, "print(run.vectors.round(2))"),
    )
    st.caption("; ".join(f"**{c}** {m}" for c, m in zip(COLUMNS, COLUMN_MEANINGS, strict=True)))


@chapter("Same letter, different vectors: why context matters", "t_c3")
def same_letters(sequence: str) -> None:
    """One letter at several places: equal chemistry in, different vectors out."""
    before, after = runs(sequence)
    repeated = [letter for letter, n in Counter(after.sequence).most_common() if n > 1]
    if not repeated:
        st.info("No letter occurs twice in this sequence: nothing to compare.")
        return
    letter = st.pills("Letter", repeated, default=repeated[0], key="t_l", bind="query-params",
                      required=True)  # fmt: skip
    rows = [i for i, other in enumerate(after.sequence) if other == letter]
    spread = np.ptp(after.output[rows], axis=0)
    differing = np.flatnonzero(spread.reshape(-1, 2).max(axis=1) > 1e-9) + 1
    word = "heads" if len(differing) > 1 else "head"
    cause = f"{word} {' and '.join(map(str, differing))}" if len(differing) else "no head"
    st.markdown(
        f"**{len(rows)} times {letter}**: the same chemistry goes in. Out come vectors that differ "
        f"by up to **{spread.max():.2f}**. Told apart by {cause}: only position, or a mask, lets a "
        "head treat equal letters differently."
    )
    _in_and_out(after, rows)
    moved = output_shift(before, after)[rows].max()
    if moved > 0:
        st.caption(f"Against the untouched model these rows moved by up to {moved:.2f}.")


def _in_and_out(after: ToyRun, rows: list[int]) -> None:
    names, out = [label(after.sequence, row) for row in rows], after.output[rows]
    show_figure(
        vector_strip(
            [after.vectors[rows, :4], out],
            ["before: chemistry", "after four heads"],
            names,
            [list(COLUMNS[:4]), OUTPUTS],
        ),
        key="toy_serines",
        alt=f"Output vectors of {', '.join(names)}: "
        + "; ".join(f"{name} {np.round(row, 2)}" for name, row in zip(names, out, strict=True)),
        table={"residue": names, **dict(zip(OUTPUTS, out.T, strict=True))},
        code=snippet(after, f"print(run.output[{rows}].round(2))"),
    )
    st.caption("h1.2: head 1, dimension 2; Wo is the identity here.")


@chapter("A bag of letters: what attention knows of order", "t_c4")
def bag_of_letters(sequence: str) -> None:
    """Positions off: a shuffled sequence gives the same vectors, shuffled. Measured, not said."""
    _, after = runs(sequence)
    seed = st.number_input("Shuffle number", 0, 9999, 0, key="t_s", bind="query-params", width=180)
    proof = shuffle_proof(after.sequence, min(9999, max(0, int(seed))), after.what_if)
    st.markdown(f"`{after.sequence}` shuffled is `{proof.shuffled}`.")
    off, on = st.columns(2)
    off.metric(
        "Largest difference, positions off", typeset(proof.without_positions, ".1e"), border=True
    )
    on.metric("Largest difference, positions on", f"{proof.with_positions:.2f}", border=True)
    st.markdown(
        "Compared: the outputs of the shuffled sequence, and the outputs of the original put into "
        "the shuffled order. Without positions they are the same numbers to rounding: attention "
        "sees **which** letters are there, never **where**."
    )
    with st.popover("See the code", icon=":material/code:", type="tertiary"):
        st.code(
            "from core.toy.shuffle import shuffle_proof\n\n"
            f'print(shuffle_proof("{after.sequence}", {int(seed)}))'
        )


@chapter("How far the slow wave reaches, and where it repeats", "t_c5")
def slow_wave(sequence: str) -> None:
    """The slow wave repeats: how heads 3 and 4 see a long sequence."""
    period = slow_wave_period()
    _, after = runs(sequence)
    long_run = run_toy((sequence * LONGEST_SEQUENCE)[:LONGEST_SEQUENCE])
    middle = LONGEST_SEQUENCE // 2
    row = long_run.steps[2].weights[middle]
    distances = np.arange(LONGEST_SEQUENCE) - middle
    sentence = limit_sentence(after) or (
        f"Your {len(after.sequence)} residues are too few to be fooled. "
        f"Repeated to {LONGEST_SEQUENCE}, residue {middle + 1} gives its true neighbour only "
        f"{percent(row[middle - 1])}; {percent(row[np.abs(distances + 1) > period / 2].sum())} "
        "goes to places about a whole period away."
    )
    st.markdown(sentence)
    marks = [-1 + turn * period for turn in range(-1, 2)]
    show_figure(
        reach(distances, row, marks),
        key="toy_reach",
        alt=f"Head 3, residue {middle + 1} of {LONGEST_SEQUENCE}: {percent(row[middle - 1])} to "
        f"the previous residue, {percent(row[middle - 20])} to the one 20 before.",
        table={"distance": distances, "weight": row},
        code=(
            "from core.toy.model import run_toy\n\n"
            f'long = ("{sequence}" * {LONGEST_SEQUENCE})[:{LONGEST_SEQUENCE}]\n'
            f"print(run_toy(long).steps[2].weights[{middle}].round(3))"
        ),
    )
    st.caption(
        f"Dotted: the target, one step back, and the same point of the wave {period:.2f} residues "
        "either side. Real models use many frequencies, so that no two places look alike."
    )
