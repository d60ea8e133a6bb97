"""A packed batch through the model's layers as the CPU does it fastest."""

from typing import TypeVar

import torch
from jaxtyping import Bool
from torch import Tensor

from core.training.packing import PackedForward
from core.training.random_bits import Mask, RandomBits
from core.training.sublayers import AttentionSublayer, FeedForwardSublayer
from core.transformer.attention import MultiHeadAttention
from core.transformer.feed_forward import PositionwiseFeedForward
from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.model import Transformer
from core.transformer.normalisation import AddNorm
from core.transformer.stacks import Decoder, Encoder

Layer = TypeVar("Layer", EncoderLayer, DecoderLayer)

_BLOCKED = -1e9  # added to a score; swallows any


class CpuForward(PackedForward):
    """`PackedForward` with each sublayer as one function and dropout from `bits`.

    The model's own code is the definition; a test holds outputs and gradients against it.
    Raises ValueError for a pre-LN model: the sublayers are the paper's, with the norm behind.
    """

    def __init__(self, model: Transformer, bits: RandomBits):
        if model.shape.pre_norm:
            raise ValueError("This model has its norms before its sublayers; use PackedForward.")
        super().__init__(model)
        self.bits = bits

    def encode(self, x: Tensor, within: Bool[Tensor, "pairs n n"]) -> Tensor:
        """The encoder's layers."""
        bias = _bias(within, x)
        for layer in _layers(self.model.encoder, EncoderLayer):
            x = self._attend(layer.self_attention, layer.around_attention, x, None, bias)
            x = self._think(layer.feed_forward, layer.around_feed_forward, x)
        return x

    def decode(
        self,
        x: Tensor,
        memory: Tensor,
        within: Bool[Tensor, "pairs n n"],
        across: Bool[Tensor, "pairs n n_memory"],
    ) -> Tensor:
        """The decoder's layers."""
        bias, bias_across = _bias(within, x), _bias(across, x)
        for layer in _layers(self.model.decoder, DecoderLayer):
            x = self._attend(layer.self_attention, layer.around_self, x, None, bias)
            if layer.use_cross_attention:
                x = self._attend(layer.cross_attention, layer.around_cross, x, memory, bias_across)
            x = self._think(layer.feed_forward, layer.around_feed_forward, x)
        return x

    def drop(self, x: Tensor) -> Tensor:
        """Dropout on the embeddings."""
        mask = self._mask(x.shape)
        return x if mask is None else mask.of(x) * mask.scale

    def _attend(
        self,
        attention: MultiHeadAttention,
        around: AddNorm,
        x: Tensor,
        memory: Tensor | None,
        bias: Tensor,
    ) -> Tensor:
        heads = attention.num_heads
        inner = self._mask((len(x), heads, *bias.shape[2:]))
        qkv, out, norm = attention.project_qkv, attention.project_out, around.norm
        return AttentionSublayer.apply(
            x, memory, qkv.weight, qkv.bias, out.weight, out.bias, norm.gamma, norm.beta,
            heads, bias, inner, self._mask(x.shape),
        )  # fmt: skip

    def _think(self, network: PositionwiseFeedForward, around: AddNorm, x: Tensor) -> Tensor:
        widen, narrow, norm = network.widen, network.narrow, around.norm
        inner = self._mask((*x.shape[:2], len(widen.weight)))
        return FeedForwardSublayer.apply(
            x, widen.weight, widen.bias, narrow.weight, narrow.bias, norm.gamma, norm.beta,
            inner, self._mask(x.shape),
        )  # fmt: skip

    def _mask(self, shape: tuple[int, ...]) -> Mask | None:
        p = self.model.shape.dropout
        return self.bits.mask(shape, p) if p > 0 and self.training else None


def _layers(stack: Encoder | Decoder, kind: type[Layer]) -> list[Layer]:
    return [layer for layer in stack.layers if isinstance(layer, kind)]


def _bias(may_attend: Bool[Tensor, "pairs n_query n_key"], x: Tensor) -> Tensor:
    blocked = torch.zeros(may_attend.shape, dtype=x.dtype).masked_fill_(~may_attend, _BLOCKED)
    return blocked.unsqueeze(1)
