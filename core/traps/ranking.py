"""Two rankings of the same residues, and how well they agree.

In: one number per residue for attention received and one for the effect of ablating it.
Out: ranks and Spearman's rank correlation. Knows nothing of any model.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Importance:
    """For every residue ("C1", "A2", ...): what looked at it, and what its loss changes.

    `by_head` is the attention weight that each head gave each residue (mean over queries),
    `effect` the size of the change of the model's output when the residue is ablated;
    `effect_unit` says in what.
    """

    model: str
    names: tuple[str, ...]
    heads: tuple[str, ...]
    by_head: Float[np.ndarray, "heads L"]
    effect: Float[np.ndarray, " L"]
    effect_unit: str

    def __post_init__(self) -> None:
        expected = (len(self.heads), len(self.names))
        if self.by_head.shape != expected or self.effect.shape != expected[1:]:
            raise ValueError(
                f"{len(self.names)} residues and {len(self.heads)} heads do not fit attention of "
                f"shape {self.by_head.shape} and effects of shape {self.effect.shape}."
            )

    def received(self, head: int | None = None) -> Float[np.ndarray, " L"]:
        """Attention received from one head (counted from 0), or on average from all."""
        if head is None:
            return np.asarray(self.by_head.mean(axis=0))
        if not 0 <= head < len(self.heads):
            raise ValueError(f"There is no head {head + 1}: choose 1 to {len(self.heads)}.")
        return np.asarray(self.by_head[head])

    def correlation(self, head: int | None = None) -> float:
        """Spearman's rank correlation with the effect (nan where one side is constant)."""
        return rank_correlation(self.received(head), self.effect)

    def head_correlations(self) -> Float[np.ndarray, " heads"]:
        """The same for every head on its own."""
        return np.array([self.correlation(head) for head in range(len(self.heads))])


def ranks(values: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """Rank 1 for the largest value; equal values share the mean of their places."""
    values = np.round(np.asarray(values, dtype=float), 12)
    larger = (values[None, :] > values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return larger + (equal + 1) / 2


def rank_correlation(a: Float[np.ndarray, " L"], b: Float[np.ndarray, " L"]) -> float:
    """Spearman's rho: Pearson's correlation of the ranks, from -1 to 1.

    nan when fewer than two values are given or one side has a single value throughout.
    """
    if len(a) < 2:
        return float("nan")
    x, y = ranks(a) - (len(a) + 1) / 2, ranks(b) - (len(b) + 1) / 2
    spread = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / spread) if spread > 0 else float("nan")


def reading(result: Importance, head: int | None = None) -> str:
    """One sentence: the most attended residue, its place in effect, and what matters most."""
    seen, matters = _leaders(result.received(head)), _leaders(result.effect)
    if matters[0] in seen:
        name = result.names[matters[0]]
        shared = "" if len(seen) == 1 else f" (with {len(seen) - 1} other{'s' * (len(seen) > 2)})"
        return f"{name} is the most attended residue{shared}, and the one that matters most."
    place = ranks(result.effect)[seen[0]]
    who = _listed([result.names[i] for i in seen])
    verb = "receives" if len(seen) == 1 else "share"
    comes = "comes" if len(seen) == 1 else f"{result.names[seen[0]]} comes"
    return (
        f"{who} {verb} most attention but {comes} {_ordinal(place)} of {len(result.names)} in "
        f"effect; {result.names[matters[0]]} matters most."
    )


def residue_names(sequence: str) -> tuple[str, ...]:
    """C1, A2, S3, ... counted from 1."""
    return tuple(f"{letter}{place}" for place, letter in enumerate(sequence, 1))


def _leaders(values: Float[np.ndarray, " L"]) -> list[int]:
    return [int(i) for i in np.flatnonzero(ranks(values) == ranks(values).min())]


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ordinal(place: float) -> str:
    number = int(place)
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    joint = "joint " if place != number else ""
    return f"{joint}{number}" + ("th" if number % 100 in {11, 12, 13} else last)
