"""Muon: matrices move by the orthogonal matrix nearest to their momentum.

Source: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; the
length of a step is Liu et al. 2025, "Muon is scalable for LLM training", equation 4. Matrices
of one shape are worked on together: one by one a small model's cost more in calls than in
arithmetic.
"""

from collections import defaultdict
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

_A, _B, _C = 3.4445, -4.7750, 2.0315  # Jordan's quintic, which pulls singular values towards 1
_ADAM_LENGTH = 0.2  # root mean square of a typical step of Adam, in learning rates


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, made orthogonal, times `lr` (a tensor) times `factor`.

    Four iterations: a fifth changed nothing in how fast this task is learned.
    A group may say that its matrices are `blocks` matrices on top of one another, as a fused
    projection is; each is made orthogonal by itself.
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        lr: Tensor,
        factor: float = 1.0,
        momentum: float = 0.95,
        iterations: int = 4,
    ):
        defaults = {"blocks": 1, "factor": factor, "momentum": momentum, "iterations": iterations}
        super().__init__(groups, {"lr": lr, **defaults})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Change every matrix that has a gradient."""
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for members in by_shape.values():
                self._move(members, group)

    def _move(self, members: list[Tensor], group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        gradients = [p.grad for p in members if p.grad is not None]
        buffers = [self._buffer(p) for p in members]
        torch._foreach_lerp_(buffers, gradients, 1 - momentum)
        ahead = torch.stack(torch._foreach_lerp(gradients, buffers, momentum))
        blocks = ahead.unflatten(1, (group["blocks"], -1)).flatten(
            0, 1
        )  # (n blocks, rows, columns)
        length = _ADAM_LENGTH * max(blocks.shape[1:]) ** 0.5 * group["factor"]
        moves = orthogonal(blocks, group["iterations"]) * (-length * group["lr"])
        torch._foreach_add_(members, list(moves.view_as(ahead)))

    def _buffer(self, parameter: Tensor) -> Tensor:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        return state["momentum"]


def orthogonal(
    matrices: Float[Tensor, "n rows columns"], iterations: int
) -> Float[Tensor, "n rows columns"]:
    """About U V^T of every U S V^T: after 5 iterations singular values lie around 1 (0.7 to 1.2).

    Newton-Schulz iteration on the shorter side; no decomposition, so any device does it well.
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(iterations):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return x.mT if tall else x
