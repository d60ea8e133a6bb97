"""The learning rate and the floor that label smoothing puts under the loss."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from core.training.recipe import PAPER
from core.training.schedule import learning_rate, linear_rate, paper_rate, smoothing_floor


def test_paper_rate_by_hand():
    assert paper_rate(100, 64, 400) == pytest.approx(100 * 400**-1.5 / 8)
    assert paper_rate(400, 64, 400) == pytest.approx(1 / 20 / 8)
    assert paper_rate(1600, 64, 400) == pytest.approx(1 / 40 / 8)
    assert paper_rate(1, 64, 0) == pytest.approx(1 / 8)


def test_paper_rate_peaks_at_the_end_of_the_warm_up():
    rates = [learning_rate(PAPER, step) for step in range(1, PAPER.steps + 1)]
    assert max(rates) == rates[PAPER.warmup - 1]


def test_linear_rate_by_hand():
    rates = [linear_rate(step, 10, 4, 8.0, 0.25) for step in range(1, 11)]
    assert rates == pytest.approx([2, 4, 6, 8, 7, 6, 5, 4, 3, 2])
    curved = [linear_rate(step, 8, 4, 8.0, 0.0, 2.0) for step in range(3, 9)]
    assert curved == pytest.approx([6, 8, 8 * 9 / 16, 8 * 4 / 16, 8 / 16, 0])
    assert linear_rate(1, 10, 0, 8.0, 0.25) == pytest.approx(8 - 6 / 10)
    assert linear_rate(3, 3, 7, 8.0, 0.25) == pytest.approx(8 * 3 / 7)


def test_recipes_choose_their_schedule():
    linear = replace(PAPER, schedule="linear", warmup=40, peak=0.5)
    assert learning_rate(linear, 40) == pytest.approx(0.5)
    assert learning_rate(PAPER, 40) == pytest.approx(paper_rate(40, 64, 400))
    with pytest.raises(ValueError, match="Steps count from 1"):
        learning_rate(PAPER, 0)


@pytest.mark.parametrize("smoothing", [0.01, 0.1, 0.37])
def test_no_logits_get_below_the_floor_and_the_best_ones_reach_it(smoothing):
    vocabulary, label = 23, torch.tensor([5])
    floor = smoothing_floor(smoothing, vocabulary)
    target = torch.full((1, vocabulary), smoothing / vocabulary, dtype=torch.float64)
    target[0, 5] += 1 - smoothing
    best = target.log()
    assert F.cross_entropy(best, label, label_smoothing=smoothing).item() == pytest.approx(floor)
    worse = best + 0.1 * torch.randn(
        best.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    assert F.cross_entropy(worse, label, label_smoothing=smoothing).item() > floor


def test_floor_by_hand():
    assert smoothing_floor(0.0, 23) == 0.0
    assert smoothing_floor(0.5, 2) == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
