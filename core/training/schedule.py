"""How the learning rate runs, and the lowest loss that label smoothing allows: pure numbers.

In: a recipe and a step, counted from 1. Out: a float. Knows nothing of torch.
"""

import math

from core.training.recipe import Recipe


def learning_rate(recipe: Recipe, step: int) -> float:
    """The rate used at `step` (the first step is 1). Raises ValueError below 1."""
    if step < 1:
        raise ValueError(f"Steps count from 1; there is no step {step}.")
    if recipe.schedule == "paper":
        return paper_rate(step, recipe.d_model, recipe.warmup)
    return linear_rate(
        step, recipe.steps, recipe.warmup, recipe.peak, recipe.final_fraction, recipe.decay_power
    )


def paper_rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup^-1.5); warmup 0 leaves step^-0.5 alone.

    Source: Vaswani et al. 2017, equation 3.
    """
    climb = step * warmup**-1.5 if warmup else math.inf
    return float(d_model**-0.5 * min(step**-0.5, climb))


def linear_rate(
    step: int, steps: int, warmup: int, peak: float, final_fraction: float, power: float = 1.0
) -> float:
    """Straight up to `peak` at step `warmup`, down to its `final_fraction` at `steps`.

    Down in proportion to what is left of the way, to the power `power`: 1 is a straight line.
    """
    if step < warmup:
        return peak * step / warmup
    left = 1 - min(1.0, (step - warmup) / max(1, steps - warmup))
    return peak * (final_fraction + (1 - final_fraction) * left**power)


def smoothing_floor(label_smoothing: float, vocabulary: int) -> float:
    """Entropy (nats) of the smoothed target: no model's loss can be lower on average.

    The target is (1 - s) on the right token plus s spread over all `vocabulary` tokens, the
    right one included (Szegedy et al. 2016, section 7), so it is not certain and costs its own
    entropy.
    """
    if label_smoothing == 0:
        return 0.0
    share = label_smoothing / vocabulary
    right = 1 - label_smoothing + share
    return -right * math.log(right) - (vocabulary - 1) * share * math.log(share)
