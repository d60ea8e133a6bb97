"""The floor under a smoothed loss, against torch's own loss."""

import math

import pytest
import torch
from torch.nn import functional as F

from core.training.schedule import smoothing_floor
from core.traps.smoothing import smoothed_loss


def test_the_floor_is_torchs_loss_of_the_best_answer():
    target = torch.full((23,), 0.1 / 23, dtype=torch.float64)
    target[5] += 0.9
    loss = F.cross_entropy(target.log()[None], torch.tensor([5]), label_smoothing=0.1)
    assert smoothing_floor(0.1, 23) == pytest.approx(loss.item(), abs=1e-12)


@pytest.mark.parametrize("p", [0.3, 0.9, 0.9999])
def test_any_other_answer_costs_more_and_as_much_as_torch_says(p):
    answer = torch.full((7,), (1 - p) / 6, dtype=torch.float64)
    answer[2] = p
    loss = F.cross_entropy(answer.log()[None], torch.tensor([2]), label_smoothing=0.1)
    assert smoothed_loss(p, 0.1, 7) == pytest.approx(loss.item(), abs=1e-12)
    assert smoothed_loss(p, 0.1, 7) > smoothing_floor(0.1, 7)


def test_the_floor_of_the_published_recipe_lies_below_its_published_losses(golden):
    task = golden["reverse_task"]
    floor = smoothing_floor(task["optimiser"]["label_smoothing"], task["vocabulary"])
    last = task["published_losses"]["3000"]
    assert floor < last < floor + 0.05


def test_without_smoothing_the_floor_is_zero_and_with_all_of_it_blind():
    assert smoothing_floor(0.0, 13) == 0
    assert smoothing_floor(1.0, 13) == pytest.approx(math.log(13))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certainty_has_no_finite_loss(p):
    with pytest.raises(ValueError, match="not between 0 and 1"):
        smoothed_loss(p, 0.1, 23)
