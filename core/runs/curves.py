"""From what a run recorded to what a chart draws: smoothing, thinning, rate and time left.

In: arrays of steps and values. Out: arrays and numbers. Pure; knows nothing of where they lie.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

MOST_POINTS = 800


@dataclass(frozen=True)
class Pace:
    """Steps per second over the last stretch, and seconds left at that rate (None: unknown)."""

    steps_per_second: float | None
    seconds_left: float | None


def smoothing_for(steps: int) -> float:
    """What to keep of the past: a memory of a 200th of the run, 5 steps at least."""
    return 1 - 1 / max(5.0, steps / 200)


def smooth(values: Float[np.ndarray, " n"], keep: float) -> Float[np.ndarray, " n"]:
    """Exponential moving average, started without bias: the first value is itself.

    Each result is the weighted mean of all values so far, weights `keep` to the power of their
    age (the bias correction of Kingma and Ba 2015, section 3). NaN stays NaN from there on.
    """
    total = weight = 0.0
    result = np.empty(len(values))
    for i, value in enumerate(values):
        total = keep * total + value
        weight = keep * weight + 1.0
        result[i] = total / weight
    return result


def thin(
    steps: Int[np.ndarray, " n"], values: Float[np.ndarray, " n"], most: int = MOST_POINTS
) -> Int[np.ndarray, " kept"]:
    """Which points to draw: the lowest and the highest of each of `most` / 2 stretches.

    Every spike survives, as taking every k-th point would not allow; the last point is kept too.
    """
    if len(steps) <= most:
        return np.arange(len(steps))
    edges = np.linspace(0, len(steps), (most - 1) // 2 + 1).astype(int)
    finite = np.where(np.isfinite(values), values, np.inf)
    kept = {len(steps) - 1}
    for low, high in pairwise(edges):
        kept.add(low + int(np.argmin(finite[low:high])))
        kept.add(low + int(np.argmax(finite[low:high])))
    return np.array(sorted(kept), dtype=int)


def pace(
    steps: Int[np.ndarray, " n"], seconds: Float[np.ndarray, " n"], last: int, window: float = 5.0
) -> Pace:
    """Rate over the last `window` seconds of training time, and the time left until step `last`."""
    if len(steps) < 2:
        return Pace(None, None)
    begin = int(np.searchsorted(seconds, seconds[-1] - window))
    begin = min(begin, len(steps) - 2)
    elapsed = float(seconds[-1] - seconds[begin])
    if elapsed <= 0:
        return Pace(None, None)
    rate = float(steps[-1] - steps[begin]) / elapsed
    return Pace(rate, (last - int(steps[-1])) / rate)
