"""Real worker processes: obeying, dying, and going on. This test process is their server."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.runs import history, pool, store
from core.runs.database import FILE_NAME, opened
from core.runs.processes import is_alive, own_identity
from core.runs.run import Run
from core.runs.supervisor import Supervisor, checkpoint_folder
from core.settings import REPOSITORY, Settings
from core.training.recipe import SPRINT, Watch

KEY = "starter's key"
TINY = replace(SPRINT, d_model=16, num_heads=2, d_ff=32, num_layers=1, batch=4, dropout=0.1)
ENDLESS = replace(TINY, steps=20_000)
WATCH = Watch(held_out=3, evaluate_every=0, sample_every=50, snapshot_every=50, save_every=20)


@pytest.fixture(scope="module")
def supervisor(tmp_path_factory):
    settings = Settings(
        data_folder=tmp_path_factory.mktemp("runs"),
        model_folder=None,
        owner_key=None,
        offline=True,
        max_running=1,
        threads=1,
    )
    supervisor = Supervisor(settings)
    yield supervisor
    with supervisor.reading() as db:
        for identity in pool.living(db, own_identity()):
            pool.send(identity, signal.SIGKILL)


def get(supervisor: Supervisor, run_id: int) -> Run:
    with supervisor.reading() as db:
        return store.get(db, run_id)


def losses(supervisor: Supervisor, run_id: int) -> list[float]:
    with supervisor.reading() as db:
        return [event.loss for event in history.steps_after(db, run_id, 0)]


def wait_for(condition, seconds: float = 180.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def wait_for_state(supervisor: Supervisor, run_id: int, state: str) -> None:
    wait_for(lambda: get(supervisor, run_id).state == state)


def wait_for_steps(supervisor: Supervisor, run_id: int, steps: int) -> None:
    wait_for(lambda: len(losses(supervisor, run_id)) >= steps)


def test_a_run_is_trained_and_everything_is_recorded(supervisor):
    recipe = replace(TINY, steps=101)
    run_id = supervisor.start(recipe, WATCH, KEY, name="the first")
    wait_for_state(supervisor, run_id, "finished")
    run = get(supervisor, run_id)
    assert len(losses(supervisor, run_id)) == 101
    assert run.about["device"] == "cpu"
    assert run.about["smoothing_floor"] > 0
    assert run.error is None
    assert run.dropped == 0
    with supervisor.reading() as db:
        assert [step for step, _ in history.snapshots_after(db, run_id, 0)] == [1, 50, 100, 101]
        assert history.snapshot_at(db, run_id, 101).weights.shape[:2] == (1, 2)
        assert history.samples_after(db, run_id, 0)[-1].expected == "FYQEYSSRISSAC"
        assert history.evaluations_after(db, run_id, 0)[-1].of == 3


def test_commands_are_obeyed_and_a_stopped_run_goes_on_with_the_same_losses(supervisor):
    recipe = replace(TINY, steps=701)
    straight = supervisor.start(recipe, WATCH, KEY)
    wait_for_state(supervisor, straight, "finished")

    run_id = supervisor.start(recipe, WATCH, KEY)
    wait_for_steps(supervisor, run_id, 30)
    supervisor.command(run_id, "pause", KEY)
    wait_for_state(supervisor, run_id, "paused")
    time.sleep(0.3)  # what was done before the pause is written by now
    standing = len(losses(supervisor, run_id))
    time.sleep(0.5)
    assert len(losses(supervisor, run_id)) == standing < 701
    supervisor.command(run_id, "save", KEY)
    with supervisor.reading() as db:
        wait_for(lambda: f'"step": {standing}' in history.lines(db, run_id)[-1][1])
    supervisor.command(run_id, "resume", KEY)
    wait_for_steps(supervisor, run_id, standing + 1)
    supervisor.command(run_id, "stop", KEY)
    wait_for_state(supervisor, run_id, "stopped")
    assert len(losses(supervisor, run_id)) < 701

    supervisor.go_on(run_id, KEY)
    wait_for_state(supervisor, run_id, "finished")
    assert get(supervisor, run_id).about["resumed_from"] > 0
    np.testing.assert_array_equal(losses(supervisor, run_id), losses(supervisor, straight))


def test_a_second_run_waits_its_turn_and_begins_by_itself(supervisor):
    first = supervisor.start(ENDLESS, WATCH, KEY)
    wait_for_state(supervisor, first, "running")
    second = supervisor.start(replace(TINY, steps=11), WATCH, "another key")
    with supervisor.reading() as db:
        assert store.place(db, second) == 1
    supervisor.command(first, "stop", KEY)
    wait_for_state(supervisor, second, "finished")


def test_a_killed_worker_leaves_its_rows_the_truth_and_a_checkpoint(supervisor):
    run_id = supervisor.start(ENDLESS, WATCH, KEY)
    wait_for_steps(supervisor, run_id, 50)
    worker = get(supervisor, run_id).worker
    pool.send(worker, signal.SIGKILL)
    wait_for(lambda: not is_alive(worker))
    supervisor.look()
    run = get(supervisor, run_id)
    assert run.state == "interrupted"
    assert "killed" in run.error
    kept = losses(supervisor, run_id)
    assert len(kept) >= 50

    supervisor.go_on(run_id, KEY)
    wait_for_steps(supervisor, run_id, len(kept) + 1)
    assert get(supervisor, run_id).about["resumed_from"] > 0
    assert losses(supervisor, run_id)[: len(kept)] == kept
    supervisor.command(run_id, "stop", KEY)
    wait_for_state(supervisor, run_id, "stopped")


def test_a_worker_that_hangs_is_killed_after_a_while(supervisor, monkeypatch):
    monkeypatch.setattr("core.runs.upkeep.ASK_AGAIN_AFTER", 0.2)
    monkeypatch.setattr("core.runs.upkeep.FORCE_AFTER", 0.4)
    run_id = supervisor.start(ENDLESS, WATCH, KEY)
    wait_for_steps(supervisor, run_id, 1)
    worker = get(supervisor, run_id).worker
    pool.send(worker, signal.SIGSTOP)
    supervisor.command(run_id, "stop", KEY)
    time.sleep(0.5)
    supervisor.look(keep_warm=False)
    run = get(supervisor, run_id)
    assert run.state == "stopped"
    assert "did not stop when asked" in run.error
    wait_for(lambda: not is_alive(worker))


def test_a_diverging_run_fails_in_words(supervisor):
    wild = replace(TINY, steps=2000, warmup=0, peak=1.0, clip_norm=0.0, seed=1)
    run_id = supervisor.start(wild, WATCH, KEY)
    wait_for(lambda: get(supervisor, run_id).is_over)
    run = get(supervisor, run_id)
    assert run.state == "failed"
    assert "learning rate" in run.error
    assert "step" in run.error


SERVER = """
import json, sys, time
from core.runs.supervisor import Supervisor
from core.settings import read_settings
from core.training.recipe import Recipe, Watch
supervisor = Supervisor(read_settings())
recipe, watch = json.loads(sys.stdin.read())
print(supervisor.start(Recipe.from_dict(recipe), Watch.from_dict(watch), "key"), flush=True)
assert "torch" not in sys.modules
time.sleep(600)
"""


@pytest.fixture
def other_server(tmp_path: Path):
    """Another server process with a run under way: the process, its supervisor, the run."""
    settings = Settings(tmp_path, None, None, True, 1, 1)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=REPOSITORY,
        env={**os.environ, "ONE_RECEPTOR_DATA": str(tmp_path), "ONE_RECEPTOR_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(json.dumps([ENDLESS.to_dict(), WATCH.to_dict()]))
    process.stdin.close()
    run_id = int(process.stdout.readline())
    supervisor = Supervisor(settings)
    wait_for_steps(supervisor, run_id, 30)
    yield process, supervisor, run_id
    process.kill()
    process.wait()


def test_a_killed_server_takes_its_worker_along_and_the_run_can_go_on(other_server):
    process, supervisor, run_id = other_server
    worker = get(supervisor, run_id).worker
    process.kill()
    process.wait()
    wait_for(lambda: not is_alive(worker))
    run = get(supervisor, run_id)
    assert run.state == "interrupted"
    assert "server went away" in run.error
    assert (checkpoint_folder(supervisor.settings, run_id) / "last.pt").exists()
    done = len(losses(supervisor, run_id))

    supervisor.go_on(run_id, "key")
    wait_for_steps(supervisor, run_id, done + 1)
    assert get(supervisor, run_id).about["resumed_from"] >= 20
    supervisor.command(run_id, "stop", "key")
    wait_for_state(supervisor, run_id, "stopped")
    with opened(supervisor.settings.data_folder / FILE_NAME) as db:
        for identity in pool.living(db, own_identity()):
            pool.send(identity, signal.SIGKILL)


def test_server_and_worker_killed_together_are_found_out_at_the_next_look(other_server):
    process, supervisor, run_id = other_server
    worker = get(supervisor, run_id).worker
    pool.send(worker, signal.SIGSTOP)  # so that it cannot tidy up before it is killed too
    process.kill()
    process.wait()
    pool.send(worker, signal.SIGKILL)
    wait_for(lambda: not is_alive(worker))
    assert get(supervisor, run_id).state == "running"
    supervisor.look(keep_warm=False)
    run = get(supervisor, run_id)
    assert run.state == "interrupted"
    assert "server or the machine went away" in run.error
    assert len(losses(supervisor, run_id)) >= 30


def test_an_idle_worker_costs_no_processor_time(supervisor):
    supervisor.look()
    wait_for(supervisor.is_warm)
    with supervisor.reading() as db:
        (worker,) = pool.living(db, own_identity())
    before = _processor_ticks(worker.pid)
    time.sleep(3)
    assert _processor_ticks(worker.pid) - before <= 2  # of about 300


def _processor_ticks(pid: int) -> int:
    file = Path(f"/proc/{pid}/stat")
    if not file.exists():
        pytest.skip("this system has no /proc")
    fields = file.read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
