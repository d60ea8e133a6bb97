"""One run in this very process, with wishes that come at a known step."""

from dataclasses import replace

import pytest

from core.runs import history, store
from core.runs.control import Wishes
from core.runs.database import FILE_NAME
from core.runs.one_run import OneRun
from core.runs.processes import own_identity
from core.runs.recorder import Recorder
from core.training.engine import Training
from core.training.evaluate import best_next
from core.training.events import NotSaved, Saved, StepDone, event_name, from_json_line
from core.training.recipe import SPRINT, Watch

TINY = replace(
    SPRINT, steps=61, d_model=8, num_heads=2, d_ff=8, num_layers=1, batch=2, min_length=2
)
WATCH = Watch(
    string="CAS", held_out=2, evaluate_every=0, sample_every=0, snapshot_every=0, save_every=0
)


class AfterStep(Recorder):
    """Records, and does something once when a given step has been put."""

    def __init__(self, path, run_id, step, action):
        super().__init__(path, run_id)
        self._step, self._action = step, action

    def put(self, event):
        super().put(event)
        if isinstance(event, StepDone) and event.step == self._step:
            self._action()


@pytest.fixture
def claimed(db):
    store.add(db, TINY, WATCH, owner="someone")
    return store.claim_next(db, own_identity(), max_running=1)


@pytest.fixture
def one_run(settings, claimed, tmp_path):
    """Build the run with an action after a step; the run, and where its checkpoint goes."""

    def build(wishes, step=0, action=lambda: None):
        path = settings.data_folder / FILE_NAME
        file = tmp_path / "last.pt"
        recorder = AfterStep(path, claimed.id, step, action)
        return OneRun(path, claimed, own_identity(), file, recorder, wishes)

    return build


def test_it_finishes_and_says_so(db, claimed, one_run):
    one_run(Wishes()).to_its_end()
    run = store.get(db, claimed.id)
    assert (run.state, run.error) == ("finished", None)
    assert history.last_step(db, claimed.id) == 61


def test_stop_leaves_a_checkpoint_from_which_it_ends_with_the_same_losses(
    db, claimed, one_run, tmp_path
):
    wishes = Wishes()
    one_run(wishes, 13, lambda: wishes.take("stop")).to_its_end()
    assert store.get(db, claimed.id).state == "stopped"
    assert history.last_step(db, claimed.id) == 13
    store.queue_again(db, claimed.id, None)
    store.claim_next(db, own_identity(), max_running=1)
    one_run(Wishes()).to_its_end()
    resumed = [event.loss for event in history.steps_after(db, claimed.id, 0)]
    straight = [e.loss for e in Training(TINY, watch=WATCH).events() if isinstance(e, StepDone)]
    assert resumed == straight


@pytest.mark.parametrize("which", [1, 2], ids=["at a look", "at the end"])
def test_an_evaluation_is_cut_short_by_stop_and_the_run_can_go_on(
    db, claimed, one_run, monkeypatch, which
):
    monkeypatch.setattr("core.training.evaluate._AT_ONCE", {"cpu": 1})  # of two held-out strings
    wishes, breaths = Wishes(), []

    def decode(*arguments):
        breaths.append(1)
        if len(breaths) == 2 * which - 1:
            wishes.take("stop")
        return best_next(*arguments)

    with monkeypatch.context() as counting:
        counting.setattr("core.training.evaluate.best_next", decode)
        counting.setattr("core.training.engine.decoded", decode)
        one_run(wishes).to_its_end()
    assert len(breaths) == 2 * which - 1
    assert store.get(db, claimed.id).state == "stopped"
    assert len(history.evaluations_after(db, claimed.id, 0)) == which - 1
    store.queue_again(db, claimed.id, None)
    store.claim_next(db, own_identity(), max_running=1)
    one_run(Wishes()).to_its_end()
    assert store.get(db, claimed.id).state == "finished"
    assert history.last_step(db, claimed.id) == 61


def test_a_device_that_is_ahead_of_its_events_leaves_no_gap(
    db, claimed, one_run, tmp_path, monkeypatch
):
    monkeypatch.setattr("core.training.engine.LONGEST_SILENCE", 1e9)  # however slow the first step
    wishes = Wishes()
    run = one_run(wishes, 13, lambda: wishes.take("stop"))
    training = Training(TINY, watch=WATCH, save_to=tmp_path / "last.pt")
    training._steps.at_once = 10  # as a GPU does: steps 12 to 21 are taken together
    assert run.follow(training) == ("stopped", None)
    run._recorder.close()
    assert history.last_step(db, claimed.id) == 21
    saved = from_json_line(history.lines(db, claimed.id)[-1][1])
    assert (event_name(saved), saved.step) == ("saved", 21)


def test_leaving_saves_and_says_interrupted(db, claimed, one_run, tmp_path):
    wishes = Wishes()
    one_run(wishes, 5, wishes.go_away).to_its_end()
    run = store.get(db, claimed.id)
    assert run.state == "interrupted"
    assert "can go on" in run.error
    assert (tmp_path / "last.pt").exists()


def test_a_damaged_checkpoint_fails_the_run_in_words_and_nothing_else(
    db, claimed, one_run, tmp_path
):
    (tmp_path / "last.pt").write_bytes(b"not a checkpoint")
    one_run(Wishes()).to_its_end()
    run = store.get(db, claimed.id)
    assert run.state == "failed"
    assert "cannot be read as a checkpoint" in run.error


def test_a_checkpoint_that_went_missing_costs_no_rows(db, claimed, one_run, tmp_path):
    wishes = Wishes()
    one_run(wishes, 13, lambda: wishes.take("stop")).to_its_end()
    (tmp_path / "last.pt").unlink()
    store.queue_again(db, claimed.id, None)
    store.claim_next(db, own_identity(), max_running=1)
    one_run(Wishes()).to_its_end()
    run = store.get(db, claimed.id)
    assert (run.state, run.error) == (
        "interrupted",
        "Its checkpoint is gone; what was recorded is kept.",
    )
    assert history.last_step(db, claimed.id) == 13
    assert run.rewinds == 0


@pytest.mark.parametrize(
    ("asked", "state", "words"),
    [("nothing", "finished", None), ("stop", "stopped", None), ("leave", "interrupted", "step 13")],
)
def test_a_checkpoint_that_cannot_be_written_is_told_and_ends_nothing(
    db, claimed, one_run, tmp_path, asked, state, words
):
    (tmp_path / "last.pt.folder").touch()
    wishes = Wishes()
    wish = {"nothing": lambda: None, "stop": lambda: wishes.take("stop"), "leave": wishes.go_away}
    run = one_run(wishes, 13, wish[asked])
    run._file = tmp_path / "last.pt.folder" / "last.pt"
    run.to_its_end()
    run = store.get(db, claimed.id)
    assert run.state == state
    assert (words is None) == (run.error is None)
    assert words is None or words in run.error
    assert "could not be saved" in history.not_saved(db, claimed.id)


def test_a_save_that_works_again_takes_the_notice_away(db, claimed):
    assert history.not_saved(db, claimed.id) is None
    for event in (NotSaved(3, "It could not be saved."), Saved(6, "last.pt")):
        history.record(db, claimed.id, event)
        told = "It could not be saved." if isinstance(event, NotSaved) else None
        assert history.not_saved(db, claimed.id) == told
