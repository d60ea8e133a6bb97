"""The same Transformer on residues, nucleotides and digits: what changes is one number.

In: an alphabet. Out: a recipe for the reverse task over it, and how many weights know of it.
Knows nothing of torch.
"""

import random
from dataclasses import dataclass, replace

from core.alphabet import DEFAULT_SEQUENCE, DIGITS, NUCLEOTIDES, RESIDUES, Vocabulary
from core.training.recipe import SPRINT, Recipe, Watch
from core.transformer.parameters import parts_by_formula
from core.transformer.shape import ModelShape

OWN = "Your own"
MOST_LETTERS, EXAMPLE_LENGTH = 36, 13


@dataclass(frozen=True)
class Alphabet:
    """A set of tokens and a string over it, short enough for the reverse task."""

    name: str
    vocabulary: Vocabulary
    example: str

    @property
    def recipe(self) -> Recipe:
        """The sprint recipe with only its letters exchanged."""
        return replace(SPRINT, name=f"{self.name.lower()}, sprint", letters=self.vocabulary.letters)

    @property
    def watch(self) -> Watch:
        """Look at the example 20 times, and at held-out strings 4 times."""
        steps = self.recipe.steps
        return Watch(
            self.example,
            evaluate_every=max(1, steps // 4),
            sample_every=max(1, steps // 20),
            snapshot_every=max(1, steps // 10),
        )

    @property
    def shape(self) -> ModelShape:
        """The model that the recipe trains."""
        recipe, tokens = self.recipe, len(self.vocabulary)
        return ModelShape(
            tokens,
            tokens,
            recipe.d_model,
            recipe.num_heads,
            recipe.d_ff,
            recipe.num_layers,
            recipe.dropout,
            recipe.max_length + 2,
        )

    @property
    def blocks(self) -> int:
        """Weights of encoder and decoder, the same for every alphabet."""
        return sum(p.count for p in parts_by_formula(self.shape) if p.inside)

    @property
    def ends(self) -> int:
        """Weights of the two embeddings and the generator, which know the alphabet."""
        return sum(p.count for p in parts_by_formula(self.shape) if not p.inside)


def own_alphabet(text: str) -> Alphabet:
    """An alphabet of a visitor's own letters or digits, with a random example of 13.

    White space is left out and lower case becomes upper case. Raises ValueError, in a
    sentence, for anything but 2 to 36 different letters A to Z and digits.
    """
    letters = "".join(text.split())
    letters = letters.upper() if letters.isascii() else letters
    if len(letters) > MOST_LETTERS:
        raise ValueError(
            f"An alphabet of {len(letters)} letters is too long: {MOST_LETTERS} at most."
        )
    replace(SPRINT, letters=letters)  # refuses what no recipe can use
    picked = random.Random(0).choices(letters, k=EXAMPLE_LENGTH)
    return Alphabet(OWN, Vocabulary(letters), "".join(picked))


# TGT GCC AGC AGT ATA spells C A S S I, the germline's part of the CDR3.
ALPHABETS = (
    Alphabet("Residues", RESIDUES, DEFAULT_SEQUENCE),
    Alphabet("Nucleotides", NUCLEOTIDES, "TGTGCCAGCAGTATA"),
    Alphabet("Digits", DIGITS, "3141592653589"),
)
