"""Dropout on the CPU with cheap random numbers.

torch draws one slow Bernoulli number per activation on most processors, which is more than
half of a training step. Here one draw of 64 random bits decides for four activations. The
model is not changed: inside `CheapDropout` torch's own calls are answered differently.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

_LEVELS = 2**16  # how finely 16 random bits divide the unit interval
_BLOCK = 2**18  # activations decided by one draw
_PER_DRAW = 4  # 16-bit numbers in a 64-bit one


class CheapDropout(TorchFunctionMode):
    """Inside `with CheapDropout(generator):` dropout, also in fused attention, draws from here.

    The chance of zeroing is rounded to a multiple of 1 / 65,536, and what is kept is scaled by
    the rounded chance, so the expected value is exact. `generator` is a CPU generator.
    """

    def __init__(self, generator: torch.Generator):
        super().__init__()
        self._generator = generator
        self._bits = torch.empty(0, dtype=torch.int16)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Answer F.dropout and dropped-out attention here, everything else as torch does."""
        kwargs = kwargs or {}
        if func is F.dropout:
            return self._dropout(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            return self._attention(*args, **kwargs)
        return func(*args, **kwargs)

    def start_step(self) -> None:
        """Forget leftover bits, so that a step depends on the generator's state alone."""
        self._bits = self._bits[:0]

    def mask(self, shape: Sequence[int], p: float) -> Float[Tensor, "..."]:
        """Zeros with chance p, 1 / (1 - p) elsewhere, each place decided by itself."""
        dropped = round(p * _LEVELS)
        keep = self._take(math.prod(shape)).view(*shape) >= dropped - _LEVELS // 2
        return keep.to(torch.float32).mul_(_LEVELS / (_LEVELS - dropped))

    def _dropout(
        self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        return x * self.mask(x.shape, p) if training and p > 0 else x

    def _attention(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None = None,
        p: float = 0.0,
        **others: Any,
    ) -> Tensor:
        if p == 0:
            return F.scaled_dot_product_attention(q, k, v, bias, p, **others)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = (scores if bias is None else scores + bias).softmax(-1)
        return (weights * self.mask(weights.shape, p)) @ v

    def _take(self, count: int) -> Tensor:
        if len(self._bits) < count:
            self._bits = torch.cat([self._bits, self._draw(count - len(self._bits))])
        taken, self._bits = self._bits[:count], self._bits[count:]
        return taken

    def _draw(self, at_least: int) -> Tensor:
        draws = max(_BLOCK, at_least + -at_least % _PER_DRAW) // _PER_DRAW
        wide = torch.empty(draws, dtype=torch.int64)
        # From the lowest number up: without it torch leaves the sign bit zero, a biased 16 bits.
        wide.random_(-(2**63), None, generator=self._generator)
        return wide.view(torch.int16)
