"""Four attention heads whose weights were set by hand, and their concatenation.

In: residue vectors (L, 8). Out: one AttentionSteps per head, or the mixed result (L, 8).
Which row and column of a weight do what is written in the order of `COLUMNS`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from core.toy.attention import AttentionSteps, attend
from core.toy.residue_vectors import COLUMNS, wave_speeds

D_MODEL = len(COLUMNS)
D_K = 2
NEIGHBOUR_SHARPNESS = 50.0


@dataclass(frozen=True, eq=False)
class Head:
    """Three projections (8 x 2 each), a short name, and the job they were set to do."""

    name: str
    job: str
    w_q: Float[np.ndarray, "d_model d_k"]
    w_k: Float[np.ndarray, "d_model d_k"]
    w_v: Float[np.ndarray, "d_model d_v"]

    def __post_init__(self) -> None:
        for weight in (self.w_q, self.w_k, self.w_v):
            weight.setflags(write=False)


def weight_matrix(entries: dict[tuple[str, int], float]) -> Float[np.ndarray, "8 2"]:
    """Zero but for `entries`, which name a column of X and one of the head's two dimensions."""
    matrix = np.zeros((D_MODEL, D_K))
    for (column, dimension), value in entries.items():
        matrix[COLUMNS.index(column), dimension] = value
    return matrix


def _chemistry_head(name: str, job: str, first: str, second: str, key_sign: float) -> Head:
    """Dot products of two chemistry columns; `key_sign` -1 makes opposites of `first` agree."""
    return Head(
        name,
        job,
        w_q=weight_matrix({(first, 0): 2.0, (second, 1): 1.5}),
        w_k=weight_matrix({(first, 0): 2.0 * key_sign, (second, 1): 1.5}),
        w_v=weight_matrix({(first, 0): 1.0, (second, 1): 1.0}),
    )


def _neighbour_head(name: str, job: str, step: int) -> Head:
    """Queries are the slow wave rotated by `step` residues, so they match the key that far away."""
    angle = step * wave_speeds()[-1]
    cosine, sine = NEIGHBOUR_SHARPNESS * math.cos(angle), NEIGHBOUR_SHARPNESS * math.sin(angle)
    return Head(
        name,
        job,
        w_q=weight_matrix(
            {("P2s", 0): cosine, ("P2c", 0): sine, ("P2s", 1): -sine, ("P2c", 1): cosine}
        ),
        w_k=weight_matrix({("P2s", 0): 1.0, ("P2c", 1): 1.0}),
        w_v=weight_matrix({("HYD", 0): 1.0, ("CHG", 1): 1.0}),
    )


HEADS = (
    _chemistry_head(
        "charge, polarity",
        "Opposite charges find each other; polar finds polar.",
        "CHG",
        "POL",
        -1.0,
    ),
    _chemistry_head(
        "hydrophobic, aromatic",
        "Hydrophobic finds hydrophobic; aromatic finds aromatic.",
        "HYD",
        "ARO",
        1.0,
    ),
    _neighbour_head("previous residue", "Each residue looks one step back.", -1),
    _neighbour_head("next residue", "Each residue looks one step ahead.", 1),
)


def attend_each(
    x: Float[np.ndarray, "L d_model"],
    heads: Sequence[Head] = HEADS,
    *,
    scale: bool = True,
    may_attend: Bool[np.ndarray, "L L"] | None = None,
) -> tuple[AttentionSteps, ...]:
    """Every head's steps on the same input."""
    return tuple(
        attend(x, head.w_q, head.w_k, head.w_v, scale=scale, may_attend=may_attend)
        for head in heads
    )


def concatenate(
    steps: Sequence[AttentionSteps], muted: frozenset[int] = frozenset()
) -> Float[np.ndarray, "L d_model"]:
    """The heads' blends side by side; a muted head (counted from 0) leaves zeros in its place."""
    return np.hstack(
        [
            np.zeros_like(step.blended) if index in muted else step.blended
            for index, step in enumerate(steps)
        ]
    )


def multi_head(
    x: Float[np.ndarray, "L d_model"],
    heads: Sequence[Head],
    w_o: Float[np.ndarray, "d_concat d_model"],
    *,
    scale: bool = True,
    may_attend: Bool[np.ndarray, "L L"] | None = None,
    muted: frozenset[int] = frozenset(),
) -> Float[np.ndarray, "L d_model"]:
    """Attend with every head, concatenate, mix with `w_o`. Vaswani et al. 2017, section 3.2.2.

    Raises ValueError when the widths do not fit.
    """
    both = concatenate(attend_each(x, heads, scale=scale, may_attend=may_attend), muted)
    if both.shape[1] != w_o.shape[0]:
        raise ValueError(f"The heads give {both.shape[1]} numbers and w_o is {w_o.shape}.")
    return both @ w_o
