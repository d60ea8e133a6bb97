"""The three families built from the same parts, and why the Transformer won.

Out: tables of words, with the number of pairs that each family lets look at one another.
Knows nothing of torch.
"""

from dataclasses import dataclass

from core.alphabet import DEFAULT_SEQUENCE
from core.toy.attention import causal


@dataclass(frozen=True)
class Family:
    """One way to stack the parts; `looks` counts allowed (query, key) pairs of 13 letters."""

    name: str
    attention: str
    trained_to: str
    examples: str
    good_for: str
    looks: str


@dataclass(frozen=True)
class Reason:
    """Something that Transformers do, what it replaced, and the experiment that shows it."""

    because: str
    instead_of: str
    experiment: str


def families() -> tuple[Family, ...]:
    """Encoder only, decoder only, encoder-decoder."""
    length = len(DEFAULT_SEQUENCE)
    both, back = length**2, int(causal(length).sum())
    return (
        Family(
            "Encoder only",
            "in both directions",
            "fill in hidden letters",
            "BERT, ESM-2, TRB-mini",
            "understanding: embeddings, guesses of a residue",
            f"{both}",
        ),
        Family(
            "Decoder only",
            "backwards only (causal)",
            "write the next letter",
            "GPT",
            "writing: text, code, new sequences",
            f"{back}",
        ),
        Family(
            "Encoder-decoder",
            "both ways in the encoder, causal in the decoder, and across",
            "turn one sequence into another",
            "the original Transformer, T5, Whisper",
            "mapping: translation, speech to text, the reverse task here",
            f"{both} + {back} + {both} across",
        ),
    )


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
        "More data and more weights help predictably.", "a new design for every size", "Weights"
    ),
    Reason(
        "One block serves text, image patches, audio frames and cells.",
        "a network of its own for each kind of data",
        "Any tokens",
    ),
)
