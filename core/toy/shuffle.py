"""Without positions attention reads a bag of letters: shuffled input, the same vectors shuffled.

In: a sequence and edits. Out: a ShuffleProof with the two largest differences, measured.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.toy.model import run_toy
from core.toy.what_if import UNTOUCHED, WhatIf


@dataclass(frozen=True)
class ShuffleProof:
    """`order[i]` is where residue i of the shuffled sequence came from, counted from 0.

    The differences compare the shuffled sequence's outputs with the outputs shuffled.
    """

    order: tuple[int, ...]
    shuffled: str
    without_positions: float
    with_positions: float


def shuffle_proof(sequence: str, seed: int, what_if: WhatIf = UNTOUCHED) -> ShuffleProof:
    """Shuffle `sequence` with a private generator and compare outputs, positions off and on.

    Edits of weights and switches are kept; swaps must already be in `sequence`, and the causal
    mask is left out: it knows the order by itself.
    """
    order = np.random.default_rng(seed).permutation(len(sequence))
    shuffled = "".join(sequence[index] for index in order)
    kept = replace(what_if, swaps=(), causal=False)
    differences = []
    for positions in (False, True):
        edits = replace(kept, positions=positions)
        plain, mixed = run_toy(sequence, edits).output, run_toy(shuffled, edits).output
        differences.append(float(np.abs(mixed - plain[order]).max()))
    return ShuffleProof(tuple(int(index) for index in order), shuffled, *differences)
