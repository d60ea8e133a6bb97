"""Rotary positions (RoPE): queries and keys are turned by an angle that grows with position.

In: arrays of queries or keys. Out: the same arrays, turned. For comparison with the sinusoids
of waves.py; the encoder-decoder here does not use it (ESM-2 does).
"""

import numpy as np
from jaxtyping import Float, Int

from core.transformer.waves import frequencies


def rotate(
    x: Float[np.ndarray, "L d_k"], positions: Int[np.ndarray, " L"]
) -> Float[np.ndarray, "L d_k"]:
    """Turn each pair of dimensions (2i, 2i + 1) of row n by positions[n] * 10000^(-2i / d_k).

    Source: Su et al. 2021, equation 34. Raises ValueError when d_k is odd.
    """
    angles = positions[:, None] * frequencies(x.shape[1])
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty_like(x)
    turned[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    turned[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return turned


def rotary_scores(
    query: Float[np.ndarray, " d_k"], key: Float[np.ndarray, " d_k"], length: int
) -> Float[np.ndarray, "L L"]:
    """Scores of the same query and key placed at every pair of positions (query, key)."""
    positions = np.arange(length)
    queries = rotate(np.tile(query, (length, 1)), positions)
    keys = rotate(np.tile(key, (length, 1)), positions)
    return queries @ keys.T


def relative_error(scores: Float[np.ndarray, "L L"]) -> float:
    """Largest spread along any diagonal: 0 when a score depends on the distance alone."""
    length = len(scores)
    return max(float(np.ptp(np.diagonal(scores, k))) for k in range(1 - length, length))
