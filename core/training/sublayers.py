"""The two sublayers of a post-LN Transformer and the embedding in front of them, on the CPU.

The same numbers as `core.transformer` gives, forward and back; tests hold both against the
model's own code. A way back is right once after its way forward.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from core.training.by_hand import BranchEnd, DrawMask, Gradients, Heads, Linear, Rows, scale
from core.transformer.attention import MultiHeadAttention
from core.transformer.feed_forward import PositionwiseFeedForward
from core.transformer.normalisation import AddNorm

_ZERO_BEHIND = torch.ops.aten.threshold_backward.grad_input
_SOFTMAX_BACKWARD = torch.ops.aten._softmax_backward_data.out
_EMBEDDING_BACKWARD = torch.ops.aten.embedding_dense_backward.default


@dataclass(frozen=True)
class Around:
    """What a sublayer meets: masks to draw, who may attend within, and the memory, if any."""

    draw: DrawMask
    within: Float[Tensor, "B 1 n_query n_query"]
    memory: Float[Tensor, "BL_memory d"]
    across: Float[Tensor, "B 1 n_query n_memory"]


class Embedding:
    """dropout(letters * sqrt(d_model) + positions), the scale of the mask in both factors."""

    def __init__(self, letters: nn.Embedding, table: Tensor | None, gradients: Gradients):
        self._letters, self._table = letters.weight.detach(), table
        self._of_letters = gradients.of(letters.weight)
        self._factor = math.sqrt(letters.embedding_dim)

    def forward(
        self, ids: Int[Tensor, "B L"], places: Int[Tensor, "B L"], draw: DrawMask
    ) -> Float[Tensor, "BL d"]:
        """The vectors that enter the first layer."""
        self._ids = ids.flatten()
        x = self._letters.index_select(0, self._ids)
        self._mask = mask = draw(x.shape)
        x.mul_(self._factor * scale(mask))
        if self._table is not None:
            x.add_(self._table.index_select(0, places.flatten()), alpha=scale(mask))
        return x if mask is None else mask.apply(x, x)

    def backward(self, gradient: Float[Tensor, "BL d"]) -> None:
        """Write the gradient of the letters to its place."""
        kept = gradient if self._mask is None else self._mask.apply(gradient, gradient)
        count = len(self._letters)
        found = _EMBEDDING_BACKWARD(kept, self._ids, count, -1, False)
        torch.mul(found, self._factor * scale(self._mask), out=self._of_letters)


class FeedForward:
    """LayerNorm(x + dropout(W2 dropout(relu(W1 x + b1)) + b2))."""

    def __init__(
        self, network: PositionwiseFeedForward, around: AddNorm, gradients: Gradients, rows: Rows
    ):
        self._widen = Linear(network.widen, gradients)
        self._end = BranchEnd(network.narrow, around, gradients, rows)
        d_ff = network.widen.out_features
        self._hidden, self._back = rows.new(d_ff), rows.passing("back", d_ff)

    def forward(self, x: Float[Tensor, "BL d"], around: Around) -> Float[Tensor, "BL d"]:
        """The new stream."""
        self._x, hidden = x, self._hidden
        self._widen.forward(x, hidden)
        hidden.clamp_min_(0)
        inner = around.draw(hidden.shape)
        if inner is not None:
            inner.apply(hidden, hidden)
        return self._end.forward(hidden, x, inner, around.draw)

    def backward(
        self, gradient: Float[Tensor, "BL d"], of_memory: Tensor | None = None
    ) -> Float[Tensor, "BL d"]:
        """Gradient of the stream; there is no memory in it."""
        of_x = self._end.backward(gradient, self._hidden, self._back)
        # Zero where the way there was zero: behind the ReLU or dropped.
        _ZERO_BEHIND(self._back, self._hidden, 0, grad_input=self._back)
        self._widen.learn(self._back, self._x)
        self._widen.add_back(self._back, of_x)
        return of_x


class Attention:
    """LayerNorm(x + dropout(attention)), from `rows` to themselves or to `memory` if given."""

    def __init__(
        self,
        attention: MultiHeadAttention,
        around: AddNorm,
        gradients: Gradients,
        rows: Rows,
        memory: Rows | None = None,
    ):
        d, qkv = attention.project_out.in_features, attention.project_qkv
        pieces = [(rows, 3)] if memory is None else [(rows, 1), (memory, 2)]
        bounds = [slice(0, 3 * d)] if memory is None else [slice(0, d), slice(d, 3 * d)]
        self._project = [Linear(qkv, gradients, piece) for piece in bounds]
        self._heads = [
            Heads(r, parts, r.passing("flat", parts * d), r.new(parts * d)) for r, parts in pieces
        ]
        self._of_heads = [
            Heads(r, parts, r.passing("flat", parts * d), r.passing("by head", parts * d))
            for r, parts in pieces
        ]
        self._blended = Heads(rows, 1, rows.new(d), rows.passing("blended", d))
        self._of_blended = Heads(rows, 1, rows.passing("of blended", d), rows.passing("blended", d))
        self._end = BranchEnd(attention.project_out, around, gradients, rows)
        self._scale = (d // attention.num_heads) ** -0.5
        size = rows.batch, rows.heads, rows.length, (memory or rows).length
        self._weights, self._dropped = (rows.like.new_empty(size).flatten(0, 1) for _ in range(2))
        self._by_row = rows.passing("scores", size[1] * size[3]).view(size)
        self._of_scores = self._by_row.flatten(0, 1)

    def forward(self, x: Float[Tensor, "BL d"], around: Around) -> Float[Tensor, "BL d"]:
        """The new stream."""
        crosses = len(self._project) > 1
        bias = around.across if crosses else around.within
        self._sources = [x, around.memory] if crosses else [x]
        for linear, heads, source in zip(self._project, self._heads, self._sources, strict=True):
            linear.forward(source, heads.flat)
            heads.divide()
        q, k, v = (part for heads in self._heads for part in heads.parts)
        torch.bmm(q, k.mT, out=self._of_scores)
        torch.add(bias, self._by_row, alpha=self._scale, out=self._by_row)
        torch.softmax(self._of_scores, -1, out=self._weights)
        inner = around.draw(self._weights.shape)
        self._used = self._weights if inner is None else inner.apply(self._weights, self._dropped)
        torch.bmm(self._used, v, out=self._blended.parts[0])
        self._blended.unite()
        return self._end.forward(self._blended.flat, x, inner, around.draw)

    def backward(
        self, gradient: Float[Tensor, "BL d"], of_memory: Float[Tensor, "BL_memory d"] | None = None
    ) -> Float[Tensor, "BL d"]:
        """Gradient of the stream; adds that of the memory to `of_memory`."""
        of_x = self._end.backward(gradient, self._blended.flat, self._of_blended.flat)
        self._of_blended.divide()
        self._heads_backward(self._of_blended.parts[0])
        totals = [of_x, of_memory]
        for linear, heads, source, total in zip(
            self._project, self._of_heads, self._sources, totals, strict=False
        ):
            heads.unite()
            linear.learn(heads.flat, source)
            if total is not None:
                linear.add_back(heads.flat, total)
        return of_x

    def _heads_backward(self, of_blended: Float[Tensor, "Bh n_query d_k"]) -> None:
        q, k, v = (part for heads in self._heads for part in heads.parts)
        of_q, of_k, of_v = (part for heads in self._of_heads for part in heads.parts)
        of_scores, used, weights = self._of_scores, self._used, self._weights
        torch.bmm(used.mT, of_blended, out=of_v)
        torch.bmm(of_blended, v.mT, out=of_scores)
        if used is not weights:
            _ZERO_BEHIND(of_scores, used, 0, grad_input=of_scores)
        _SOFTMAX_BACKWARD(of_scores, weights, -1, weights.dtype, grad_input=of_scores)
        of_scores.mul_(self._scale)
        torch.bmm(of_scores, k, out=of_q)
        torch.bmm(of_scores.mT, q, out=of_k)
