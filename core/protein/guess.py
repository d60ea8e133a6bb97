"""Hide one residue and let the model guess it.

In: a model, a chain, a position. Out: a Guess with 20 probabilities. Knows nothing of figures,
nor whether the model runs in PyTorch or in NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain
from core.protein.readout import at_temperature, entropy_bits


@runtime_checkable
class Guesser(Protocol):
    """What can guess: `model.LanguageModel`, or `in_numpy.NumpyModel` without PyTorch."""

    @property
    def label(self) -> str: ...

    def guess_hidden(
        self, chain: Chain, positions: Sequence[int]
    ) -> tuple[Float[np.ndarray, "n 20"], Float[np.ndarray, " n"]]:
        """Probabilities of the 20 residues at each 1-based position, and the mass outside them."""


@dataclass(frozen=True)
class Guess:
    """The model's probabilities for one hidden residue, in the order of AMINO_ACIDS.

    `outside` is the probability on anything but the 20 residues, before renormalising.
    """

    model: str
    position: int
    residue: str
    probabilities: Float[np.ndarray, " 20"]
    outside: float

    @property
    def p_true(self) -> float:
        """Probability of the residue that was hidden; NaN when it is not one of the 20."""
        if self.residue not in AMINO_ACIDS:
            return float("nan")
        return float(self.probabilities[AMINO_ACIDS.index(self.residue)])

    @property
    def surprise(self) -> float:
        """-log p(true residue | the rest), in nats: what training made small."""
        return abs(float(np.log(self.p_true)))  # not -0.0 where p is 1

    @property
    def entropy_bits(self) -> float:
        """Uncertainty of the guess: 0 = sure, log2(20) = 4.32 = no idea."""
        return float(entropy_bits(self.probabilities[None])[0])

    @property
    def rank(self) -> int:
        """Place of the true residue in the list of guesses, 1 = first; 0 when not one of the 20."""
        if self.residue not in AMINO_ACIDS:
            return 0
        return 1 + int((self.probabilities > self.p_true).sum())

    def top(self, n: int = 5) -> tuple[tuple[str, float], ...]:
        """The `n` likeliest residues with their probabilities, likeliest first."""
        order = np.argsort(-self.probabilities, kind="stable")[:n]
        return tuple((AMINO_ACIDS[i], float(self.probabilities[i])) for i in order)

    def at_temperature(self, temperature: float) -> "Guess":
        """The same guess, flatter (above 1) or sharper (below 1), without calling the model."""
        warmed = at_temperature(self.probabilities[None], temperature)[0]
        return Guess(self.model, self.position, self.residue, warmed, self.outside)


def guess(model: Guesser, chain: Chain, position: int) -> Guess:
    """Replace the residue at 1-based `position` by the mask token, one pass, softmax over the 20.

    Raises ValueError for a position outside the chain.
    """
    probabilities, outside = model.guess_hidden(chain, [position])
    residue = chain.sequence[position - 1]
    return Guess(model.label, position, residue, probabilities[0], float(outside[0]))
