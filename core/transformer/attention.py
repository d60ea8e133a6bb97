"""Scaled dot-product attention, and several heads of it.

In: queries, keys, values and who may look at whom. Out: blended values, and the weights when
they are asked for. Two ways to compute the same thing: the formula written out, and torch's
fused kernel, which is faster and never forms the weights.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from core.transformer.cache import KeysValues, KeyValueCache
from core.transformer.trace import Trace

# Not minus infinity: a row in which everything is blocked must stay finite.
BLOCKED = -1e9
# The fused kernel adds its mask to the score instead of replacing it, so the number must be
# large enough to swallow any score, in float64 too.
_BLOCKED_FUSED = -1e18


def attend(
    q: Float[Tensor, "*lead n_query d_k"],
    k: Float[Tensor, "*lead n_key d_k"],
    v: Float[Tensor, "*lead n_key d_v"],
    may_attend: Bool[Tensor, "*#lead #n_query #n_key"] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "*lead n_query d_v"], Float[Tensor, "*lead n_query n_key"]]:
    """softmax(Q K^T / sqrt(d_k)) V written out, and the weights (as they are before dropout).

    Source: Vaswani et al. 2017, equation 1. Blocked scores become -1e9.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, BLOCKED)
    weights = scores.softmax(-1)
    return F.dropout(weights, dropout, training=dropout > 0) @ v, weights


def attend_fused(
    q: Float[Tensor, "*lead n_query d_k"],
    k: Float[Tensor, "*lead n_key d_k"],
    v: Float[Tensor, "*lead n_key d_v"],
    may_attend: Bool[Tensor, "*#lead #n_query #n_key"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "*lead n_query d_v"]:
    """The same blend from torch's fused kernel; tests hold it against `attend`."""
    bias = None
    if may_attend is not None:
        bias = torch.zeros_like(may_attend, dtype=q.dtype)
        bias = bias.masked_fill(~may_attend, _BLOCKED_FUSED)
    return F.scaled_dot_product_attention(q, k, v, bias, dropout)


class MultiHeadAttention(nn.Module):
    """h attentions side by side, each on d_k = d_model / h dimensions, joined by one matrix.

    Source: Vaswani et al. 2017, section 3.2.2. The three projections are one Linear whose
    rows are W_q, W_k, W_v in that order. `name` is what a trace or a cache files it under.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1, name: str = "attention"):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be divided among {num_heads} heads.")
        self.num_heads, self.dropout, self.name = num_heads, dropout, name
        self.project_qkv = nn.Linear(d_model, 3 * d_model)
        self.project_out = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "B n_query d_model"],
        memory: Float[Tensor, "B n_memory d_model"] | None = None,
        may_attend: Bool[Tensor, "#B #n_query n_key"] | None = None,
        *,
        trace: Trace | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B n_query d_model"]:
        """Self-attention over `x`, or cross-attention from `x` to `memory` when it is given."""
        q, k, v = self._self(x, cache) if memory is None else self._cross(x, memory, cache)
        per_head = None if may_attend is None else may_attend.unsqueeze(1)
        dropout = self.dropout if self.training else 0.0
        if trace is None:
            blended = attend_fused(q, k, v, per_head, dropout)
        else:
            blended, weights = attend(q, k, v, per_head, dropout)
            trace.keep_weights(self.name, weights)
        return self.project_out(blended.transpose(1, 2).flatten(2))

    def _self(self, x: Tensor, cache: KeyValueCache | None) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self._heads(self.project_qkv(x), 3)
        if cache is not None:
            k, v = cache.extend(self.name, k, v)
        return q, k, v

    def _cross(
        self, x: Tensor, memory: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        d_model = x.shape[-1]
        w_q, w_kv = self.project_qkv.weight.split([d_model, 2 * d_model])
        b_q, b_kv = self.project_qkv.bias.split([d_model, 2 * d_model])

        def from_memory() -> KeysValues:
            k, v = self._heads(F.linear(memory, w_kv, b_kv), 2)
            return k, v

        (q,) = self._heads(F.linear(x, w_q, b_q), 1)
        k, v = from_memory() if cache is None else cache.once(self.name, from_memory)
        return q, k, v

    def _heads(self, projected: Tensor, parts: int) -> tuple[Tensor, ...]:
        split = projected.unflatten(-1, (parts, self.num_heads, -1))  # (B, L, parts, h, d_k)
        return split.permute(2, 0, 3, 1, 4).unbind()  # parts x (B, h, L, d_k)
