"""From what a run recorded to what a chart draws: smoothing, thinning, rate and time left.

In: arrays of steps and values. Out: arrays and numbers. Pure; knows nothing of where they lie.
"""

from dataclasses import dataclass

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
    result = []
    # Plain floats: indexing an array one by one would take five times as long.
    for value in values.tolist():
        total = keep * total + value
        weight = keep * weight + 1.0
        result.append(total / weight)
    return np.array(result, dtype=float)


def thin(
    steps: Int[np.ndarray, " n"], values: Float[np.ndarray, " n"], most: int = MOST_POINTS
) -> Int[np.ndarray, " kept"]:
    """Which points to draw: the lowest and the highest of each of `most` / 2 stretches.

    Every spike survives, as taking every k-th point would not allow; the last point is kept too.
    """
    count = len(steps)
    if count <= most:
        return np.arange(count)
    width = -(-count // ((most - 1) // 2))
    rows = -(-count // width)
    padded = np.full(rows * width, np.nan)
    padded[:count] = values
    stretches = padded.reshape(rows, width)
    begins = np.arange(rows) * width
    lowest = begins + np.argmin(np.where(np.isfinite(stretches), stretches, np.inf), axis=1)
    highest = begins + np.argmax(np.where(np.isfinite(stretches), stretches, -np.inf), axis=1)
    return np.unique(np.concatenate([lowest, highest, [count - 1]]))


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
