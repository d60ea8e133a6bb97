"""Choosing the device and the threads, and what is refused there."""

from dataclasses import replace

import pytest
import torch

from core.training.captured_step import PlainSteps, steps_of
from core.training.cross_check import agrees_with_cpu
from core.training.devices import choose_device, device_name, sensible_threads
from core.training.learner import Learner
from core.training.parallel import World, check_share
from core.training.recipe import SPRINT

CPU = torch.device("cpu")


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="choose auto, cpu, cuda or mps"):
        choose_device("abacus")
    for kind, there in (
        ("cuda", torch.cuda.is_available()),
        ("mps", torch.backends.mps.is_available()),
    ):
        if not there:
            with pytest.raises(ValueError, match=f"no {kind.upper()} device"):
                choose_device(kind)
    assert choose_device("cpu") == CPU


def test_auto_prefers_a_gpu_that_can_be_trusted(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    for trusted, kind in ((True, "mps"), (False, "cpu")):
        monkeypatch.setattr("core.training.devices.agrees_with_cpu", lambda _, t=trusted: t)
        assert choose_device("auto").type == kind
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto").type == "cuda"


def test_the_cross_check_passes_where_it_must_and_fails_where_it_must():
    assert agrees_with_cpu(CPU)
    assert not agrees_with_cpu(torch.device("meta"))


def test_the_cross_check_notices_a_wrong_number(monkeypatch):
    whole = Learner.learn_from

    def with_a_bad_weight(learner, batch):
        whole(learner, batch)
        if learner.recipe.seed == 0 and not getattr(Learner, "spoilt", False):
            learner.model.generator.weight.data[0] += 1.0
            Learner.spoilt = True

    monkeypatch.setattr(Learner, "spoilt", False, raising=False)
    monkeypatch.setattr(Learner, "learn_from", with_a_bad_weight)
    assert not agrees_with_cpu(CPU)


@pytest.mark.parametrize(
    ("quota", "cores", "threads"),
    [("max 100000", 6, 6), ("200000 100000", 6, 2), ("50000 100000", 6, 1), ("nonsense", 3, 3)],
)
def test_threads_follow_affinity_and_quota(monkeypatch, tmp_path, quota, cores, threads):
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.delenv("ONE_RECEPTOR_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("core.training.devices.CGROUP_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(cores), raising=False)
    assert sensible_threads() == threads
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert sensible_threads() == 1
    monkeypatch.setenv("ONE_RECEPTOR_THREADS", "5")
    assert sensible_threads() == 5


def test_devices_have_names():
    assert device_name(CPU)


def test_the_cpu_takes_plain_steps():
    learner = Learner(replace(SPRINT, d_model=12, num_heads=3, d_ff=20, steps=3), CPU)
    steps = steps_of(learner)
    assert isinstance(steps, PlainSteps)
    steps(3)
    assert (learner.logs(1, 3)[0] > 0).all()


def test_a_batch_of_which_a_process_would_get_nothing_is_refused():
    recipe = replace(SPRINT, d_model=12, num_heads=3, d_ff=20, steps=1, batch=4)
    with pytest.raises(ValueError, match=r"4 cannot be shared by 3.*must be 5 or more"):
        Learner(recipe, CPU, World(2, 3))
    check_share(5, World(2, 3))


def test_a_checkpoint_of_another_kind_of_device_is_refused():
    learner = Learner(replace(SPRINT, d_model=12, num_heads=3, d_ff=20, steps=1), CPU)
    state = learner.state()
    state["streams"][0]["device_dropout"] = torch.zeros(16, dtype=torch.uint8)
    with pytest.raises(ValueError, match="another kind of device"):
        learner.restore(state)
