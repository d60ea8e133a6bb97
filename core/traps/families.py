"""The three families built from the same parts, and why the Transformer won.

Out: tables of words, with the number of pairs that each family lets look at one another.
Knows nothing of torch.
"""

from dataclasses import dataclass

from core.alphabet import DEFAULT_SEQUENCE
from core.toy.attention import causal
from core.transformer.tour import FAMILIES, Family


@dataclass(frozen=True)
class Reason:
    """Something that Transformers do, what it replaced, and the experiment that shows it."""

    because: str
    instead_of: str
    experiment: str


def families() -> tuple[tuple[Family, str], ...]:
    """Each family, and how many (query, key) pairs of 13 letters may look at one another in it."""
    length = len(DEFAULT_SEQUENCE)
    both, back = length**2, int(causal(length).sum())
    looks = {
        "encoder-only": f"{both}",
        "decoder-only": f"{back}",
        "encoder-decoder": f"{both} + {back} + {both} across",
    }
    return tuple((family, looks[family.name]) for family in FAMILIES)


REASONS = (
    Reason(
        "Training runs over all positions at once.",
        "waiting for letter 12 before reading letter 13",
        "Forgetting",
    ),
    Reason(
        "Any two positions are one step apart.", "a memory that fades with every step", "Forgetting"
    ),
    Reason(
        "More data and more weights help predictably.",
        "a new design for every size",
        "published: Kaplan et al. 2020",
    ),
    Reason(
        "One block serves text, image patches, audio frames and cells.",
        "a network of its own for each kind of data",
        "Any tokens",
    ),
)
