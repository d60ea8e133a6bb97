"""The paper recipe's recorded run against the published curve, and its model measured again."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from core.settings import ASSETS
from core.training.checkpoint import load_model
from core.training.evaluate import decode_string, exactness, held_out, snapshot
from core.training.events import Evaluated, Finished, Snapshot, Started, StepDone, read_events
from core.training.recipe import PAPER, Recipe


@pytest.fixture(scope="module")
def events():
    with gzip.open(ASSETS / "recorded_paper_run.jsonl.gz", "rt", encoding="utf-8") as lines:
        return list(read_events(lines))


@pytest.fixture(scope="module")
def recipe(events):
    return Recipe.from_dict(events[0].recipe)


@pytest.fixture(scope="module")
def model(recipe):
    model, trained_by = load_model(ASSETS / "recorded_paper_run.pt")
    assert trained_by == recipe
    return model


def test_it_is_a_whole_run_of_the_paper_recipe(events, recipe):
    assert isinstance(events[0], Started)
    assert replace(recipe, seed=PAPER.seed) == PAPER
    steps = [event.step for event in events if isinstance(event, StepDone)]
    assert steps == list(range(1, PAPER.steps + 1))
    assert isinstance(events[-1], Finished)


def test_the_smoothed_losses_are_the_published_ones(events, golden):
    losses = np.array([event.loss for event in events if isinstance(event, StepDone)])
    for step, published in golden["reverse_task"]["published_losses"].items():
        smoothed = losses[int(step) - 50 : int(step)].mean()
        assert abs(smoothed - published) < (0.10 if step == "500" else 0.05), step
    floor = events[0].smoothing_floor
    assert floor < losses[-50:].mean() < floor + 0.05


def test_its_model_reverses_as_it_said(events, model, recipe, golden):
    said = [event for event in events if isinstance(event, Evaluated)][-1]
    again = exactness(model, recipe, held_out(recipe, said.of))
    assert abs(again.exact - said.exact) <= 1  # another processor may round a tie differently
    assert again.exact >= 995
    published = golden["reverse_task"]["published_decode"]
    assert decode_string(model, recipe, published["input"]) == published["output"]
    assert events[-1].decoded == {published["input"]: published["output"]}


def test_its_second_layer_looks_along_the_anti_diagonal(events, model, recipe, golden):
    published = golden["reverse_task"]["published_cross_attention_antidiagonal_mean_layer2"]
    seen = snapshot(
        model, recipe, golden["reverse_task"]["published_decode"]["input"], recipe.steps
    )
    assert seen is not None
    assert seen.antidiagonal[1] == pytest.approx(published, abs=0.05)
    last = [event for event in events if isinstance(event, Snapshot)][-1]
    np.testing.assert_allclose(seen.weights, last.weights, atol=2e-3)
