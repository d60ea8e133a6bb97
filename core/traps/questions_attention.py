"""Self-check questions on attention, answered by the toy's four heads.

NumPy only.
"""

import math

import numpy as np
from jaxtyping import Float

from core.alphabet import DEFAULT_SEQUENCE
from core.toy.attention import causal, softmax
from core.toy.heads import attend_each, concatenate
from core.toy.residue_vectors import residue_vectors
from core.traps.order_toy import shuffle_toy
from core.traps.question import ROUNDING, Question
from core.written import percent, typeset


def positions() -> Question:
    """Why positional encodings: a shuffle with positions off is undone by shuffling back."""
    result = shuffle_toy(DEFAULT_SEQUENCE)
    off, on = result.without_positions, result.with_positions
    moved = np.flatnonzero(result.order != np.arange(len(result.order)))
    said = (
        f"Without positions the {len(off)} vectors are the old ones in the new order (largest "
        f"difference {typeset(off.max(), '.1e')}, rounding). With positions they move by up to "
        f"{on.max():.2f}."
    )
    new_rows = np.flatnonzero((off > ROUNDING).any(axis=1))
    found = 0 if not len(new_rows) else 1 if set(new_rows) == set(moved) else 2
    return Question(
        "Positions",
        f"Positions are off and CASSIRSSYEQYF is shuffled to {result.shuffled}. What comes out?",
        (
            "The same vectors, shuffled in the same way",
            "New vectors for the letters that moved, old ones for the rest",
            "New vectors everywhere",
        ),
        found,
        (said, said, said),
    )


def several_heads() -> Question:
    """Why several heads: how many different vectors the four serines become."""
    serines = [i for i, letter in enumerate(DEFAULT_SEQUENCE) if letter == "S"]
    steps = attend_each(residue_vectors(DEFAULT_SEQUENCE))
    few = _distinct(concatenate(steps, muted=frozenset({2, 3}))[serines])
    all_four = _distinct(concatenate(steps)[serines])
    counts = tuple(range(1, len(serines) + 1))
    said = (
        f"Heads 1 and 2 read chemistry only and give {few} different vector"
        f"{'s' if few > 1 else ''}; with the neighbour heads 3 and 4 there are {all_four}. Each "
        "head follows one pattern, so several patterns need several heads."
    )
    return Question(
        "Several heads",
        "The four serines of CASSIRSSYEQYF go in with the same chemistry. Heads 3 and 4 are "
        "muted. How many different vectors come out for them?",
        tuple(str(n) for n in counts),
        counts.index(few),
        (said,) * len(counts),
    )


def square_root() -> Question:
    """Why sqrt(d_k): the spread of a dot product of d_k random numbers."""
    d_k, keys, draws = 64, len(DEFAULT_SEQUENCE), 1000
    random = np.random.default_rng(0)
    queries = random.normal(size=(draws, 1, d_k))
    scores = (queries * random.normal(size=(draws, keys, d_k))).sum(axis=-1)
    spread = float(scores.std())
    raw, scaled = (
        float(np.median(softmax(s).max(axis=1))) for s in (scores, scores / math.sqrt(d_k))
    )
    options = (1, 8, 64)
    said = (
        f"Over {draws:,} draws the scores spread by {spread:.1f}, the square root of {d_k}. "
        f"Softmax then gives one of {keys} keys {percent(raw)} of the weight (median); divided by "
        f"{math.sqrt(d_k):g} it gives {percent(scaled)}, and the gradient can still choose."
    )
    return Question(
        "The square root",
        f"Queries and keys hold d_k = {d_k} random numbers of spread 1. How far do their dot "
        "products spread (standard deviation)?",
        tuple(f"about {n}" for n in options),
        int(np.argmin([abs(spread - n) for n in options])),
        (said,) * len(options),
    )


def causal_mask() -> Question:
    """What the causal mask forbids: change one residue and see which outputs move."""
    changed, length = 6, len(DEFAULT_SEQUENCE)
    swapped = DEFAULT_SEQUENCE[: changed - 1] + "A" + DEFAULT_SEQUENCE[changed:]
    apart = _apart_when_causal(DEFAULT_SEQUENCE, swapped)
    moved = {int(place) for place in np.flatnonzero(apart > ROUNDING) + 1}
    sets = (
        (f"1 to {changed - 1}", set(range(1, changed))),
        (f"only {changed}", {changed}),
        (f"{changed} to {length}", set(range(changed, length + 1))),
        (f"all {length}", set(range(1, length + 1))),
    )
    said = (
        f"Outputs {min(moved)} to {max(moved)} moved, the earlier ones by "
        f"{typeset(apart[: changed - 1].max(), 'g')}: no residue may look ahead, so a decoder "
        "cannot copy the answer that it has to write."
    )
    return Question(
        "The causal mask",
        f"The causal mask is on, and R{changed} becomes A. Which outputs of the four heads change?",
        tuple(words for words, _ in sets),
        [places for _, places in sets].index(moved),
        (said,) * len(sets),
    )


def _apart_when_causal(before: str, after: str) -> Float[np.ndarray, " L"]:
    masked = [
        concatenate(attend_each(residue_vectors(s), may_attend=causal(len(s))))
        for s in (before, after)
    ]
    return np.asarray(np.abs(masked[1] - masked[0]).max(axis=1))


def _distinct(rows: Float[np.ndarray, "n d_model"]) -> int:
    return len(np.unique(rows.round(6), axis=0))
