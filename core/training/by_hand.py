"""The parts that the layers are made of, each with its way back written by hand.

A small model's step is hundreds of short calls, and autograd, new tensors and views cost as much
as the arithmetic. Here every part owns the memory that it writes to, from one step to the next,
and the views that it needs. Weights may change in place; none may be put in another's stead.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from core.training.random_bits import Mask
from core.transformer.normalisation import AddNorm

DrawMask = Callable[[torch.Size], Mask | None]

_NORM_BACKWARD = torch.ops.aten.native_layer_norm_backward.default


class Gradients:
    """A place for the gradient of each weight, made when a part asks for it."""

    def __init__(self) -> None:
        self._places: dict[Tensor, Tensor] = {}

    def of(self, weight: Tensor) -> Tensor:
        """Where the gradient of this weight goes."""
        return self._places.setdefault(weight, torch.zeros_like(weight.detach()))

    def found(self, weight: Tensor) -> Tensor | None:
        """The gradient, None of a weight that no part uses."""
        return self._places.get(weight)


@dataclass(frozen=True)
class Rows:
    """How many tokens pass through a part: `batch` rows of `length`, and how a head splits them."""

    batch: int
    length: int
    heads: int
    like: Tensor  # whose kind of number to use
    _passing: dict[str, Tensor] = field(default_factory=dict)

    def new(self, width: int) -> Float[Tensor, "BL width"]:
        """Memory for one vector per token."""
        return self.like.new_empty(self.batch * self.length, width)

    def passing(self, name: str, width: int) -> Float[Tensor, "BL width"]:
        """The same for what is done with before the next part begins: one for all parts."""
        return self._passing.setdefault(f"{name} {width}", self.new(width))


def scale(*masks: Mask | None) -> float:
    """The product of the scales; a mask that is None drops nothing."""
    return math.prod((mask.scale for mask in masks if mask is not None), start=1.0)


class Linear:
    """x W^T + b, or some rows of it. `rate` is a factor of x, `scale` one of everything."""

    def __init__(self, layer: nn.Linear, gradients: Gradients, rows: slice = slice(None)):
        self._w, self._b = layer.weight.detach()[rows], layer.bias.detach()[rows]
        self._of_w, self._of_b = gradients.of(layer.weight)[rows], gradients.of(layer.bias)[rows]
        self._wt, self.width = self._w.t(), len(self._b)

    def forward(self, x: Tensor, out: Tensor, rate: float = 1.0, scale: float = 1.0) -> None:
        """Write the result to `out`."""
        torch.addmm(self._b, x, self._wt, beta=scale, alpha=rate * scale, out=out)

    def learn(self, gradient: Tensor, x: Tensor, rate: float = 1.0, scale: float = 1.0) -> None:
        """Write the gradients of W and b to their places."""
        _times(gradient.t(), x, rate * scale, self._of_w)
        torch.sum(gradient, 0, out=self._of_b)
        if scale != 1.0:
            self._of_b.mul_(scale)

    def back(self, gradient: Tensor, out: Tensor, factor: float = 1.0) -> None:
        """Write the gradient of x to `out`."""
        _times(gradient, self._w, factor, out)

    def add_back(self, gradient: Tensor, out: Tensor) -> None:
        """Add the gradient of x to `out`."""
        out.addmm_(gradient, self._w)


def _times(a: Tensor, b: Tensor, factor: float, out: Tensor) -> None:
    torch.addmm(out, a, b, beta=0, alpha=factor, out=out)


class Heads:
    """Vectors side by side as a projection gives them, and the same by head for products."""

    def __init__(self, rows: Rows, parts: int, flat: Tensor, by_head: Tensor):
        self.flat = flat
        d = flat.shape[1] // parts
        shape = (rows.batch, rows.length, parts, rows.heads, d // rows.heads)
        self._split = self.flat.view(shape).permute(2, 0, 3, 1, 4)
        self._by_head = by_head.view(self._split.shape)
        self.parts = self._by_head.flatten(1, 2).unbind()  # each (B h, L, d_k)

    def divide(self) -> None:
        """From side by side to by head."""
        self._by_head.copy_(self._split)

    def unite(self) -> None:
        """From by head to side by side."""
        self._split.copy_(self._by_head)


class BranchEnd:
    """LayerNorm(x + dropout(W hidden + b)), where a branch returns to the stream.

    Masks only make zeros. Their scales, of `inner` for what it left of `hidden` and of `outer`,
    are factors of the product, which costs nothing; scaling would be a pass over everything.
    """

    def __init__(self, layer: nn.Linear, around: AddNorm, gradients: Gradients, rows: Rows):
        self._linear, norm = Linear(layer, gradients), around.norm
        self._gamma, self._beta, self._eps = norm.gamma.detach(), norm.beta.detach(), norm.eps
        self._of_gamma, self._of_beta = gradients.of(norm.gamma), gradients.of(norm.beta)
        d = len(self._gamma)
        self._summed, self._branch = rows.new(d), rows.passing("branch", d)
        self._statistics: tuple[Tensor, ...] = ()
        self._masks: tuple[Mask | None, Mask | None] = None, None

    def forward(
        self, hidden: Tensor, x: Float[Tensor, "BL d"], inner: Mask | None, draw: DrawMask
    ) -> Float[Tensor, "BL d"]:
        """The new stream."""
        outer = draw(x.shape)
        self._masks = inner, outer
        self._linear.forward(hidden, self._summed, scale(inner), scale(outer))
        if outer is not None:
            outer.apply(self._summed, self._summed)
        self._summed.add_(x)
        shape = self._gamma.shape
        y, *statistics = torch.native_layer_norm(
            self._summed, shape, self._gamma, self._beta, self._eps
        )
        self._statistics = tuple(statistics)
        return y

    def backward(
        self, gradient: Float[Tensor, "BL d"], hidden: Tensor, of_hidden: Tensor
    ) -> Float[Tensor, "BL d"]:
        """Gradient of x along the stream; writes that of `hidden` to `of_hidden`."""
        of_sum, of_gamma, of_beta = _NORM_BACKWARD(
            gradient, self._summed, self._gamma.shape, *self._statistics, self._gamma, self._beta,
            [True] * 3,
        )  # fmt: skip
        self._of_gamma.copy_(of_gamma)
        self._of_beta.copy_(of_beta)
        inner, outer = self._masks
        branch = of_sum if outer is None else outer.apply(of_sum, self._branch)
        self._linear.learn(branch, hidden, scale(inner), scale(outer))
        self._linear.back(branch, of_hidden, scale(inner, outer))
        return of_sum
