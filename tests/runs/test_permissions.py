"""What `Supervisor` allows, with no worker process: the pool is kept from starting one."""

from dataclasses import replace

import pytest

from core.runs import history, store, upkeep
from core.runs.processes import Identity, own_identity
from core.runs.run import ACTIVE
from core.runs.supervisor import CHECKPOINT, NotAllowed, Supervisor, checkpoint_folder
from core.training.events import StepDone
from core.training.recipe import PAPER, SPRINT, Watch


@pytest.fixture
def supervisor(settings, monkeypatch):
    monkeypatch.setattr("core.runs.pool.ensure_workers", lambda *_: None)
    return Supervisor(settings)


@pytest.fixture
def run_id(supervisor):
    return supervisor.start(SPRINT, Watch(), "starter's key")


CHANGES = {
    "stop": lambda supervisor, run_id, key: supervisor.command(run_id, "stop", key),
    "pause": lambda supervisor, run_id, key: supervisor.command(run_id, "pause", key),
    "go on": lambda supervisor, run_id, key: supervisor.go_on(run_id, key),
    "rename": lambda supervisor, run_id, key: supervisor.rename(run_id, "mine now", key),
    "delete": lambda supervisor, run_id, key: supervisor.delete(run_id, key),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("key", ["somebody else's key", "", "the owner's ke", "é"])
def test_a_stranger_changes_nothing(supervisor, run_id, change, key, db):
    before = store.get(db, run_id)
    with pytest.raises(NotAllowed, match="Only whoever started"):
        CHANGES[change](supervisor, run_id, key)
    assert store.get(db, run_id) == before


@pytest.mark.parametrize("key", ["starter's key", "the owner's key"])
def test_the_starter_and_the_owner_may_stop_rename_and_delete(supervisor, run_id, key, db):
    supervisor.rename(run_id, "a better name", key)
    supervisor.command(run_id, "stop", key)
    assert store.get(db, run_id).state == "stopped"
    assert store.get(db, run_id).name == "a better name"
    checkpoint_folder(supervisor.settings, run_id).mkdir(parents=True)
    supervisor.delete(run_id, key)
    assert store.get(db, run_id) is None
    assert not checkpoint_folder(supervisor.settings, run_id).exists()


def test_without_an_owner_key_the_empty_key_opens_nothing(settings, supervisor, run_id):
    open_house = Supervisor(replace(settings, owner_key=None))
    with pytest.raises(NotAllowed):
        open_house.delete(run_id, "")


def test_the_stored_owner_does_not_give_the_key_away(supervisor, run_id, db):
    stored = store.get(db, run_id).owner
    assert "starter" not in stored
    with pytest.raises(NotAllowed):
        supervisor.delete(run_id, stored)


def test_one_visitor_cannot_fill_the_queue(supervisor, run_id):
    supervisor.start(SPRINT, Watch(), "starter's key")
    supervisor.start(SPRINT, Watch(), "starter's key")
    with pytest.raises(ValueError, match="your runs already wait"):
        supervisor.start(SPRINT, Watch(), "starter's key")
    supervisor.start(SPRINT, Watch(), "another key")


def test_a_place_that_does_not_train_says_so(settings):
    closed = Supervisor(replace(settings, max_running=0))
    with pytest.raises(ValueError, match="recorded run only"):
        closed.start(PAPER, Watch(), "key")
    closed.look()
    assert closed.trouble() is None


def test_a_string_that_the_model_cannot_read_is_refused_with_a_sentence(supervisor):
    with pytest.raises(ValueError, match="position 4"):
        supervisor.start(SPRINT, Watch(string="CASX"), "key")
    with pytest.raises(ValueError, match="17 letters"):
        supervisor.start(SPRINT, Watch(string="A" * 17), "key")


def test_a_run_that_is_gone_is_said_to_be(supervisor):
    with pytest.raises(ValueError, match="no run 99"):
        supervisor.command(99, "stop", "key")


def test_there_is_nothing_to_pause_in_a_run_that_is_over(supervisor, run_id):
    supervisor.command(run_id, "stop", "starter's key")
    with pytest.raises(ValueError, match="nothing to pause"):
        supervisor.command(run_id, "pause", "starter's key")


def test_an_active_run_cannot_be_deleted(supervisor, run_id, db):
    store.claim_next(db, own_identity(), max_running=1)
    with pytest.raises(ValueError, match="stop it first"):
        supervisor.delete(run_id, "starter's key")


def test_a_run_queued_by_a_server_that_is_gone_is_interrupted(supervisor, run_id, db):
    gone = Identity(own_identity().machine, own_identity().pid, "another start")
    db.execute("UPDATE runs SET server = ?", (gone.to_text(),))
    supervisor.look()
    assert store.get(db, run_id).state == "interrupted"
    supervisor.go_on(run_id, "starter's key")  # nothing was recorded that it could write over
    assert store.get(db, run_id).state == "queued"


def test_a_run_goes_on_only_from_a_checkpoint(supervisor, run_id, db):
    store.claim_next(db, own_identity(), max_running=1)
    history.record(db, run_id, StepDone(1, 3.0, 1e-3, 1.0, 0.1))
    store.move(db, run_id, "interrupted", come_from=ACTIVE)
    with pytest.raises(ValueError, match="No checkpoint was saved before it ended"):
        supervisor.go_on(run_id, "starter's key")
    assert store.get(db, run_id).state == "interrupted"
    assert history.last_step(db, run_id) == 1

    file = checkpoint_folder(supervisor.settings, run_id) / CHECKPOINT
    file.parent.mkdir(parents=True)
    file.touch()
    supervisor.go_on(run_id, "starter's key")
    assert store.get(db, run_id).state == "queued"


def test_a_recycled_process_number_is_not_taken_for_the_worker(supervisor, run_id, db):
    recycled = Identity(own_identity().machine, own_identity().pid, "an earlier start")
    store.claim_next(db, recycled, max_running=1)
    supervisor.look()
    run = store.get(db, run_id)
    assert run.state == "interrupted"
    assert "ended without a word" in run.error


def test_a_worker_of_another_machine_is_judged_by_its_silence(supervisor, run_id, db):
    elsewhere = Identity("another machine", 7, "100")
    store.claim_next(db, elsewhere, max_running=1)
    supervisor.look()
    assert store.get(db, run_id).state == "starting"
    db.execute("UPDATE runs SET heartbeat = heartbeat - 3600")
    supervisor.look()
    assert store.get(db, run_id).state == "interrupted"


def test_the_oldest_runs_make_room(supervisor, run_id, db, monkeypatch):
    monkeypatch.setattr(upkeep, "MOST_KEPT", 2)
    for key in ("a", "b", "c"):
        supervisor.command(supervisor.start(SPRINT, Watch(), key), "stop", key)
    last = supervisor.start(SPRINT, Watch(), "d")
    assert [run.id for run in store.newest(db)] == [last, last - 1, last - 2, run_id]
