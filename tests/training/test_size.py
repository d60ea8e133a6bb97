"""The estimate of what a step keeps, against what autograd keeps."""

from dataclasses import replace

import pytest
import torch

from core.training.limits import MOST_NUMBERS_KEPT
from core.training.model import build_model
from core.training.packing import PackedForward, draw_packed
from core.training.recipe import PAPER, SPRINT
from core.training.size import numbers_kept


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"num_heads": 16, "min_length": 40, "max_length": 40},
        {"d_model": 128, "d_ff": 512, "num_layers": 3},
        {"cross_attention": False},
    ],
)
def test_the_estimate_is_near_what_autograd_keeps(changes):
    recipe = replace(PAPER, batch=26, **changes)
    model, kept = build_model(recipe), {}
    weights = {w.untyped_storage().data_ptr() for w in model.parameters()}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage  # held, so that no address is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        PackedForward(model)(draw_packed(recipe, recipe.batch, torch.Generator().manual_seed(0)))
    actual = sum(storage.nbytes() for storage in kept.values()) / 4
    assert 0.7 < numbers_kept(recipe) / actual < 1.3


def test_the_presets_are_far_below_the_limit():
    assert max(numbers_kept(PAPER), numbers_kept(SPRINT)) < MOST_NUMBERS_KEPT / 10
