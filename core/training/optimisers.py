"""The optimisers of a recipe, driven by one learning-rate tensor, and gradient clipping.

None asks the device for a number, so a CUDA graph can hold them.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from core.training.muon import Muon
from core.training.recipe import Recipe

_FUSED = "project_qkv.weight"


class Joined:
    """Weights as parts of one `vector`, so that moving all of them is one call."""

    def __init__(self, weights: list[nn.Parameter]):
        self._weights = weights
        self.vector = nn.Parameter(torch.cat([w.detach().flatten() for w in weights]))
        parts = self.vector.detach().split([w.numel() for w in weights])
        for weight, part in zip(weights, parts, strict=True):
            weight.data = part.view_as(weight)

    def gather(self) -> None:
        """Give the vector the gradients of its weights, 0 where a weight has none."""
        gradients = [torch.zeros_like(w) if w.grad is None else w.grad for w in self._weights]
        self.vector.grad = torch.cat([gradient.flatten() for gradient in gradients])


def make_optimisers(
    model: nn.Module, recipe: Recipe, rate: Tensor
) -> tuple[list[torch.optim.Optimizer], Joined]:
    """Adam for everything, or Muon for the layers' matrices and Adam for the rest.

    Adam moves the joined weights, which have to be gathered after every backward.
    """
    named = dict(model.named_parameters())
    inside = {n: p for n, p in named.items() if p.dim() == 2 and n.startswith(("enc", "dec"))}
    if recipe.optimiser == "adam":
        inside = {}
    joined = Joined([p for n, p in named.items() if n not in inside])
    adam = _adam([joined.vector], recipe, rate)
    groups: list[dict[str, Any]] = [
        {"params": [p for n, p in inside.items() if n.endswith(_FUSED)], "blocks": 3},
        {"params": [p for n, p in inside.items() if not n.endswith(_FUSED)]},
    ]
    return ([Muon(groups, rate, recipe.muon_factor), adam] if inside else [adam]), joined


def _adam(parameters: list[nn.Parameter], recipe: Recipe, rate: Tensor) -> torch.optim.Optimizer:
    """Fused Adam that reads its learning rate from `rate` (Kingma and Ba 2015, algorithm 1)."""
    return torch.optim.Adam(
        parameters,
        lr=rate,
        betas=(recipe.beta1, recipe.beta2),
        eps=recipe.epsilon,
        fused=True,
        capturable=rate.is_cuda,
    )


def clip_gradients(parameters: list[nn.Parameter], longest: float) -> Tensor:
    """Scale all gradients down together to norm `longest` (0: leave them); the norm before.

    Source: Pascanu et al. 2013, algorithm 1.
    """
    with_gradient = [p for p in parameters if p.grad is not None]
    norm = get_total_norm([p.grad for p in with_gradient if p.grad is not None])
    if longest:
        clip_grads_with_norm_(with_gradient, longest, norm)
    return norm
