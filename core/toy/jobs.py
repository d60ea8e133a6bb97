"""Does each head do its job, and what does a row of its map say? Sentences from the numbers.

In: a sequence and a head's weights. Out: how many rows pass, which fail, one-line readings.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from core.toy.residue_vectors import chemistry
from core.written import percent

_TIE = 1e-9


@dataclass(frozen=True)
class JobTest:
    """`passed` of `of` rows put their largest weight where the job says; `failed` are 1-based.

    Rows for which the job names nowhere to look (no partner in the sequence) are not counted.
    """

    passed: int
    of: int
    failed: tuple[int, ...]

    @property
    def holds(self) -> bool:
        """True when every row that can be tested passes and there is at least one."""
        return self.of > 0 and not self.failed


def label(sequence: str, position: int) -> str:
    """`R6` for 0-based position 5."""
    return f"{sequence[position]}{position + 1}"


def labels(sequence: str) -> list[str]:
    """`C1`, `A2`, ... for every residue."""
    return [label(sequence, position) for position in range(len(sequence))]


def job_targets(head: int, sequence: str) -> Bool[np.ndarray, "L L"]:
    """Where the job of `head` (from 0) says that each row's largest weight may lie."""
    length = len(sequence)
    if head in (2, 3):
        return np.eye(length, k=-1 if head == 2 else 1, dtype=bool)
    hydropathy, charge, polar, aromatic = chemistry(sequence).T
    if head == 0:
        both_polar = np.outer(polar, polar) > 0
        return both_polar | (np.outer(charge, charge) < 0)
    hydrophobic = hydropathy > 0
    only_aromatic = (aromatic > 0) & ~hydrophobic
    return np.outer(hydrophobic, hydrophobic) | np.outer(only_aromatic, aromatic > 0)


def job_test(head: int, sequence: str, weights: Float[np.ndarray, "L L"]) -> JobTest:
    """Every key that shares the row's largest weight must be one that the job names.

    So a head that looks everywhere alike fails, though its first largest weight might fit.
    """
    targets = job_targets(head, sequence)
    largest = weights >= weights.max(axis=1, keepdims=True) - _TIE
    testable = targets.any(axis=1)
    good = testable & ~(largest & ~targets).any(axis=1)
    failed = np.flatnonzero(testable & ~good) + 1
    return JobTest(int(good.sum()), int(testable.sum()), tuple(int(row) for row in failed))


def reading(sequence: str, weights: Float[np.ndarray, "L L"], query: int) -> str:
    """One line on one row: `R6 gives 60 % to E10`, or to how many keys it gives the same."""
    row = weights[query]
    top = np.flatnonzero(row >= row.max() - _TIE)
    # Not "100 %" where a little goes elsewhere.
    almost = 0.995 <= row.max() < 0.9995
    who, share = label(sequence, query), percent(row.max(), decimals=int(almost))
    if len(top) == 1:
        key = int(top[0])
        whom = "itself" if key == query else label(sequence, key)
        return f"{who} gives {share} to {whom}"
    if len(top) == len(row):
        return f"{who} gives every residue the same {share}"
    named = ", ".join(label(sequence, int(key)) for key in top[:4])
    more = f" and {len(top) - 4} more" if len(top) > 4 else ""
    return f"{who} gives {share} to each of {named}{more}"
