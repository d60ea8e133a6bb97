"""Sinusoidal positions in NumPy: the table, its periods, similarity, and shift as a rotation.

In: lengths and widths. Out: float64 arrays. Knows nothing of PyTorch or of any model; the
module that adds these waves to embeddings is in positions.py.
"""

import numpy as np
from jaxtyping import Float

BASE = 10_000.0


def frequencies(d_model: int) -> Float[np.ndarray, " pairs"]:
    """Radians per position of each sine-cosine pair, 1 / 10000^(2i / d_model).

    Source: Vaswani et al. 2017, section 3.5. Raises ValueError when `d_model` is not a
    positive even number.
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"d_model is {d_model}; sine-cosine pairs need an even width of 2 or more."
        )
    return BASE ** -(np.arange(0, d_model, 2) / d_model)


def sinusoidal_table(length: int, d_model: int) -> Float[np.ndarray, "L d_model"]:
    """PE(pos, 2i) = sin(pos * f_i), PE(pos, 2i+1) = cos(pos * f_i) for pos = 0 .. length - 1."""
    angles = np.arange(length)[:, None] * frequencies(d_model)
    table = np.empty((length, d_model))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


def periods(d_model: int) -> Float[np.ndarray, " pairs"]:
    """Positions after which each pair repeats, 2 pi / frequency."""
    return 2 * np.pi / frequencies(d_model)


def cosine_by_distance(length: int, d_model: int) -> Float[np.ndarray, " L"]:
    """Cosine similarity of PE(0) and PE(distance).

    Every row has the same norm, sqrt(d_model / 2), and the dot product of two rows depends
    only on their distance, so one curve describes all pairs.
    """
    table = sinusoidal_table(length, d_model)
    return table @ table[0] / (d_model / 2)


def shift_rotation(shift: int, d_model: int) -> Float[np.ndarray, "d_model d_model"]:
    """The matrix R with PE(pos + shift) = R PE(pos) for every pos: one 2 x 2 turn per pair."""
    angles = shift * frequencies(d_model)
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix = np.zeros((d_model, d_model))
    matrix[even, even], matrix[even, odd] = np.cos(angles), np.sin(angles)
    matrix[odd, even], matrix[odd, odd] = -np.sin(angles), np.cos(angles)
    return matrix


def shift_rotation_error(shift: int, length: int, d_model: int) -> float:
    """Largest |R PE(pos) - PE(pos + shift)| over positions 0 .. length - 1 and dimensions."""
    table = sinusoidal_table(length + shift, d_model)
    turned = table[:length] @ shift_rotation(shift, d_model).T
    return float(np.abs(turned - table[shift:]).max())
