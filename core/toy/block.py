"""One pre-LayerNorm Transformer block around the four heads, every stage kept.

In: residue vectors (L, 8). Out: BlockSteps, or the last stage alone. The weights that are not
the heads' are random and fixed by a seed. Xiong et al. 2020; ESM-2 uses the same order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from core.toy.heads import D_MODEL, HEADS, Head, multi_head

D_FF = 4 * D_MODEL
LAYER_NORM_EPS = 1e-5


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """What the block adds to the heads: the output mix and the two feed-forward layers."""

    w_o: Float[np.ndarray, "d_model d_model"]
    w_1: Float[np.ndarray, "d_model d_ff"]
    b_1: Float[np.ndarray, " d_ff"]
    w_2: Float[np.ndarray, "d_ff d_model"]
    b_2: Float[np.ndarray, " d_model"]


@dataclass(frozen=True, eq=False)
class BlockSteps:
    """The residual stream and what each half of the block adds to it, in order."""

    entering: Float[np.ndarray, "L d_model"]
    normed_for_attention: Float[np.ndarray, "L d_model"]
    attention: Float[np.ndarray, "L d_model"]
    after_attention: Float[np.ndarray, "L d_model"]
    normed_for_feed_forward: Float[np.ndarray, "L d_model"]
    hidden: Float[np.ndarray, "L d_ff"]
    feed_forward: Float[np.ndarray, "L d_model"]
    leaving: Float[np.ndarray, "L d_model"]


def block_weights(seed: int = 0) -> BlockWeights:
    """Random weights, drawn Wo, W1, W2 from normal(0, 0.3); biases are zero."""
    random = np.random.default_rng(seed)
    w_o = random.normal(0, 0.3, (D_MODEL, D_MODEL))
    w_1 = random.normal(0, 0.3, (D_MODEL, D_FF))
    w_2 = random.normal(0, 0.3, (D_FF, D_MODEL))
    return BlockWeights(w_o, w_1, np.zeros(D_FF), w_2, np.zeros(D_MODEL))


def layer_norm(x: Float[np.ndarray, "L d_model"]) -> Float[np.ndarray, "L d_model"]:
    """Each row to mean 0 and variance 1 (biased, eps 1e-5), without scale or shift."""
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt(x.var(axis=1, keepdims=True) + LAYER_NORM_EPS)


def gelu(x: Float[np.ndarray, "L d"]) -> Float[np.ndarray, "L d"]:
    """x times the normal distribution function of x, exact. Hendrycks and Gimpel 2016."""
    # NumPy has no erf; the arrays are small enough for the standard library's.
    erf = np.array([math.erf(value / math.sqrt(2)) for value in x.ravel()]).reshape(x.shape)
    return x * (1 + erf) / 2


def block_steps(
    x: Float[np.ndarray, "L d_model"],
    heads: Sequence[Head] = HEADS,
    weights: BlockWeights | None = None,
    *,
    scale: bool = True,
    may_attend: Bool[np.ndarray, "L L"] | None = None,
    muted: frozenset[int] = frozenset(),
) -> BlockSteps:
    """x + MHA(LN(x)), then x + W2 GELU(W1 LN(x) + b1) + b2; weights of seed 0 when None."""
    w = block_weights() if weights is None else weights
    normed = layer_norm(x)
    mixed = multi_head(normed, heads, w.w_o, scale=scale, may_attend=may_attend, muted=muted)
    between = x + mixed
    normed_again = layer_norm(between)
    hidden = gelu(normed_again @ w.w_1 + w.b_1)
    thought = hidden @ w.w_2 + w.b_2
    return BlockSteps(x, normed, mixed, between, normed_again, hidden, thought, between + thought)


def block(
    x: Float[np.ndarray, "L d_model"],
    heads: Sequence[Head] = HEADS,
    weights: BlockWeights | None = None,
) -> Float[np.ndarray, "L d_model"]:
    """The block's output alone."""
    return block_steps(x, heads, weights).leaving


def attention_weight_count(heads: Sequence[Head] = HEADS) -> int:
    """Numbers in every Wq, Wk, Wv and in Wo: 4 d^2."""
    per_head = sum(head.w_q.size + head.w_k.size + head.w_v.size for head in heads)
    return per_head + block_weights().w_o.size


def feed_forward_weight_count() -> int:
    """Numbers in W1 and W2, biases left out: 8 d^2."""
    weights = block_weights()
    return weights.w_1.size + weights.w_2.size
