"""Self-check questions on training, answered from the paper recipe.

Knows nothing of torch.
"""

import math

import numpy as np

from core.alphabet import FIRST_LETTER_ID
from core.training.recipe import PAPER
from core.training.schedule import smoothing_floor
from core.traps.question import Question
from core.traps.smoothing import smoothed_loss
from core.written import percent

_SURE = 0.9999  # more than the smoothed target asks for


def loss_floor() -> Question:
    """Why the loss stops near 0.6: the entropy of the smoothed target."""
    tokens = FIRST_LETTER_ID + len(PAPER.letters)
    smoothing = PAPER.label_smoothing
    floor = smoothing_floor(smoothing, tokens)
    sure = smoothed_loss(_SURE, smoothing, tokens)
    options = (0.0, smoothing, floor, math.log(tokens))
    said = (
        f"The target gives the right letter {1 - smoothing + smoothing / tokens:.3f} and shares "
        f"the rest among {tokens - 1} tokens; answering exactly that costs {floor:.3f}. Being "
        f"surer costs more: at {percent(_SURE, 2)} the loss is {sure:.3f}. Guessing blindly costs "
        f"{math.log(tokens):.2f}."
    )
    return Question(
        "The loss that stops",
        f"Label smoothing is {smoothing:g} over {tokens} tokens, and the model makes no mistakes. "
        "What is the lowest loss it can reach?",
        tuple(f"{value:.2f}" for value in options),
        int(np.argmin([abs(value - floor) for value in options])),
        (said,) * len(options),
    )
