"""The two sublayers of a post-LN Transformer, each with its add & norm as one function.

The same numbers as `core.transformer` gives, with the way back written by hand: on the CPU a
small model spends a third of a step on calls, so this makes a third as many, works in place,
and keeps only what the way back needs. Tests hold both against the model's own code.

Masks are None where nothing is dropped; they and `bias` have no gradient. Masks only make zeros:
their scales are in the factor of the branch's last matrix.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from core.training.branch import add_norm, dropped, norm_backward, project, scale, times
from core.training.random_bits import Mask

_RELU_BACKWARD = torch.ops.aten.threshold_backward.grad_input


def _to_heads(x: Tensor, batch: int, parts: int, heads: int) -> Float[Tensor, "parts Bh L d_k"]:
    split = x.view(batch, -1, parts, heads, x.shape[1] // (parts * heads))
    return split.permute(2, 0, 3, 1, 4).reshape(parts, batch * heads, -1, split.shape[-1])


def _from_heads(x: Float[Tensor, "parts Bh L d_k"], batch: int) -> Float[Tensor, "BL d"]:
    parts, _, length, d_k = x.shape
    split = x.view(parts, batch, -1, length, d_k).permute(1, 3, 0, 2, 4)
    return split.reshape(batch * length, -1)


class FeedForwardSublayer(torch.autograd.Function):
    """LayerNorm(x + dropout(W2 dropout(relu(W1 x + b1)) + b2))."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Float[Tensor, "B L d_model"],
        w1: Tensor,
        b1: Tensor,
        w2: Tensor,
        b2: Tensor,
        gamma: Tensor,
        beta: Tensor,
        inner: Mask | None,
        outer: Mask | None,
    ) -> Float[Tensor, "B L d_model"]:
        """The new stream."""
        flat = x.flatten(0, 1)
        hidden = dropped(torch.addmm(b1, flat, w1.t()).clamp_min_(0), inner)
        branch = project(b2, hidden, w2, inner, outer)
        y, *norm = add_norm(branch, flat, gamma, beta, outer)
        ctx.save_for_backward(flat, hidden, *norm, w1, w2, gamma, beta)
        ctx.inner, ctx.outer = inner, outer
        return y.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the stream, both layers, gamma and beta."""
        flat, hidden, summed, mean, rstd, w1, w2, gamma, beta = ctx.saved_tensors
        of_sum, of_gamma, of_beta = norm_backward(gradient, summed, mean, rstd, gamma, beta)
        branch = of_sum if ctx.outer is None else ctx.outer.of(of_sum)
        factor, factor_b = scale(ctx.inner, ctx.outer), scale(ctx.outer)
        back = times(branch, w2, factor)
        # Zero where the way there was zero: behind the ReLU or dropped.
        _RELU_BACKWARD(back, hidden, 0, grad_input=back)
        return (
            torch.addmm(of_sum, back, w1).view_as(gradient),
            back.t().mm(flat),
            back.sum(0),
            times(branch.t(), hidden, factor),
            branch.sum(0).mul_(factor_b),
            of_gamma,
            of_beta,
            None,
            None,
        )


class AttentionSublayer(torch.autograd.Function):
    """LayerNorm(x + dropout(attention)), from `x` to itself or to `memory` if there is one.

    `w` and `b` are the fused projection (queries, keys, values), `wo` and `bo` the joining one.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Float[Tensor, "B n_query d_model"],
        memory: Float[Tensor, "B n_key d_model"] | None,
        w: Tensor,
        b: Tensor,
        wo: Tensor,
        bo: Tensor,
        gamma: Tensor,
        beta: Tensor,
        heads: int,
        bias: Float[Tensor, "B 1 n_query n_key"],
        inner: Mask | None,
        outer: Mask | None,
    ) -> Float[Tensor, "B n_query d_model"]:
        """The new stream."""
        (q, k, v), sources, ctx.rows = _project(x, memory, w, b, heads)
        ctx.batch, ctx.scale = len(x), q.shape[2] ** -0.5
        weights, used = _weigh(q, k, bias, ctx.scale, inner)
        blended = _from_heads(used.bmm(v)[None], len(x))
        branch = project(bo, blended, wo, inner, outer)
        y, *norm = add_norm(branch, sources[0], gamma, beta, outer)
        ctx.save_for_backward(q, k, v, weights, used, blended, *norm, w, wo, gamma, beta, *sources)
        ctx.inner, ctx.outer = inner, outer
        return y.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the stream, the memory, both projections, gamma and beta."""
        q, k, v, weights, used, blended, summed, mean, rstd, w, wo, gamma, beta, *sources = (
            ctx.saved_tensors
        )
        batch = ctx.batch
        of_sum, of_gamma, of_beta = norm_backward(gradient, summed, mean, rstd, gamma, beta)
        branch = of_sum if ctx.outer is None else ctx.outer.of(of_sum)
        factor, factor_b = scale(ctx.inner, ctx.outer), scale(ctx.outer)
        of_blended = _to_heads(times(branch, wo, factor), batch, 1, len(q) // batch)[0]
        of_scores = _scores_backward(of_blended, v, weights, ctx.inner, ctx.scale)
        of_parts = _heads_backward(
            of_blended, of_scores, q, k, used, [n // w.shape[1] for n in ctx.rows]
        )
        back = [_from_heads(part, batch) for part in of_parts]
        of_w = torch.cat([one.t().mm(source) for one, source in zip(back, sources, strict=True)])
        of_b = torch.cat([one.sum(0) for one in back])
        parts = w.split(ctx.rows)
        of_x = torch.addmm(of_sum, back[0], parts[0]).view_as(gradient)
        of_memory = back[1].mm(parts[1]).view(batch, -1, w.shape[1]) if len(back) > 1 else None
        of_wo, of_bo = times(branch.t(), blended, factor), branch.sum(0).mul_(factor_b)
        return of_x, of_memory, of_w, of_b, of_wo, of_bo, of_gamma, of_beta, *[None] * 4


def _project(
    x: Tensor, memory: Tensor | None, w: Tensor, b: Tensor, heads: int
) -> tuple[tuple[Tensor, ...], list[Tensor], list[int]]:
    """Queries, keys and values; what they were made from, and the rows of `w` for each of those."""
    batch, d = len(x), x.shape[2]
    sources = [x.flatten(0, 1)] if memory is None else [x.flatten(0, 1), memory.flatten(0, 1)]
    rows = [3 * d] if memory is None else [d, 2 * d]
    projected = map(torch.addmm, b.split(rows), sources, [part.t() for part in w.split(rows)])
    qkv = tuple(
        one
        for part, n in zip(projected, rows, strict=True)
        for one in _to_heads(part, batch, n // d, heads)
    )
    return qkv, sources, rows


def _weigh(
    q: Tensor, k: Tensor, bias: Tensor, scale: float, inner: Mask | None
) -> tuple[Tensor, Float[Tensor, "Bh n_query n_key"]]:
    """Attention weights, and what is left of them after dropout."""
    scores = torch.baddbmm(q.new_zeros(()), q, k.mT, beta=0, alpha=scale)
    scores.view(len(bias), -1, *scores.shape[1:]).add_(bias)
    weights = scores.softmax(-1)
    return weights, weights if inner is None else inner.of(weights)


def _scores_backward(
    of_blended: Tensor, v: Tensor, weights: Tensor, inner: Mask | None, scale: float
) -> Float[Tensor, "Bh n_query n_key"]:
    """Gradient of the products of queries and keys."""
    of_weights = dropped(of_blended.bmm(v.mT), inner)
    return torch._softmax_backward_data(of_weights, weights, -1, weights.dtype).mul_(scale)


def _heads_backward(
    of_blended: Tensor, of_scores: Tensor, q: Tensor, k: Tensor, used: Tensor, counts: list[int]
) -> list[Float[Tensor, "parts Bh L d_k"]]:
    """Gradients of queries, keys and values, as many together as came from one source."""
    together = [q.new_empty(n, *one.shape) for n, one in zip(counts, (q, k), strict=False)]
    of_q, of_k, of_v = (one for part in together for one in part)
    torch.bmm(of_scores, k, out=of_q)
    torch.bmm(of_scores.mT, q, out=of_k)
    torch.bmm(used.mT, of_blended, out=of_v)
    return together
