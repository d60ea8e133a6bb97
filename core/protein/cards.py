"""The protein models by name: their shapes, their files' names, and what each knows.

Knows nothing of where files are. The published ESM-2 models: Lin et al., Science 379 (2023).
"""

from dataclasses import dataclass

TOKENS = 33


class WeightsError(RuntimeError):
    """Weights that are missing or unusable; the message says what, where, and what to do."""


@dataclass(frozen=True)
class ModelCard:
    """What a model is, before any file is looked at. `file` is the weight file's name."""

    name: str
    label: str
    layers: int
    d_model: int
    heads: int
    file: str
    knows: str
    bytes_per_weight: int = 4

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, d_model, heads."""
        return self.layers, self.d_model, self.heads

    @property
    def parameters(self) -> int:
        """Number of weights of this shape, contact head and tied output layer as in ESM-2."""
        d = self.d_model
        per_layer = 12 * d * d + 13 * d
        language_head = d * d + 3 * d + TOKENS
        contact_head = self.layers * self.heads + 1
        return TOKENS * d + self.layers * per_layer + 2 * d + language_head + contact_head

    @property
    def size_bytes(self) -> int:
        """Size of the weights on disk, to a few per cent."""
        return self.parameters * self.bytes_per_weight


TRB_MINI = ModelCard(
    "trb-mini",
    "TRB-mini, not ESM-2",
    6,
    192,
    6,
    "trb_mini.pt",
    "Human T-cell receptor beta chains simulated from V(D)J recombination: germline V and J, "
    "and what the junction usually holds. It never saw a natural sequence, and knows nothing of "
    "other proteins, alpha chains, thymic selection or what a receptor binds.",
    bytes_per_weight=2,
)
_ESM2_KNOWS = (
    "Protein sequences of every kind (UniRef50). It does not know which antigen a receptor binds."
)
MODELS = (
    TRB_MINI,
    ModelCard("esm2-8m", "ESM-2 8M", 6, 320, 20, "esm2_t6_8M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-35m", "ESM-2 35M", 12, 480, 20, "esm2_t12_35M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-150m", "ESM-2 150M", 30, 640, 20, "esm2_t30_150M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-650m", "ESM-2 650M", 33, 1280, 20, "esm2_t33_650M_UR50D.pt", _ESM2_KNOWS),
)


def model_card(name: str) -> ModelCard:
    """The card of a model by name. Raises WeightsError naming those there are."""
    for card in MODELS:
        if card.name == name.strip().lower():
            return card
    names = ", ".join(card.name for card in MODELS)
    raise WeightsError(f"There is no model “{name}”: choose one of {names}.")
