"""Self-check questions on one block, answered by running the toy's parts in every order.

NumPy only.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from core.alphabet import DEFAULT_SEQUENCE
from core.toy.block import (
    BlockWeights,
    attention_weight_count,
    block_steps,
    block_weights,
    feed_forward_weight_count,
    gelu,
    layer_norm,
)
from core.toy.heads import HEADS, multi_head
from core.toy.residue_vectors import residue_vectors
from core.traps.question import ROUNDING, Question
from core.written import typeset

Vectors = Float[np.ndarray, "L d_model"]


def one_layer() -> Question:
    """Walk through one layer: each option is an order of operations, and is really run."""
    x = residue_vectors(DEFAULT_SEQUENCE)
    target = block_steps(x).leaving
    orders: tuple[tuple[str, Callable[[Vectors], Vectors]], ...] = (
        ("attend, add back, normalise; feed forward, add back, normalise", _post_norm),
        ("normalise, feed forward, add back; normalise, attend, add back", _think_first),
        ("normalise, attend, add back; normalise, feed forward, add back", _pre_norm),
        ("normalise, attend; normalise, feed forward; nothing is added back", _no_shortcut),
    )
    apart = [float(np.abs(order(x) - target).max()) for _, order in orders]
    return Question(
        "One layer",
        "You pass CASSIRSSYEQYF through one block of the toy (pre-LayerNorm, as in ESM-2). In "
        "which order do its parts work?",
        tuple(words for words, _ in orders),
        int(np.argmin(apart)),
        tuple(_how_far(distance) for distance in apart),
    )


def feed_forward_share() -> Question:
    """Where the weights are: counted in the toy's own arrays."""
    attention, feed_forward = attention_weight_count(), feed_forward_weight_count()
    share = feed_forward / (attention + feed_forward)
    options = (1 / 3, 1 / 2, 2 / 3)
    said = (
        f"{feed_forward} of {attention + feed_forward} weights: 8 d² against 4 d². Attention lets "
        "residues talk, the feed-forward network lets each one think."
    )
    return Question(
        "The weights",
        "What share of a block's weights sits in its feed-forward network?",
        ("a third", "half", "two thirds"),
        int(np.argmin([abs(share - option) for option in options])),
        (said,) * len(options),
    )


def _how_far(distance: float) -> str:
    if distance < ROUNDING:
        rounding = typeset(distance, ".1e")
        return f"Run in this order, the parts give the block's output (difference {rounding})."
    return f"Run in this order, the parts miss the block's output by up to {distance:.2f}."


def _talk(x: Vectors, weights: BlockWeights) -> Vectors:
    return multi_head(x, HEADS, weights.w_o)


def _think(x: Vectors, weights: BlockWeights) -> Vectors:
    return gelu(x @ weights.w_1 + weights.b_1) @ weights.w_2 + weights.b_2


def _pre_norm(x: Vectors) -> Vectors:
    w = block_weights()
    x = x + _talk(layer_norm(x), w)
    return x + _think(layer_norm(x), w)


def _post_norm(x: Vectors) -> Vectors:
    w = block_weights()
    x = layer_norm(x + _talk(x, w))
    return layer_norm(x + _think(x, w))


def _think_first(x: Vectors) -> Vectors:
    w = block_weights()
    x = x + _think(layer_norm(x), w)
    return x + _talk(layer_norm(x), w)


def _no_shortcut(x: Vectors) -> Vectors:
    w = block_weights()
    return _think(layer_norm(_talk(layer_norm(x), w)), w)
