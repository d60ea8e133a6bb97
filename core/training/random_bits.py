"""Dropout on the CPU from 8 random bits per activation.

torch draws one slow Bernoulli number for each, which is half of a training step; here 64
random bits decide for eight, and are compared and applied in one call.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

_LEVELS = 2**8  # how finely 8 random bits divide the unit interval
_PER_DRAW = 8  # 8-bit numbers in a 64-bit one
_ZERO_UP_TO = torch.ops.aten.threshold_backward


@dataclass(frozen=True)
class Mask:
    """Which activations stay: those whose random bits are not below `dropped`."""

    bits: UInt8[Tensor, "..."]
    dropped: int

    @property
    def scale(self) -> float:
        """What those that stay are multiplied by, so that the expected value stays the same."""
        return _LEVELS / (_LEVELS - self.dropped)

    def of(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """`x` with zeros where it is dropped; not scaled."""
        return _ZERO_UP_TO(x, self.bits.view_as(x), self.dropped - 1)

    def of_(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """The same in place."""
        bits = self.bits.view_as(x)
        return _ZERO_UP_TO.grad_input(x, bits, self.dropped - 1, grad_input=x)


class RandomBits:
    """A stream of random bits (SFC64, twice as fast as torch's generator)."""

    def __init__(self, seed: int):
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def mask(self, shape: Sequence[int], p: float) -> Mask:
        """Drops each place with chance p, by itself.

        For one mask p is rounded to a multiple of 1 / 256, up or down by chance so that over
        masks it is p; the scale is that of the rounded chance, so that the expected value is
        exact in each.
        """
        count, dropped = math.prod(shape), int(p * _LEVELS + self._generator.random())
        wide = self._generator.bit_generator.random_raw(-(-count // _PER_DRAW))
        return Mask(torch.from_numpy(wide.view(np.uint8)[:count]).view(*shape), dropped)

    def state(self) -> str:
        """The generator's state as JSON."""
        return json.dumps(self._generator.bit_generator.state, default=np.ndarray.tolist)

    def restore(self, state: str) -> None:
        """Take over a `state`. Raises ValueError when it is not one."""
        try:
            self._generator.bit_generator.state = json.loads(state)
        except (ValueError, TypeError, KeyError) as problem:
            raise ValueError("This is not the state of a stream of random bits.") from problem
