"""Attention received against the effect of ablation, on the toy's four heads.

In: a sequence. Out: `Importance`. NumPy only. Jain and Wallace (2019), "Attention is not
Explanation", ask the same question of trained networks.
"""

import numpy as np
from jaxtyping import Bool, Float

from core.alphabet import clean_sequence
from core.toy.heads import HEADS, attend_each, concatenate
from core.toy.model import ToyRun, run_toy
from core.traps.ranking import Importance, residue_names

MAX_LENGTH = 60


def toy_importance(sequence: str) -> Importance:
    """Importance of every residue for all the others, in the toy's multi-head attention.

    The effect is that on all four heads' blends side by side: how far the other residues'
    outputs move (mean Euclidean length) when nobody may look at this residue.

    Raises SequenceError for text that is no sequence of 2 to 60 residues.
    """
    letters = clean_sequence(sequence, min_length=2, max_length=MAX_LENGTH).sequence
    untouched = run_toy(letters)
    effect = [
        shift_of_others(untouched.output, _output_without(untouched, j), j)
        for j in range(len(letters))
    ]
    return Importance(
        "Toy model",
        residue_names(letters),
        tuple(f"Head {i}, {head.name}" for i, head in enumerate(HEADS, 1)),
        np.array([received_from_others(step.weights) for step in untouched.steps]),
        np.array(effect),
        "shift of the other outputs",
    )


def received_from_others(weights: Float[np.ndarray, "L L"]) -> Float[np.ndarray, " L"]:
    """Mean weight that the other residues (rows) put on each residue (column)."""
    others = ~np.eye(len(weights), dtype=bool)
    return np.asarray(np.where(others, weights, 0).sum(axis=0) / (len(weights) - 1))


def _output_without(run: ToyRun, removed: int) -> Float[np.ndarray, "L d_model"]:
    allowed = without(len(run.sequence), removed)
    return concatenate(attend_each(run.vectors, run.heads, may_attend=allowed))


def without(length: int, removed: int) -> Bool[np.ndarray, "L L"]:
    """Who may attend where when nobody but `removed` itself may look at it."""
    allowed = np.ones((length, length), dtype=bool)
    allowed[:, removed] = False
    allowed[removed, removed] = True
    return allowed


def shift_of_others(
    before: Float[np.ndarray, "L d_model"], after: Float[np.ndarray, "L d_model"], removed: int
) -> float:
    """Mean Euclidean distance that rows other than `removed` moved."""
    moved = np.linalg.norm(after - before, axis=1)
    return float(np.delete(moved, removed).mean())
