import numpy as np
import pytest

from core.runs import published, recorded
from core.training.events import to_json_line
from core.training.recipe import Recipe


@pytest.fixture
def recording():
    return recorded.load()


def test_the_recording_that_ships_is_a_whole_run_of_the_paper_recipe(recording, golden):
    recipe = Recipe.from_dict(recording.started.recipe)
    assert published.losses_for(recipe) == published.LOSSES
    assert recording.view.last_step == recording.finished.steps == recipe.steps
    task = golden["reverse_task"]
    assert recording.finished.exact >= task["published_exact"][0] - 5
    assert (
        recording.finished.decoded[task["published_decode"]["input"]]
        == (task["published_decode"]["output"])
    )


def test_its_losses_follow_the_published_curve(recording):
    smoothed = {step: _mean_around(recording.view, step) for step in published.LOSSES}
    for step, loss in published.LOSSES.items():
        assert smoothed[step] == pytest.approx(loss, abs=0.12 if step <= 500 else 0.03)


def _mean_around(view, step):
    near = np.abs(view.steps - step) <= 25
    return view.losses[near].mean()


def test_its_last_map_is_as_anti_diagonal_as_published(recording):
    step, shares = recording.view.trail[-1]
    assert step == recording.view.last_step
    assert shares[-1] == pytest.approx(published.ANTIDIAGONAL_OF_LAST_LAYER, abs=0.03)
    assert recording.snapshot_at(step).antidiagonal == shares


def test_a_replay_begins_at_the_first_step_and_ends_at_the_last(recording):
    view = recording.view
    assert recorded.step_at(view, 0.0, 20.0) == view.steps[0]
    assert recorded.step_at(view, -5.0, 20.0) == view.steps[0]
    assert recorded.step_at(view, 1e9, 20.0) == view.steps[-1]
    shown = [recorded.step_at(view, seconds, 20.0) for seconds in np.linspace(0, 20, 21).tolist()]
    assert shown == sorted(shown)


def test_the_map_of_a_step_is_the_last_one_taken(recording):
    assert recording.snapshot_at(0) is None
    step = recording.view.trail[1][0]
    assert recording.snapshot_at(step + 1).step == step


def test_half_a_recording_is_refused(tmp_path, some_events):
    file = tmp_path / "half.jsonl"
    file.write_text("\n".join(to_json_line(event) for event in list(some_events())[:-1]))
    with pytest.raises(ValueError, match="whole run"):
        recorded.load(file)


def test_a_plain_file_is_read_as_well(tmp_path, some_events):
    file = tmp_path / "whole.jsonl"
    file.write_text("\n".join(to_json_line(event) for event in some_events(steps=11)))
    assert recorded.load(file).view.last_step == 11
