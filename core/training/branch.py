"""What the two sublayers share: the end of a branch, dropout on it, and its add & norm.

Dropout multiplies by a scale what it keeps. Doing so costs a pass over everything; here the
scales of both masks of a branch are a factor of its last matrix product, which costs nothing.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from core.training.random_bits import Mask

EPS = 1e-5
_NORM_BACKWARD = torch.ops.aten.native_layer_norm_backward.default


def scale(*masks: Mask | None) -> float:
    """The product of the scales; a mask that is None drops nothing."""
    return math.prod((mask.scale for mask in masks if mask is not None), start=1.0)


def dropped(x: Float[Tensor, "..."], mask: Mask | None) -> Float[Tensor, "..."]:
    """Zeros in place where the mask says so; not scaled."""
    return x if mask is None else mask.of_(x)


def times(a: Tensor, b: Tensor, factor: float) -> Tensor:
    """`factor` a b."""
    return torch.addmm(a.new_zeros(()), a, b, beta=0, alpha=factor)


def project(
    b: Tensor, x: Float[Tensor, "BL d_in"], w: Tensor, inner: Mask | None, outer: Mask | None
) -> Float[Tensor, "BL d"]:
    """The last layer of a branch, scaled for what `inner` left of `x` and `outer` will leave."""
    return torch.addmm(b, x, w.t(), beta=scale(outer), alpha=scale(inner, outer))


def add_norm(
    branch: Float[Tensor, "BL d"],
    x: Float[Tensor, "BL d"],
    gamma: Tensor,
    beta: Tensor,
    mask: Mask | None,
) -> tuple[Tensor, ...]:
    """LayerNorm(x + what the mask leaves of the branch); the sum, its means, its deviations."""
    summed = dropped(branch, mask).add_(x)
    y, mean, rstd = torch.native_layer_norm(summed, gamma.shape, gamma, beta, EPS)
    return y, summed, mean, rstd


def norm_backward(
    gradient: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, gamma: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of the sum, gamma and beta."""
    flat, shape = gradient.flatten(0, 1), list(gamma.shape)
    return _NORM_BACKWARD(flat, x, shape, mean, rstd, gamma, beta, [True] * 3)
