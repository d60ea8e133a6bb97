"""Noticing that a run has gone wrong, and saying so in a sentence. Plain numbers only."""

import math
from collections import deque

from core.training.events import StepDone

HOPELESS = 3.0  # times the loss of guessing at random
OVER_STEPS = 20
_ADVICE = "Try a lower peak, a longer warm-up or gradient clipping."


class DivergenceWatch:
    """Looks at every step; `trouble` is a sentence once the run is lost, None before.

    Lost means: loss or gradient is no number, or the loss averaged over 20 steps is three times
    what guessing one of the vocabulary's tokens at random would give.
    """

    def __init__(self, vocabulary: int):
        self._guessing = math.log(vocabulary)
        self._recent: deque[float] = deque(maxlen=OVER_STEPS)

    def trouble(self, done: StepDone) -> str | None:
        """What is wrong after this step, in words with the step and the learning rate."""
        where = f"at step {done.step:,}, at learning rate {done.learning_rate:.3g}"
        if not math.isfinite(done.loss):
            return f"The loss stopped being a number {where}: it overflowed. {_ADVICE}"
        if not math.isfinite(done.gradient_norm):
            return f"The gradient stopped being a number {where}: it overflowed. {_ADVICE}"
        self._recent.append(done.loss)
        mean = sum(self._recent) / len(self._recent)
        if len(self._recent) == OVER_STEPS and mean > HOPELESS * self._guessing:
            return (
                f"The loss diverged {where}: it averages {mean:.3g} over {OVER_STEPS} steps, and "
                f"guessing letters at random gives {self._guessing:.3g}. {_ADVICE}"
            )
        return None
