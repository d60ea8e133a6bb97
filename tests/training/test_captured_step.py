"""What a CUDA graph needs of an update, checked where there is no GPU.

On torch's meta device tensors hold no numbers. A whole update is run there: every tensor that
it makes must be on the device, and none may be read by the host (which meta refuses), since a
graph replays neither.
"""

import sys
from dataclasses import replace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from core.training.learner import Learner
from core.training.packing import draw_packed, pack_pairs
from core.training.recipe import PAPER, SPRINT

META = torch.device("meta")
SIZES = {"steps": 3, "batch": 6, "d_model": 12, "num_heads": 3, "d_ff": 20}


class GeneratorAnywhere(torch.Generator):
    """A generator for a device that has none."""

    def __new__(cls, device):
        return super().__new__(cls)


class Elsewhere(TorchDispatchMode):
    """Collects the operations whose results are not on the device."""

    def __init__(self):
        super().__init__()
        self.found, self.seen = [], 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        # Fused Adam has no meta kernel; it returns nothing, so what it is given is looked at.
        adam = "_fused_adam_" in str(func)
        made = (args, kwargs) if adam else func(*args, **(kwargs or {}))
        self.seen += 1
        if any(
            isinstance(leaf, torch.Tensor) and leaf.device != META for leaf in tree_leaves(made)
        ):
            self.found.append(str(func))
        return None if adam else made


@pytest.mark.parametrize("recipe", [PAPER, SPRINT], ids=lambda recipe: recipe.name)
def test_an_update_stays_on_the_device(monkeypatch, recipe):
    recipe = replace(recipe, **SIZES)
    # What needs a real device is not part of the update: its generator, and two questions that
    # Adam asks when it is made and at its first step.
    adam = sys.modules[torch.optim.Adam.__module__]
    monkeypatch.setattr(adam, "_device_dtype_check_for_fused", lambda _: None)
    with monkeypatch.context() as building:
        building.setattr(torch, "Generator", GeneratorAnywhere)
        building.setattr(torch.Tensor, "__ge__", lambda *_: True)
        learner = Learner(recipe, META)
    drawn = draw_packed(recipe, recipe.batch, torch.Generator().manual_seed(0))
    with Elsewhere() as elsewhere:
        for _ in range(2):
            learner.learn_from(drawn.to(META))
    assert elsewhere.seen > 500
    assert elsewhere.found == []


def test_packing_stays_on_the_device():
    with Elsewhere() as elsewhere:
        pack_pairs(
            torch.empty(3, 24, dtype=torch.long, device=META),
            torch.empty(3, 1, dtype=torch.long, device=META),
        )
    assert elsewhere.seen > 5
    assert elsewhere.found == []


def test_a_number_read_by_the_host_would_be_noticed():
    with pytest.raises(RuntimeError, match="meta"):
        torch.empty((), device=META).item()
    with Elsewhere() as elsewhere:
        torch.empty(3)
    assert elsewhere.found == ["aten.empty.memory_format"]
