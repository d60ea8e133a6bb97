"""Why scores are divided by sqrt(d_k): random queries and keys, and where softmax puts its weight.

In: d_k, number of keys, seed. Out: one draw in full, or the top weights of many draws.
Vaswani et al. 2017, section 3.2.1, footnote 4.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.toy.attention import softmax

LARGEST_D_K = 512


@dataclass(frozen=True, eq=False)
class Draw:
    """One random query against random keys: scores, and both softmaxes of them."""

    scores: Float[np.ndarray, " n_key"]
    unscaled: Float[np.ndarray, " n_key"]
    scaled: Float[np.ndarray, " n_key"]


@dataclass(frozen=True, eq=False)
class TopWeights:
    """The largest weight of each draw, without and with the division; the scores' spread."""

    unscaled: Float[np.ndarray, " draws"]
    scaled: Float[np.ndarray, " draws"]
    score_deviation: float


def one_draw(d_k: int, n_keys: int = 13, seed: int = 0) -> Draw:
    """A standard normal query and `n_keys` keys of `d_k` numbers each."""
    scores = _scores(d_k, n_keys, 1, seed)
    return Draw(scores[0], softmax(scores)[0], softmax(scores / math.sqrt(d_k))[0])


def top_weights(d_k: int, n_keys: int = 13, draws: int = 1000, seed: int = 0) -> TopWeights:
    """The same, `draws` times, keeping only the largest weight of each."""
    scores = _scores(d_k, n_keys, draws, seed)
    plain, divided = softmax(scores), softmax(scores / math.sqrt(d_k))
    return TopWeights(plain.max(axis=1), divided.max(axis=1), float(scores.std()))


def _scores(d_k: int, n_keys: int, draws: int, seed: int) -> Float[np.ndarray, "draws n_key"]:
    if not 1 <= d_k <= LARGEST_D_K:
        raise ValueError(f"d_k must lie between 1 and {LARGEST_D_K}; it is {d_k}.")
    random = np.random.default_rng(seed)
    query, keys = random.normal(size=(draws, d_k)), random.normal(size=(draws, n_keys, d_k))
    return np.einsum("nd,nkd->nk", query, keys)
