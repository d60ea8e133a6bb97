"""Scaled dot-product attention, every step kept as a named array.

In: vectors, three projections, an optional mask. Out: AttentionSteps. Knows nothing of
residues or heads. Vaswani et al. 2017, section 3.2.1, equation 1.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float


@dataclass(frozen=True, eq=False)
class AttentionSteps:
    """What attention computes on its way, in order; rows are queries, columns keys."""

    queries: Float[np.ndarray, "L d_k"]
    keys: Float[np.ndarray, "L d_k"]
    values: Float[np.ndarray, "L d_v"]
    scores: Float[np.ndarray, "L L"]
    scaled: Float[np.ndarray, "L L"]
    weights: Float[np.ndarray, "L L"]
    blended: Float[np.ndarray, "L d_v"]
    may_attend: Bool[np.ndarray, "L L"]

    @property
    def exponentials(self) -> Float[np.ndarray, "L L"]:
        """exp(scaled - the row's largest), 0 where a query may not look."""
        return exponentials(self.scaled, self.may_attend)


def exponentials(
    scaled: Float[np.ndarray, "n_query n_key"], may_attend: Bool[np.ndarray, "n_query n_key"]
) -> Float[np.ndarray, "n_query n_key"]:
    """exp(scaled - row maximum) where allowed, 0 elsewhere; the maximum is over allowed keys."""
    allowed = np.where(may_attend, scaled, -np.inf)
    # Without the subtraction exp overflows from about 710; the ratio of weights is the same.
    return np.exp(allowed - allowed.max(axis=-1, keepdims=True))


def softmax(
    scaled: Float[np.ndarray, "n_query n_key"],
    may_attend: Bool[np.ndarray, "n_query n_key"] | None = None,
) -> Float[np.ndarray, "n_query n_key"]:
    """Rows of positive weights that sum to 1. Raises ValueError if a row may look nowhere."""
    allowed = np.ones(scaled.shape, dtype=bool) if may_attend is None else may_attend
    if not allowed.any(axis=-1).all():
        raise ValueError("A query that may attend to no key has no weights: allow at least one.")
    powers = exponentials(scaled, allowed)
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(
    x: Float[np.ndarray, "L d_model"],
    w_q: Float[np.ndarray, "d_model d_k"],
    w_k: Float[np.ndarray, "d_model d_k"],
    w_v: Float[np.ndarray, "d_model d_v"],
    *,
    scale: bool = True,
    may_attend: Bool[np.ndarray, "L L"] | None = None,
) -> AttentionSteps:
    """Let every row of `x` look at every other and blend their values.

    `scale` divides the scores by sqrt(d_k); `may_attend` is True where a query (row) may look
    at a key (column), None meaning everywhere. Raises ValueError for widths that do not fit
    or a query that may look nowhere.
    """
    length, width = x.shape
    if not len(w_q) == len(w_k) == len(w_v) == width or w_q.shape != w_k.shape:
        raise ValueError(
            f"x is {x.shape}, w_q {w_q.shape}, w_k {w_k.shape}, w_v {w_v.shape}: each weight "
            f"needs {width} rows, and w_q and w_k the same number of columns."
        )
    allowed = np.ones((length, length), dtype=bool) if may_attend is None else may_attend
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = queries @ keys.T
    scaled = scores / math.sqrt(w_q.shape[1]) if scale else scores
    weights = softmax(scaled, allowed)
    return AttentionSteps(queries, keys, values, scores, scaled, weights, weights @ values, allowed)


def causal(length: int) -> Bool[np.ndarray, "L L"]:
    """True where a query may look when the future is hidden: itself and everything before."""
    return np.tri(length, dtype=bool)
