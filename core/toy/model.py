"""The whole toy on one sequence: letters, vectors, four heads, their blends, with edits applied.

In: a sequence and a WhatIf. Out: ToyRun. The ghost against which edits are shown is the run
of the same sequence with `UNTOUCHED`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.toy.attention import AttentionSteps, causal
from core.toy.block import BlockSteps, block_steps
from core.toy.heads import Head, attend_each, concatenate
from core.toy.residue_vectors import residue_vectors
from core.toy.what_if import UNTOUCHED, WhatIf, edited_heads, edited_sequence


@dataclass(frozen=True, eq=False)
class ToyRun:
    """One pass: `output` is the heads' blends side by side (Wo the identity)."""

    sequence: str
    what_if: WhatIf
    vectors: Float[np.ndarray, "L 8"]
    heads: tuple[Head, ...]
    steps: tuple[AttentionSteps, ...]
    output: Float[np.ndarray, "L 8"]


def run_toy(sequence: str, what_if: WhatIf = UNTOUCHED) -> ToyRun:
    """Apply the edits and let all four heads read. Raises SequenceError for a bad sequence."""
    fitted = what_if.fitted(sequence)
    letters = edited_sequence(sequence, fitted)
    vectors = residue_vectors(letters, positions=fitted.positions)
    heads = edited_heads(fitted)
    may_attend = causal(len(letters)) if fitted.causal else None
    steps = attend_each(vectors, heads, scale=fitted.scale, may_attend=may_attend)
    return ToyRun(letters, fitted, vectors, heads, steps, concatenate(steps, fitted.muted))


def run_block(run: ToyRun) -> BlockSteps:
    """The same vectors and edited heads inside one block (random Wo and feed-forward)."""
    what_if = run.what_if
    return block_steps(
        run.vectors,
        run.heads,
        scale=what_if.scale,
        may_attend=causal(len(run.sequence)) if what_if.causal else None,
        muted=what_if.muted,
    )
