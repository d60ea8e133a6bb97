"""Counting exact reversals, the fast way against the slow one, and the attention picture."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.alphabet import PAD
from core.training.evaluate import (
    antidiagonal_mean,
    best_next,
    decode_string,
    decoded,
    exactness,
    held_out,
    snapshot,
)
from core.training.learner import Learner
from core.training.model import build_model
from core.training.recipe import PAPER

TINY = replace(PAPER, d_model=12, num_heads=3, d_ff=20, letters="ACDEF", min_length=1, max_length=3)


@pytest.fixture(scope="module")
def trained():
    """A model that reverses some strings and not others."""
    recipe = replace(TINY, steps=50, schedule="linear", warmup=5, peak=0.02, batch=32, dropout=0.0)
    learner = Learner(recipe, torch.device("cpu"))
    for _ in range(recipe.steps):
        learner.update()
    return learner.model


def test_one_parallel_pass_counts_what_greedy_decoding_gets_exactly_right(trained):
    model, batch = trained, held_out(TINY, 401)
    fast = exactness(model, TINY, batch, best_next)
    slow = exactness(model, TINY, batch, decoded)
    assert 0 < slow.exact < 401
    assert fast.exact == slow.exact
    assert exactness(model, TINY, batch) == fast


def test_each_row_is_right_fast_if_and_only_if_it_is_right_slowly(trained):
    model, batch = trained, held_out(TINY, 401)
    real = batch.labels != PAD
    fast = ((best_next(model, TINY, batch) == batch.labels) | ~real).all(1)
    slow = (decoded(model, TINY, batch) == batch.labels).all(1)
    assert torch.equal(fast, slow)


def test_exact_means_every_token_and_the_end():
    batch = held_out(TINY, 5)

    def all_but_one(model, recipe, part):
        answer = part.labels.clone()
        answer[3, 0] += 1
        return answer

    def without_end(model, recipe, part):
        return part.labels.masked_fill(part.labels == 2, PAD)

    model = build_model(TINY)
    assert exactness(model, TINY, batch, lambda m, r, part: part.labels).exact == 5
    found = exactness(model, TINY, batch, all_but_one)
    assert (found.exact, found.of) == (4, 5)
    tokens = int((batch.labels != PAD).sum())
    assert found.letters_right == pytest.approx(1 - 1 / tokens)
    assert exactness(model, TINY, batch, without_end).exact == 0


@pytest.mark.parametrize("changes", [{"beam": 3}, {"causal_mask": False}])
def test_where_teacher_forcing_would_show_the_answer_it_is_decoded(changes):
    recipe = replace(TINY, **changes)
    model, batch = build_model(recipe), held_out(recipe, 31)
    assert exactness(model, recipe, batch) == exactness(model, recipe, batch, decoded)


def test_held_out_strings_depend_on_the_seed_only():
    assert torch.equal(held_out(TINY, 7).src, held_out(TINY, 7).src)
    assert not torch.equal(held_out(TINY, 7).src, held_out(replace(TINY, seed=1), 7).src)


def test_looking_changes_neither_mode_nor_randomness():
    model = build_model(TINY).train()
    state = torch.get_rng_state()
    exactness(model, TINY, held_out(TINY, 5))
    snapshot(model, TINY, "CAF", 1)
    assert isinstance(decode_string(model, TINY, "CAF"), str)
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)


def test_snapshot_has_a_row_for_every_token_to_write():
    seen = snapshot(build_model(TINY), TINY, "CAF", 7)
    assert seen is not None
    assert (seen.step, seen.rows, seen.columns) == (7, ("BOS", "F", "A", "C"), ("C", "A", "F"))
    assert seen.weights.shape == (2, 3, 4, 3)
    np.testing.assert_allclose(seen.weights.astype(float).sum(-1), 1, atol=2e-3)
    assert len(seen.antidiagonal) == 2
    assert snapshot(build_model(replace(TINY, cross_attention=False)), TINY, "CAF", 7) is None


def test_antidiagonal_by_hand():
    perfect = np.zeros((1, 4, 3))
    perfect[0, [0, 1, 2], [2, 1, 0]] = 1
    assert antidiagonal_mean(perfect) == 1
    blind = np.full((5, 4, 3), 1 / 3)
    assert antidiagonal_mean(blind) == pytest.approx(1 / 3)
    assert antidiagonal_mean(np.concatenate([perfect, np.zeros_like(perfect)])) == 0.5
