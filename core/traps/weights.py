"""Where the weights of four models sit, counted on the models themselves.

Out: parameters by role for the toy block, the base Transformer, ESM-2 35M and TRB-mini. The
PyTorch models are built without memory, on the meta device, so no weights are needed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from esm import Alphabet
from esm.model.esm2 import ESM2
from torch import nn

from core.protein.weights import ModelCard, model_card
from core.toy.block import attention_weight_count, feed_forward_weight_count
from core.toy.heads import D_MODEL
from core.transformer.model import Transformer
from core.transformer.shape import ModelShape

ATTENTION, FEED_FORWARD, NORMS, ENDS = (
    "Attention",
    "Feed-forward",
    "LayerNorm",
    "Embeddings and output",
)
ROLES = (ATTENTION, FEED_FORWARD, NORMS, ENDS)
# Names of parameters that tell their role, the first match wins: a LayerNorm is often named
# after the attention that it follows.
_TELLTALES = (
    ("norm", NORMS),
    ("attn", ATTENTION),
    ("attention", ATTENTION),
    ("feed_forward", FEED_FORWARD),
    ("fc1", FEED_FORWARD),
    ("fc2", FEED_FORWARD),
)
# Vaswani et al. 2017, table 3, with two vocabularies of the size of a translation task.
BASE = ModelShape(src_vocab=10_000, tgt_vocab=8_000, max_len=1)  # positions hold no weights


@dataclass(frozen=True)
class Count:
    """Parameters of one model by role, and the matrices of its first block alone."""

    model: str
    d_model: int
    by_role: tuple[int, ...]
    block_attention: int
    block_feed_forward: int

    @property
    def total(self) -> int:
        return sum(self.by_role)

    @property
    def feed_forward_share(self) -> float:
        """Feed-forward parameters as a share of attention and feed-forward together."""
        attention, feed_forward = self.by_role[:2]
        return feed_forward / (attention + feed_forward)

    @property
    def block_share(self) -> float:
        """The same share within the first block, biases left out: 8 d^2 of 12 d^2."""
        return self.block_feed_forward / (self.block_attention + self.block_feed_forward)


def count_all() -> tuple[Count, ...]:
    """The four models, smallest first."""
    proteins = [count_protein(model_card(name)) for name in ("trb-mini", "esm2-35m")]
    return (count_toy(), *proteins, count_base())


def count_toy() -> Count:
    """The toy block's matrices; its embeddings are chemistry and not counted as weights."""
    attention, feed_forward = attention_weight_count(), feed_forward_weight_count()
    return Count("Toy block", D_MODEL, (attention, feed_forward, 0, 0), attention, feed_forward)


def count_base() -> Count:
    """The base encoder-decoder of "Attention Is All You Need"."""
    with torch.device("meta"):
        model = Transformer.from_shape(BASE)
    return count_module("Base Transformer", model, BASE.d_model, "encoder.layers.0.")


def count_protein(card: ModelCard) -> Count:
    """A protein language model of fair-esm's ESM2 class, whether or not its weights are here."""
    with torch.device("meta"):
        model = ESM2(card.layers, card.d_model, card.heads, Alphabet.from_architecture("ESM-1b"))
    return count_module(card.label, model, card.d_model, "layers.0.")


def count_module(name: str, model: nn.Module, d_model: int, block: str) -> Count:
    """Count any module whose parameter names tell their role; `block` is its first block."""
    sizes = [(parameter_name, p.numel(), p.dim()) for parameter_name, p in model.named_parameters()]
    in_block = [(role_of(n), size) for n, size, dims in sizes if n.startswith(block) and dims == 2]
    return Count(
        name,
        d_model,
        tuple(_total(((role_of(n), size) for n, size, _ in sizes), role) for role in ROLES),
        _total(in_block, ATTENTION),
        _total(in_block, FEED_FORWARD),
    )


def role_of(parameter_name: str) -> str:
    """What a parameter is for, told from its name."""
    for fragment, role in _TELLTALES:
        if fragment in parameter_name:
            return role
    return ENDS


def _total(sizes: Iterable[tuple[str, int]], role: str) -> int:
    return sum(size for its_role, size in sizes if its_role == role)
