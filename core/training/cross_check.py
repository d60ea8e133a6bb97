"""Whether a device computes what the CPU computes, tried on a few real steps before it is used."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float32

from core.training.learner import Learner
from core.training.packing import draw_packed
from core.training.recipe import SPRINT

_RECIPE = replace(SPRINT, steps=4, batch=6, d_model=16, num_heads=2, d_ff=32)


def agrees_with_cpu(device: torch.device, tolerance: float = 1e-3) -> bool:
    """Whether four sprint steps of a small model lose the same on `device` as on the CPU.

    False too if a step cannot run there.
    """
    try:
        there, here = _losses(device), _losses(torch.device("cpu"))
    except (RuntimeError, NotImplementedError):
        return False
    return bool(np.abs(there - here).max() < tolerance)


def _losses(device: torch.device) -> Float32[np.ndarray, "2 steps"]:
    learner, generator = Learner(_RECIPE, device), torch.Generator().manual_seed(0)
    for _ in range(_RECIPE.steps):
        # Drawn on the CPU: generators of different devices give different strings.
        learner.learn_from(draw_packed(_RECIPE, _RECIPE.batch, generator).to(device))
    return learner.logs(1, _RECIPE.steps)
