"""A packed batch through the model as the CPU does it fastest: one function, one way back."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.training.by_hand import DrawMask, Gradients, Linear, Rows
from core.training.packing import PackedBatch, PackedForward, may_look
from core.training.random_bits import Mask, RandomBits
from core.training.sublayers import Around, Attention, Embedding, FeedForward
from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.model import Transformer

_BLOCKED = -1e9  # added to a score; swallows any


class CpuForward(PackedForward):
    """`PackedForward` by hand, with dropout from `bits`.

    `alone`: the way back sets the weights' `grad` itself, for there is nobody to share them with;
    autograd would take 64 small steps to do so.
    The model's own code is the definition; a test holds outputs and gradients against it. Go
    back before going forward again: both write to memory that the next step uses again.
    Raises ValueError for a pre-LN model: the sublayers are the paper's, with the norm behind.
    """

    def __init__(self, model: Transformer, bits: RandomBits, *, alone: bool = False):
        if model.shape.pre_norm:
            raise ValueError("This model has its norms before its sublayers; use PackedForward.")
        super().__init__(model)
        self._bits, self._alone = bits, alone
        self._made_for: tuple[torch.Size, torch.Size] | None = None
        self._weights = list(model.parameters())

    def forward(self, batch: PackedBatch) -> Float[Tensor, "pairs n_tgt vocabulary"]:
        """As `model(src, tgt)` would give for every string by itself."""
        shapes = batch.src.shape, batch.tgt.shape
        if self._made_for != shapes:
            self._pass, self._made_for = Pass(self.model, *shapes), shapes
        given = self._weights[:1] if self._alone else self._weights
        filled = self._weights if self._alone else []
        return _ByHand.apply(self._pass, batch, self._draw, filled, *given)

    def _draw(self, shape: torch.Size) -> Mask | None:
        p = self.model.shape.dropout
        return self._bits.mask(shape, p) if p > 0 and self.training else None


class _ByHand(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        whole: "Pass",
        batch: PackedBatch,
        draw: DrawMask,
        filled: list[Tensor],
        *given: Tensor,
    ) -> Tensor:
        ctx.whole, ctx.filled, ctx.given = whole, filled, given
        return whole.forward(batch, draw).view(*batch.tgt.shape, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        ctx.whole.backward(gradient.flatten(0, 1))
        found = ctx.whole.gradients.found
        for weight in ctx.filled:
            weight.grad = found(weight)
        return *[None] * 4, *(None if ctx.filled else found(weight) for weight in ctx.given)


class Pass:
    """Every part of the model for batches of one shape, and where its gradients go."""

    def __init__(self, model: Transformer, src: torch.Size, tgt: torch.Size):
        weight, heads = model.generator.weight.detach(), model.shape.num_heads
        memory, rows = (Rows(size[0], size[1], heads, weight) for size in (src, tgt))
        self.gradients = of = Gradients()
        self._causal, self._crosses = model.shape.causal, model.shape.use_cross_attention
        # Without cross-attention nothing learns from the source.
        of_source = of if self._crosses else Gradients()
        table = None if model.positions is None else model.positions.table
        self._embed_src = Embedding(model.src_embedding, table, of_source)
        self._embed_tgt = Embedding(model.tgt_embedding, table, of)
        self._encoder = _encoder(model, of_source, memory)
        self._decoder = _decoder(model, of, rows, memory)
        self._generator = Linear(model.generator, of)
        self._of_memory, self._of_last = (r.new(weight.shape[1]) for r in (memory, rows))

    def forward(self, batch: PackedBatch, draw: DrawMask) -> Float[Tensor, "BL vocabulary"]:
        """Logits of every target token."""
        within_src, within_tgt, across = map(self._bias, may_look(batch, causal=self._causal))
        x = self._embed_src.forward(batch.src, batch.src_places, draw)
        around = Around(draw, within_src, memory=x, across=within_src)  # no part looks across
        for part in self._encoder:
            x = part.forward(x, around)
        y = self._embed_tgt.forward(batch.tgt, batch.tgt_places, draw)
        around = Around(draw, within_tgt, x, across)
        for part in self._decoder:
            y = part.forward(y, around)
        self._last = y
        logits = y.new_empty(len(y), self._generator.width)
        self._generator.forward(y, logits)
        return logits

    def backward(self, gradient: Float[Tensor, "BL vocabulary"]) -> None:
        """Put every gradient in its place."""
        of_x, of_y = self._of_memory.zero_(), self._of_last
        self._generator.learn(gradient, self._last)
        self._generator.back(gradient, of_y)
        for part in reversed(self._decoder):
            of_y = part.backward(of_y, self._of_memory)
        self._embed_tgt.backward(of_y)
        if self._crosses:
            for part in reversed(self._encoder):
                of_x = part.backward(of_x)
            self._embed_src.backward(of_x)

    def _bias(self, may_attend: Bool[Tensor, "B n_query n_key"]) -> Tensor:
        blocked = self._of_memory.new_zeros(may_attend.shape)
        return blocked.masked_fill_(~may_attend, _BLOCKED).unsqueeze(1)


def _encoder(model: Transformer, of: Gradients, rows: Rows) -> list[Attention | FeedForward]:
    parts: list[Attention | FeedForward] = []
    for layer in model.encoder.layers:
        assert isinstance(layer, EncoderLayer)
        parts += [
            Attention(layer.self_attention, layer.around_attention, of, rows),
            FeedForward(layer.feed_forward, layer.around_feed_forward, of, rows),
        ]
    return parts


def _decoder(
    model: Transformer, of: Gradients, rows: Rows, memory: Rows
) -> list[Attention | FeedForward]:
    parts: list[Attention | FeedForward] = []
    for layer in model.decoder.layers:
        assert isinstance(layer, DecoderLayer)
        parts.append(Attention(layer.self_attention, layer.around_self, of, rows))
        if layer.use_cross_attention:
            parts.append(Attention(layer.cross_attention, layer.around_cross, of, rows, memory))
        parts.append(FeedForward(layer.feed_forward, layer.around_feed_forward, of, rows))
    return parts
