"""Why a trained model's loss stops above zero: the entropy of the smoothed target.

In: the smoothing and the number of tokens. Out: nats. Knows nothing of any model.
"""

import math


def smoothing_floor(smoothing: float, vocabulary: int) -> float:
    """Lowest cross-entropy (nats) against a target smoothed over `vocabulary` tokens.

    The target gives every token smoothing / vocabulary, and the true one 1 - smoothing more
    (Szegedy et al. 2016, section 7; torch's definition). The best a model can do is to answer
    with exactly that, and then the loss is its entropy.

    Raises ValueError for a smoothing outside 0 to 1 or fewer than two tokens.
    """
    if not 0 <= smoothing <= 1 or vocabulary < 2:
        raise ValueError(
            f"Smoothing {smoothing} over {vocabulary} tokens: it must lie between 0 and 1, over "
            "at least 2 tokens."
        )
    other = smoothing / vocabulary
    true = 1 - smoothing + other
    return -sum(p * math.log(p) for p in (true, *[other] * (vocabulary - 1)) if p > 0)


def smoothed_loss(p_true: float, smoothing: float, vocabulary: int) -> float:
    """Cross-entropy (nats) when the model gives the true token `p_true`, the rest alike.

    Raises ValueError for a probability outside 0 to 1, both ends excluded.
    """
    if not 0 < p_true < 1:
        raise ValueError(f"A probability of {p_true} is not between 0 and 1.")
    other = smoothing / vocabulary
    of_others = math.log((1 - p_true) / (vocabulary - 1))
    return -(1 - smoothing + other) * math.log(p_true) - (vocabulary - 1) * other * of_others
