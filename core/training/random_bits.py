"""Dropout's masks on the CPU from 8 random bits per activation.

torch draws one slow Bernoulli number for each, which is half of a training step; here 64
random bits decide for eight.
"""

import json
import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

_LEVELS = 2**8  # how finely 8 random bits divide the unit interval
_PER_DRAW = 8  # 8-bit numbers in a 64-bit one


class RandomBits:
    """A stream of random bits (SFC64, twice as fast as torch's generator)."""

    def __init__(self, seed: int):
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def mask(self, shape: Sequence[int], p: float) -> Float[Tensor, "..."]:
        """Zeros with chance p, 1 / (1 - p) elsewhere, each place decided by itself.

        For one mask p is rounded to a multiple of 1 / 256, up or down by chance so that over
        masks it is p; what is kept is scaled by the rounded chance, so that the expected value
        is exact in each.
        """
        count, dropped = math.prod(shape), int(p * _LEVELS + self._generator.random())
        draws = -(-count // _PER_DRAW)
        wide = self._generator.integers(0, 2**64 - 1, draws, dtype=np.uint64, endpoint=True)
        bits = torch.from_numpy(wide.view(np.uint8)[:count]).view(*shape)
        # Compared as floats in place: six times faster than a comparison that makes booleans.
        return bits.float().ge_(dropped).mul_(_LEVELS / (_LEVELS - dropped))

    def state(self) -> str:
        """The generator's state as JSON."""
        return json.dumps(self._generator.bit_generator.state, default=np.ndarray.tolist)

    def restore(self, state: str) -> None:
        """Take over a `state`. Raises ValueError when it is not one."""
        try:
            self._generator.bit_generator.state = json.loads(state)
        except (ValueError, TypeError, KeyError) as problem:
            raise ValueError("This is not the state of a stream of random bits.") from problem
