"""What bfloat16 changes, measured on one chain: how far the numbers move, how much sooner.

In: a model and a chain. Out: plain numbers. Knows nothing of files.
"""

import time
from dataclasses import dataclass

import numpy as np

from core.protein.chain import Chain
from core.protein.model import LanguageModel
from core.protein.scan import BATCH, scan


@dataclass(frozen=True)
class PrecisionCheck:
    """The largest difference of a probability from float32, and how many times as fast it was."""

    largest_difference: float
    times_as_fast: float


def check_bf16(model: LanguageModel, chain: Chain) -> PrecisionCheck:
    """Scan the chain in float32 and in bf16 and compare; time is the processor's."""
    tables, seconds = [], []
    for precision in ("float32", "bf16"):
        packed = model.packed(BATCH * len(chain), precision)
        scan(model, chain, positions=[1], packed=packed)  # the first pass also fills caches
        started = time.process_time()
        tables.append(scan(model, chain, packed=packed))
        seconds.append(time.process_time() - started)
    difference = float(np.abs(tables[0] - tables[1]).max())
    return PrecisionCheck(difference, seconds[0] / seconds[1])
