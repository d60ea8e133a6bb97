"""Two rankings of the same residues, and how well they agree.

In: one number per residue for attention received and one for the effect of ablating it.
Out: ranks and Spearman's rank correlation. Knows nothing of any model.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Importance:
    """For every residue of one sequence: what looked at it, and what its loss changes.

    `received` is attention weight (mean share over the queries), `effect` the size of the
    change of the model's output when the residue is ablated; `effect_unit` says in what.
    """

    model: str
    letters: str
    received: Float[np.ndarray, " L"]
    effect: Float[np.ndarray, " L"]
    effect_unit: str

    def __post_init__(self) -> None:
        lengths = {len(self.letters), len(self.received), len(self.effect)}
        if len(lengths) != 1:
            raise ValueError(
                f"{len(self.letters)} letters, {len(self.received)} attention values and "
                f"{len(self.effect)} effects do not describe the same residues."
            )

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of the two columns (nan when one of them is constant)."""
        return rank_correlation(self.received, self.effect)


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
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be ranked against each other.")
    if len(a) < 2:
        return float("nan")
    x, y = ranks(a) - (len(a) + 1) / 2, ranks(b) - (len(b) + 1) / 2
    spread = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / spread) if spread > 0 else float("nan")


def reading(result: Importance) -> str:
    """One sentence: the most attended residue, the most important one, and the agreement."""
    seen, matters = int(np.argmax(result.received)), int(np.argmax(result.effect))
    names = [f"{letter}{i}" for i, letter in enumerate(result.letters, 1)]
    place = f"{ranks(result.effect)[seen]:g}"
    if seen == matters:
        return f"{names[seen]} is both the most attended residue and the one that matters most."
    return (
        f"{names[seen]} receives most attention but comes {_ordinal(place)} of "
        f"{len(names)} in effect; {names[matters]} matters most."
    )


def _ordinal(place: str) -> str:
    if "." in place:
        return f"joint {place}th"
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(place[-1], "th")
    return place + ("th" if place[-2:] in {"11", "12", "13"} else ending)
