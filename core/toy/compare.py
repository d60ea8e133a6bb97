"""An edited run against its ghost, the same sequence in the untouched model.

In: two ToyRuns of equal length. Out: differences, the largest of them, and one sentence.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.toy.jobs import label
from core.toy.model import ToyRun
from core.toy.residue_vectors import COLUMNS
from core.written import percent, typeset

# Below this a difference is rounding, not an effect of the edit.
NOTHING = 1e-12


@dataclass(frozen=True)
class LargestChange:
    """The attention weight that moved most; head, query and key count from 0."""

    head: int
    query: int
    key: int
    before: float
    after: float


def weight_difference(before: ToyRun, after: ToyRun, head: int) -> Float[np.ndarray, "L L"]:
    """After minus before, for one head's weights."""
    return after.steps[head].weights - before.steps[head].weights


def largest_change(before: ToyRun, after: ToyRun) -> LargestChange | None:
    """The weight that moved most in any head, or None if none moved."""
    moved = np.stack([weight_difference(before, after, head) for head in range(len(after.steps))])
    head, query, key = np.unravel_index(int(np.abs(moved).argmax()), moved.shape)
    if abs(moved[head, query, key]) <= NOTHING:
        return None
    was, now = (run.steps[head].weights[query, key] for run in (before, after))
    return LargestChange(int(head), int(query), int(key), float(was), float(now))


def output_shift(before: ToyRun, after: ToyRun) -> Float[np.ndarray, " L"]:
    """How far each residue's output vector moved: the length of the difference."""
    return np.linalg.norm(after.output - before.output, axis=1)


def change_sentence(before: ToyRun, after: ToyRun) -> str:
    """One sentence: the weight that moved most, and the residue whose output moved most."""
    change, shift = largest_change(before, after), output_shift(before, after)
    moved_most = int(shift.argmax())
    if shift[moved_most] <= NOTHING and change is None:
        return "Nothing moved: this edit changes no weight and no output."
    if change is None:
        weights = "No attention weight moved"
    else:
        query, key = label(after.sequence, change.query), label(after.sequence, change.key)
        weights = (
            f"Largest change: in head {change.head + 1}, {query} → {key} went from "
            f"{percent(change.before, 1)} to {percent(change.after, 1)}"
        )
    if shift[moved_most] <= NOTHING:
        return f"{weights}; no output moved."
    who = label(after.sequence, moved_most)
    return f"{weights}; the output of {who} moved most, by {shift[moved_most]:.2f}."


def edit_list(before: ToyRun, after: ToyRun) -> list[str]:
    """Every edit in words, in the order of the text form."""
    what_if = after.what_if
    words = [f"{label(before.sequence, s.position - 1)} is now {s.letter}" for s in what_if.swaps]
    words += [
        f"head {e.head + 1}: W{e.matrix}[{COLUMNS[e.row]}, {e.column + 1}] = "
        + typeset(e.value, "g")
        for e in what_if.weights
    ]
    words += [f"head {head + 1} muted" for head in sorted(what_if.muted)]
    words += ["positions off"] * (not what_if.positions)
    words += ["no division by √d_k"] * (not what_if.scale)
    return words + ["causal mask"] * what_if.causal
