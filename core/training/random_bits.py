"""Dropout on the CPU from 7 random bits per activation.

torch draws one slow Bernoulli number for each, which is half of a training step. Here 64 random
bits decide for eight, and are never turned into other numbers: read as they are as a 32-bit
float, of whose value the first byte decides, they can be compared and applied in one call.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

_LEVELS = 2**7  # how finely 7 random bits divide the unit interval
_LANES = 4  # bytes in a float: as many readings of the same memory, each a byte further on
_WIDE = 2**20  # floats in a reading
_ZERO_UP_TO = torch.ops.aten.threshold_backward.grad_input
# No byte's first bit: then a number's exponent is even and below 255, so none is NaN.
_SEVEN_OF_EIGHT = 0x7F7F7F7F7F7F7F7F


@dataclass(frozen=True)
class Mask:
    """Which activations stay: those with a number above `limit`, all but `dropped` in 128."""

    numbers: Float32[Tensor, "..."]
    dropped: int

    @property
    def limit(self) -> float:
        """Between the numbers whose first byte is below `dropped` and all others."""
        return 2.0 ** (2 * self.dropped - 128) if self.dropped else -1.0

    @property
    def scale(self) -> float:
        """What those that stay are multiplied by, so that the expected value stays the same."""
        return _LEVELS / (_LEVELS - self.dropped)

    def apply(self, x: Float[Tensor, "..."], out: Tensor) -> Float[Tensor, "..."]:
        """Write `x` to `out`, with zeros where it is dropped; not scaled. Gives `out`."""
        return _ZERO_UP_TO(x, self.numbers.view_as(x), self.limit, grad_input=out)


class RandomBits:
    """A stream of random bits (SFC64, twice as fast as torch's generator)."""

    def __init__(self, seed: int):
        self._generator = np.random.Generator(np.random.SFC64(seed))
        self._readings: list[Tensor] = []
        self._before = self._generator.bit_generator.state
        self._width, self._lane, self._taken = 0, _LANES, 0

    def mask(self, shape: Sequence[int], p: float) -> Mask:
        """Drops each place with chance p, by itself.

        For one mask p is rounded to a multiple of 1 / 128, up or down by chance so that over
        masks it is p; the scale is that of the rounded chance, so that the expected value is
        exact in each.
        """
        count = math.prod(shape)
        if self._taken + count > self._width:
            self._lane, self._taken = self._lane + 1, 0
        if self._lane >= _LANES or count > self._width:
            self._draw(max(count, _WIDE))
        dropped = int(p * _LEVELS + self._generator.random())
        numbers = self._readings[self._lane][self._taken : self._taken + count]
        self._taken += count
        return Mask(numbers.view(*shape), dropped)

    def state(self) -> str:
        """Where the stream is, as JSON."""
        now = self._generator.bit_generator.state
        place = {"before": self._before, "width": self._width, "lane": self._lane}
        found = {**place, "taken": self._taken, "now": now}
        return json.dumps(found, default=np.ndarray.tolist)

    def restore(self, state: str) -> None:
        """Take over a `state`. Raises ValueError when it is not one."""
        try:
            found = json.loads(state)
            self._generator.bit_generator.state = found["before"]
            self._draw(int(found["width"]))
            self._generator.bit_generator.state = found["now"]
            self._lane, self._taken = int(found["lane"]), int(found["taken"])
        except (ValueError, TypeError, KeyError) as problem:
            raise ValueError("This is not the state of a stream of random bits.") from problem

    def _draw(self, width: int) -> None:
        self._before = self._generator.bit_generator.state
        words = self._generator.bit_generator.random_raw(width // 2 + 2)
        torch.from_numpy(words.view(np.int64)).bitwise_and_(_SEVEN_OF_EIGHT)
        self._readings = [
            torch.frombuffer(words, dtype=torch.float32, count=width, offset=lane)
            for lane in range(_LANES if width else 0)
        ]
        self._width, self._lane, self._taken = width, 0, 0
