"""A fresh store for each test, and a stream of events that needs no training."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.runs.database import FILE_NAME, connect
from core.settings import Settings
from core.training.events import (
    Evaluated,
    Event,
    Finished,
    Sampled,
    Snapshot,
    Started,
    StepDone,
)
from core.training.recipe import SPRINT, Watch


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_folder=tmp_path / "data",
        model_folder=None,
        owner_key="the owner's key",
        offline=True,
        max_running=1,
        threads=1,
    )


@pytest.fixture
def db(settings: Settings):
    connection = connect(settings.data_folder / FILE_NAME)
    yield connection
    connection.close()


@pytest.fixture
def some_events():
    return make_events


def make_events(steps: int = 7, *, resumed_from: int = 0) -> Iterator[Event]:
    """A short, made-up run: losses are 3 / step, a look at every third step."""
    yield Started(
        recipe=SPRINT.to_dict(),
        watch=Watch().to_dict(),
        device="cpu",
        device_name="a test",
        threads=1,
        processes=1,
        parameters=11,
        smoothing_floor=0.6,
        versions={"torch": "none"},
        resumed_from=resumed_from,
    )
    for step in range(resumed_from + 1, steps + 1):
        yield StepDone(step, 3 / step, step / 1000, 1.0, step / 10)
        if step % 3 == 0:
            yield Sampled(step, "CAS", "SAC", "SAC")
            yield Evaluated(step, 5 * step, 100, 0.5)
            yield one_snapshot(step)
    yield Finished(steps, steps / 10, steps / 5, 35, 100, {"CAS": "SAC"})


def one_snapshot(step: int) -> Snapshot:
    """Weights of 2 layers, 3 heads, 5 queries, 7 keys, different at every step."""
    weights = np.random.default_rng(step).random((2, 3, 5, 7))
    weights /= weights.sum(-1, keepdims=True)
    return Snapshot(
        step, tuple("<SACQ"), tuple("QCASRYE"), weights.astype(np.float16), (0.25, 0.5 + step / 100)
    )


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch):
    """Two threads for so small a model on a busy machine are many times slower than one."""
    monkeypatch.setenv("ONE_RECEPTOR_THREADS", "1")
