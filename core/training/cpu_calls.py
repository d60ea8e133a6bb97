"""Dropout and attention as the CPU does them fastest for short strings.

torch draws one slow Bernoulli number per activation, which is half of a training step; here 64
random bits decide for four activations. Its fused attention is made for long rows; for rows of
26 the formula itself is faster. The model is not changed: inside `CpuCalls` these two of
torch's calls are answered differently.
"""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int16
from torch import Tensor
from torch.overrides import TorchFunctionMode

_LEVELS = 2**16  # how finely 16 random bits divide the unit interval
_BLOCK = 2**18  # activations decided by one draw
_PER_DRAW = 4  # 16-bit numbers in a 64-bit one


class RandomBits:
    """A stream of random 16-bit numbers (SFC64, twice as fast as torch's generator)."""

    def __init__(self, seed: int):
        self._generator = np.random.Generator(np.random.SFC64(seed))
        self._left = torch.empty(0, dtype=torch.int16)

    def take(self, count: int) -> Int16[Tensor, " count"]:
        """The next `count` numbers, uniform over all of int16."""
        if len(self._left) < count:
            self._left = torch.cat([self._left, self._draw(count - len(self._left))])
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def forget_leftovers(self) -> None:
        """Let what comes next depend on the state alone."""
        self._left = self._left[:0]

    def state(self) -> str:
        """The generator's state, without leftovers, as JSON."""
        return json.dumps(self._generator.bit_generator.state, default=np.ndarray.tolist)

    def restore(self, state: str) -> None:
        """Take over a `state`. Raises ValueError when it is not one."""
        self._generator.bit_generator.state = json.loads(state)
        self.forget_leftovers()

    def _draw(self, at_least: int) -> Tensor:
        draws = -(-max(_BLOCK, at_least) // _PER_DRAW)
        wide = self._generator.integers(0, 2**64 - 1, draws, dtype=np.uint64, endpoint=True)
        return torch.from_numpy(wide.view(np.int16))


class CpuCalls(TorchFunctionMode):
    """Inside `with CpuCalls(bits):` dropout and scaled dot-product attention run as here.

    The chance of zeroing is rounded to a multiple of 1 / 65,536, and what is kept is scaled by
    the rounded chance, so the expected value is exact.
    """

    def __init__(self, bits: RandomBits):
        super().__init__()
        self._bits = bits

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Answer the two calls here, every other one as torch does."""
        kwargs = kwargs or {}
        if func is F.dropout:
            return self._dropout(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            return self._attention(*args, **kwargs)
        return func(*args, **kwargs)

    def mask(self, shape: Sequence[int], p: float) -> Float[Tensor, "..."]:
        """Zeros with chance p, 1 / (1 - p) elsewhere, each place decided by itself."""
        dropped = round(p * _LEVELS)
        bits = self._bits.take(math.prod(shape)).view(*shape)
        # Compared as floats in place: six times faster than a comparison that makes booleans.
        return bits.float().ge_(dropped - _LEVELS // 2).mul_(_LEVELS / (_LEVELS - dropped))

    def _dropout(
        self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        return x * self.mask(x.shape, p) if training and p > 0 else x

    def _attention(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None, p: float = 0.0
    ) -> Tensor:
        scores_shape = (*q.shape[:-1], k.shape[-2])
        bias = q.new_zeros(()) if bias is None else bias
        q_flat, k_flat, v_flat, bias_flat = (
            x.flatten(0, -3) for x in (q, k, v, bias.expand(scores_shape))
        )
        scores = torch.baddbmm(bias_flat, q_flat, k_flat.mT, alpha=q.shape[-1] ** -0.5)
        weights = scores.softmax(-1)
        if p > 0:
            weights = weights * self.mask(weights.shape, p)
        return (weights @ v_flat).view(*q.shape[:-1], -1)
