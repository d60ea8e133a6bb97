"""Does the toy block know the order of a sequence? Shuffle it, with positions off and on.

In: a sequence and a seed. Out: `Shuffle`, the new order and what it changed. NumPy only.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from core.alphabet import clean_sequence
from core.toy.attention import causal
from core.toy.block import block_steps
from core.toy.residue_vectors import residue_vectors

MAX_LENGTH = 60


@dataclass(frozen=True, eq=False)
class Shuffle:
    """`order[i]` is the residue (from 0) that stands at place i after the shuffle.

    The two arrays hold |model(shuffled input) - shuffled model(input)|, a row per place.
    """

    letters: str
    order: Int[np.ndarray, " L"]
    without_positions: Float[np.ndarray, "L d_model"]
    with_positions: Float[np.ndarray, "L d_model"]

    @property
    def shuffled(self) -> str:
        return "".join(self.letters[i] for i in self.order)

    @property
    def names(self) -> tuple[str, ...]:
        """Letters with their 1-based places before the shuffle, in the shuffled order."""
        return tuple(f"{self.letters[i]}{i + 1}" for i in self.order)


def shuffle_toy(sequence: str, seed: int = 0, *, causal_mask: bool = False) -> Shuffle:
    """Shuffle the residues and compare the block's outputs with its shuffled old outputs.

    With positions on, chemistry moves and the position columns stay, as in a new sequence.
    `causal_mask` hides what comes later, which tells first from last even without positions.
    Raises SequenceError for text that is no sequence of 2 to 60 residues.
    """
    letters = clean_sequence(sequence, min_length=2, max_length=MAX_LENGTH).sequence
    order = new_order(len(letters), seed)
    shuffled = "".join(letters[i] for i in order)

    may_attend = causal(len(letters)) if causal_mask else None

    def difference(positions: bool) -> Float[np.ndarray, "L d_model"]:
        before, after = (
            block_steps(residue_vectors(s, positions=positions), may_attend=may_attend).leaving
            for s in (letters, shuffled)
        )
        return np.abs(after - before[order])

    return Shuffle(letters, order, difference(positions=False), difference(positions=True))


def new_order(length: int, seed: int) -> Int[np.ndarray, " L"]:
    """A random order of 0 to length - 1 that is never the old one (length 2 or more)."""
    random = np.random.default_rng(seed)
    old = np.arange(length)
    order = random.permutation(length)
    while (order == old).all():
        order = random.permutation(length)
    return order
