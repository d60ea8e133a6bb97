"""Why a model that answers with full certainty pays for it under label smoothing.

In: the probability of the right token. Out: nats. Knows nothing of any model.
"""

import math


def smoothed_loss(p_true: float, smoothing: float, vocabulary: int) -> float:
    """Cross-entropy (nats) when the model gives the true token `p_true`, the rest alike.

    The target gives every token smoothing / vocabulary, and the true one 1 - smoothing more
    (Szegedy et al. 2016, section 7; torch's definition). Its entropy, the least that this can
    be, is `core.training.schedule.smoothing_floor`.

    Raises ValueError for a probability outside 0 to 1, both ends excluded.
    """
    if not 0 < p_true < 1:
        raise ValueError(f"A probability of {p_true} is not between 0 and 1.")
    other = smoothing / vocabulary
    of_others = math.log((1 - p_true) / (vocabulary - 1))
    return -(1 - smoothing + other) * math.log(p_true) - (vocabulary - 1) * other * of_others
