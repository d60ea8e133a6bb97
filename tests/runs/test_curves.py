import numpy as np
import pytest

from core.runs import published
from core.runs.curves import pace, smooth, smoothing_for, thin
from core.training.recipe import PAPER, SPRINT


def test_smoothing_keeps_a_constant_and_starts_without_bias():
    np.testing.assert_allclose(smooth(np.full(13, 2.5), 0.9), 2.5)
    np.testing.assert_allclose(smooth(np.array([4.0, 1.0]), 0.5), [4.0, (0.5 * 4 + 1) / 1.5])


def test_smoothing_is_the_weighted_mean_by_age():
    values = np.random.default_rng(0).random(11)
    weights = 0.8 ** np.arange(11)[::-1]
    assert smooth(values, 0.8)[-1] == pytest.approx(np.average(values, weights=weights))


def test_memory_grows_with_the_run():
    assert smoothing_for(10) == pytest.approx(0.8)
    assert smoothing_for(3000) == pytest.approx(1 - 1 / 15)


def test_thinning_keeps_few_points_every_spike_and_the_last():
    values = np.sin(np.arange(19_997) / 100)
    values[7_919], values[12_343] = 50.0, -50.0
    kept = thin(np.arange(1, 19_998), values)
    assert len(kept) <= 800
    assert {7_919, 12_343, 19_996} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()


def test_short_curves_are_kept_whole_and_nan_is_no_obstacle():
    np.testing.assert_array_equal(thin(np.arange(5), np.arange(5.0)), np.arange(5))
    values = np.full(2003, np.nan)
    assert len(thin(np.arange(2003), values)) <= 800


def test_pace_is_taken_over_the_last_stretch():
    steps = np.arange(1, 101)
    seconds = np.concatenate([np.arange(1, 51) * 1.0, 50 + np.arange(1, 51) * 0.1])
    now = pace(steps, seconds, last=200, window=2.0)
    assert now.steps_per_second == pytest.approx(10)
    assert now.seconds_left == pytest.approx(10)
    assert pace(steps[:1], seconds[:1], last=7).seconds_left is None


def test_published_numbers_are_those_of_the_table(golden):
    table = golden["reverse_task"]
    losses = {str(step): loss for step, loss in published.LOSSES.items()}
    share = table["published_cross_attention_antidiagonal_mean_layer2"]
    assert losses == table["published_losses"]
    assert share == published.ANTIDIAGONAL_OF_LAST_LAYER


def test_published_losses_belong_to_the_paper_recipe_only():
    assert published.losses_for(PAPER) == published.LOSSES
    assert published.losses_for(SPRINT) == {}
