"""The least arithmetic that an exact scan needs, and what this processor can do at most.

In: a model's shape and a chain's length. Out: floating-point operations, and the measured speed of
large matrix products: together the best ratio that any exact scan could reach on this machine.
"""

import statistics
import time

import torch

from core.protein.cards import ModelCard
from core.protein.fast import PackedLinear

SIZE = 2048


def least_operations(card: ModelCard, residues: int) -> float:
    """Of a whole scan, after everything that the masked copies share is computed once.

    Per token and layer, a product of n x m weights being 2nm operations: queries, keys and values
    6 d², output 2 d², feed-forward 16 d², attention 4 L d. Shared: in the first layer queries,
    keys, values and all sums of attention but the masked key's; in the last layer only the masked
    token is asked, so that keys alone are needed of the others (values are mixed before they are
    multiplied). Norms, GELU, softmax and the head are left out, so this is a lower bound.
    """
    tokens, d = residues + 2, card.d_model
    first, middle, last = 18 * d * d, 24 * d * d + 4 * tokens * d, 2 * d * d
    return residues * tokens * (first + (card.layers - 2) * float(middle) + last)


def plain_operations(card: ModelCard, residues: int) -> float:
    """Of the plain loop: every token, every layer, in every copy."""
    tokens, d = residues + 2, card.d_model
    return residues * tokens * card.layers * (24 * d * d + 4.0 * tokens * d)


@torch.no_grad()
def peak(rounds: int = 7) -> float:
    """Operations per second of a large product, by the fastest path at hand; median of rounds."""
    x = torch.randn(SIZE, SIZE)
    product = PackedLinear(torch.randn(SIZE, SIZE), torch.zeros(SIZE), SIZE)
    product(x)
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        product(x)
        seconds.append(time.perf_counter() - started)
    return 2 * SIZE**3 / statistics.median(seconds)


def ceiling(card: ModelCard, residues: int, plain_seconds: float, our_seconds: float) -> dict:
    """What was reached and what could be, as rounded numbers for a report.

    `ratio_at_peak`: how much sooner than the plain loop a scan would be that needs the least
    arithmetic and did nothing else, at the processor's full speed.
    """
    least = least_operations(card, residues)
    fastest = peak()
    return {
        "gflop_plain": round(plain_operations(card, residues) / 1e9, 1),
        "gflop_least": round(least / 1e9, 1),
        "peak_gflop_per_s": round(fastest / 1e9),
        "ours_gflop_per_s": round(least / our_seconds / 1e9),
        "ours_share_of_peak": round(least / our_seconds / fastest, 2),
        "ratio_at_peak": round(plain_seconds * fastest / least, 2),
    }
