"""The tricks of training, each with what it does and a number that shows it.

Out: lines of a table. NumPy only; the settings are the paper recipe's.
"""

import numpy as np

from core.alphabet import FIRST_LETTER_ID
from core.training.recipe import PAPER
from core.training.schedule import learning_rate, smoothing_floor
from core.traps.shown import Shown
from core.written import percent, typeset

LAYERS, WIDTH = 12, 64
SPREADS = {"small": 0.02, "large": 1.0}
# Two letters, two steps: the likeliest first letter leads to the less likely whole.
FIRST = (0.6, 0.4)
SECOND = ((0.55, 0.45), (0.05, 0.95))


def tricks() -> tuple[Shown, ...]:
    """Warm-up, label smoothing, dropout, clipping, Xavier, beam search."""
    return warm_up(), label_smoothing(), dropout(), clipping(), xavier(), beam_search()


def warm_up() -> Shown:
    """The learning rate before, at and after the end of the warm-up."""
    at = (1, PAPER.warmup, PAPER.steps)
    rates = [learning_rate(PAPER, step) for step in at]
    return Shown(
        "Warm-up",
        "Small steps while the weights are random; post-LN models often diverge without it.",
        ", ".join(
            f"{typeset(rate, '.1e')} at step {step:,}" for rate, step in zip(rates, at, strict=True)
        ),
    )


def label_smoothing() -> Shown:
    """The floor that it puts under the loss."""
    floor = smoothing_floor(PAPER.label_smoothing, FIRST_LETTER_ID + len(PAPER.letters))
    return Shown(
        f"Label smoothing {PAPER.label_smoothing:g}",
        "Asks for less than certainty, against over-confidence.",
        f"the loss cannot fall below {floor:.3f}",
    )


def dropout() -> Shown:
    """How many numbers one draw switches off, and what that does to their mean."""
    random = np.random.default_rng(0)
    kept = random.random(10_000) >= PAPER.dropout
    mean = (kept / (1 - PAPER.dropout)).mean()
    return Shown(
        f"Dropout {PAPER.dropout:g}",
        "Switches numbers off at random while training, so that none is relied on; the rest "
        "grows to keep the mean.",
        f"one draw: {percent(1 - kept.mean())} off, mean still {mean:.2f}",
    )


def clipping() -> Shown:
    """A long gradient before and after."""
    gradient = np.random.default_rng(0).normal(size=WIDTH)
    length = float(np.linalg.norm(gradient))
    clipped = gradient * min(1.0, PAPER.clip_norm / length)
    return Shown(
        "Gradient clipping",
        "Shortens a gradient that is too long, so that one bad batch cannot undo the training.",
        f"length {length:.1f} becomes {np.linalg.norm(clipped):.1f}, same direction",
    )


def xavier() -> Shown:
    """Spread of a signal after many layers, by first weights."""
    xavier_left = signal_left("xavier")
    small, large = (typeset(signal_left(name), ".0e") for name in SPREADS)
    return Shown(
        "Xavier initialisation",
        "Draws first weights so that signals neither grow nor fade from layer to layer.",
        f"spread after {LAYERS} layers: {xavier_left:.1f}; {small} with weights of spread "
        f"{SPREADS['small']:g}, {large} with spread {SPREADS['large']:g}",
    )


def beam_search() -> Shown:
    """Greedy and beam on a table of two steps."""
    greedy = max(FIRST) * max(SECOND[int(np.argmax(FIRST))])
    best = max(p * q for p, row in zip(FIRST, SECOND, strict=True) for q in row)
    return Shown(
        "Beam search",
        "Keeps the few best unfinished outputs instead of one while writing.",
        f"first letter {percent(FIRST[0])} or {percent(FIRST[1])}: greedy ends at "
        f"{percent(greedy)}, a beam of 2 at {percent(best)}",
    )


def signal_left(first_weights: str) -> float:
    """Spread of 50 random vectors of spread 1 after `LAYERS` linear layers of width 64."""
    random = np.random.default_rng(0)
    x = random.normal(size=(50, WIDTH))
    for _ in range(LAYERS):
        if first_weights == "xavier":
            w = random.uniform(-1, 1, (WIDTH, WIDTH)) * np.sqrt(3 / WIDTH)
        else:
            w = random.normal(0, SPREADS[first_weights], (WIDTH, WIDTH))
        x = x @ w
    return float(x.std())
