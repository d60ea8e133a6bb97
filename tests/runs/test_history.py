import math

import numpy as np
import pytest

from core.runs import history, store, view
from core.runs.database import FILE_NAME
from core.runs.recorder import Recorder
from core.training.events import Evaluated, Finished, Snapshot, StepDone, from_json_line
from core.training.recipe import SPRINT, Watch


@pytest.fixture
def run_id(db):
    return store.add(db, SPRINT, Watch(), owner="someone")


def record_all(db, run_id, events):
    for event in events:
        history.record(db, run_id, event)


def test_events_come_back_as_they_went_in(db, run_id, some_events):
    events = list(some_events())
    record_all(db, run_id, events)
    steps = [event for event in events if isinstance(event, StepDone)]
    assert history.steps_after(db, run_id, 0) == steps
    assert history.steps_after(db, run_id, 5) == steps[5:]
    assert history.evaluations_after(db, run_id, 3) == [Evaluated(6, 30, 100, 0.5)]
    assert [sample.step for sample in history.samples_after(db, run_id, 0)] == [3, 6]
    assert history.last_step(db, run_id) == 7
    kinds = [type(from_json_line(line)) for _, line in history.lines(db, run_id)]
    assert kinds[-1] is Finished


def test_a_snapshot_survives_as_float16(db, run_id, some_events):
    events = list(some_events())
    record_all(db, run_id, events)
    written = [event for event in events if isinstance(event, Snapshot)]
    read = history.snapshot_at(db, run_id, 5)
    assert (read.step, read.rows, read.columns) == (3, written[0].rows, written[0].columns)
    assert read.antidiagonal == written[0].antidiagonal
    assert read.weights.dtype == np.float16
    np.testing.assert_array_equal(read.weights, written[0].weights)
    assert history.snapshot_at(db, run_id, 2) is None


def test_not_a_number_is_kept_as_such(db, run_id):
    history.record(db, run_id, StepDone(1, math.nan, 0.1, math.inf, 0.5))
    (step,) = history.steps_after(db, run_id, 0)
    assert math.isnan(step.loss)
    assert math.isnan(step.gradient_norm)


def test_following_reads_only_what_is_new_and_sees_the_same_in_the_end(db, run_id, some_events):
    events = list(some_events(steps=11))
    held = None
    for event in events:
        history.record(db, run_id, event)
        held = view.follow(db, store.get(db, run_id), held)
    at_once = view.follow(db, store.get(db, run_id))
    whole = view.from_events(events)
    for seen in (held, at_once):
        np.testing.assert_array_equal(seen.steps, whole.steps)
        np.testing.assert_array_equal(seen.losses, whole.losses)
        assert (seen.evaluations, seen.samples, seen.trail) == (
            whole.evaluations,
            whole.samples,
            whole.trail,
        )


def test_a_resumed_run_replaces_what_came_after_its_checkpoint(db, run_id, some_events):
    record_all(db, run_id, list(some_events(steps=11))[:-1])
    held = view.follow(db, store.get(db, run_id))
    assert held.last_step == 11
    record_all(db, run_id, list(some_events(steps=8, resumed_from=5)))
    held = view.follow(db, store.get(db, run_id), held)
    np.testing.assert_array_equal(held.steps, np.arange(1, 9))
    assert [entry[0] for entry in held.trail] == [3, 6]


def test_a_view_can_be_cut_at_any_step(some_events):
    whole = view.from_events(some_events(steps=11))
    cut = view.until(whole, 7)
    assert cut.last_step == 7
    assert len(cut.losses) == len(cut.seconds) == len(cut.learning_rates) == 7
    assert [sample.step for sample in cut.samples] == [3, 6]
    assert view.until(whole, 0).last_step == 0


def test_the_recorder_writes_everything(db, settings, run_id, some_events):
    recorder = Recorder(settings.data_folder / FILE_NAME, run_id)
    for event in some_events(steps=503):
        recorder.put(event)
    recorder.close()
    assert recorder.dropped == 0
    assert history.last_step(db, run_id) == 503


def test_writes_that_keep_failing_are_counted_and_end_nothing(
    db, settings, run_id, some_events, monkeypatch
):
    monkeypatch.setattr("core.runs.recorder.WAITS_BETWEEN_TRIES", (0.0, 0.0))
    tries = []

    def refuse(*_):
        tries.append(1)
        raise OSError("disk full")

    monkeypatch.setattr("core.runs.history.record", refuse)
    recorder = Recorder(settings.data_folder / FILE_NAME, run_id)
    events = list(some_events())
    for event in events:
        recorder.put(event)
    recorder.close()
    assert recorder.dropped == len(events)
    assert len(tries) >= 3


def test_a_write_that_fails_once_is_tried_again(db, settings, run_id, some_events, monkeypatch):
    real, failures = history.record, [OSError("busy")]

    def fail_first(*arguments):
        if failures:
            raise failures.pop()
        real(*arguments)

    monkeypatch.setattr("core.runs.history.record", fail_first)
    recorder = Recorder(settings.data_folder / FILE_NAME, run_id)
    for event in some_events():
        recorder.put(event)
    recorder.close()
    assert recorder.dropped == 0
    assert history.last_step(db, run_id) == 7
