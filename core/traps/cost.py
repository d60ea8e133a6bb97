"""What attention costs as the sequence grows: measured on this machine, quadratic drawn.

In: the lengths to try. Out: one measurement per length. NumPy only; the arithmetic is the toy
model's own `attend`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.toy.attention import attend

LENGTHS = (64, 128, 256, 512, 1024, 2048)
MAX_LENGTH = 2048
WIDTH = 64
# Growth per doubling of what only reads the sequence: attention cannot grow less than that.
LINEAR = 2.0


@dataclass(frozen=True)
class Measurement:
    """One head over `length` letters: score count, best time of the rounds, array memory.

    `megabytes` counts only the arrays of L x L numbers that `attend` returns (scores,
    scaled, weights); the rest grows with L alone.
    """

    length: int
    pairs: int
    seconds: float
    megabytes: float


def measure(
    lengths: Sequence[int] = LENGTHS, *, rounds: int = 5, seed: int = 0
) -> list[Measurement]:
    """Run one head of width 64 over each length, several rounds; the best time of each counts.

    In rounds, and not length by length, so that what disturbs the machine for a moment
    disturbs no length every time. Raises ValueError when a length is outside 1 to 2,048 (three
    arrays of 34 MB each).
    """
    for length in lengths:
        if not 1 <= length <= MAX_LENGTH:
            raise ValueError(
                f"A length of {length:,} is outside the 1 to {MAX_LENGTH:,} tried here."
            )
    # The first call of a process also loads the linear algebra library.
    _timed(16, seed)
    runs = [[_timed(length, seed + turn) for length in lengths] for turn in range(rounds)]
    return [
        Measurement(length, length**2, min(s for s, _ in tries), tries[0][1] / 1e6)
        for length, tries in zip(lengths, zip(*runs, strict=True), strict=True)
    ]


def quadratic(measurements: Sequence[Measurement], lengths: Sequence[float]) -> list[float]:
    """Seconds expected at `lengths` if cost were exactly proportional to L^2.

    The curve is pinned to the longest measurement, where fixed costs weigh least.
    """
    longest = max(measurements, key=lambda m: m.length)
    return [longest.seconds * (length / longest.length) ** 2 for length in lengths]


def growth(measurements: Sequence[Measurement]) -> tuple[float, float]:
    """How much time and memory grew between the two longest lengths, per doubling of length."""
    shorter, longer = sorted(measurements, key=lambda m: m.length)[-2:]
    doublings = np.log2(longer.length / shorter.length)
    return (
        float((longer.seconds / shorter.seconds) ** (1 / doublings)),
        float((longer.megabytes / shorter.megabytes) ** (1 / doublings)),
    )


def _timed(length: int, seed: int) -> tuple[float, int]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(length, WIDTH))
    w_q, w_k, w_v = rng.normal(0, WIDTH**-0.5, size=(3, WIDTH, WIDTH))
    start = time.perf_counter()
    steps = attend(x, w_q, w_k, w_v)
    seconds = time.perf_counter() - start
    square = (steps.scores, steps.scaled, steps.weights)
    return seconds, sum(array.nbytes for array in square)
