from dataclasses import replace

import pytest

from core.runs import pool
from core.runs.processes import Identity, from_text, identity_of, is_alive, own_identity


def test_the_quota_and_the_affinity_both_count(tmp_path):
    file = tmp_path / "cpu.max"
    file.write_text("150000 100000\n")
    assert pool._cgroup_quota(file) == 1
    file.write_text("700000 100000\n")
    assert pool._cgroup_quota(file) == 7
    file.write_text("max 100000\n")
    assert pool._cgroup_quota(file) is None
    assert pool._cgroup_quota(tmp_path / "absent") is None
    assert pool.usable_cores() >= 1


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (7, 6)])
def test_one_core_stays_free_for_the_pages(settings, cores, threads):
    assert pool.worker_threads(replace(settings, threads=None), cores) == threads


def test_the_setting_overrules(settings):
    assert pool.worker_threads(replace(settings, threads=5), 2) == 5


def test_memory_limits_are_read(tmp_path):
    file = tmp_path / "memory.max"
    file.write_text("1073741824\n")
    assert pool._cgroup_memory(file) == 2**30
    file.write_text("max\n")
    assert pool._cgroup_memory(file) == float("inf")
    assert pool._machine_memory() > 2**20


def test_an_identity_is_this_process_and_no_other(settings):
    me = own_identity()
    assert from_text(me.to_text()) == me
    assert is_alive(me)
    assert is_alive(Identity(me.machine, me.pid, "another start")) is False
    assert is_alive(Identity("elsewhere", me.pid, me.started)) is None
    assert identity_of(2**22 + 7) is None


def test_a_worker_that_died_before_it_was_ready_is_reported_and_not_replaced_at_once(
    settings, db, monkeypatch
):
    me = own_identity()
    dead = Identity(me.machine, me.pid, "an earlier start")
    spawned = []
    monkeypatch.setattr(pool, "_spawn", lambda *_: spawned.append(1) or dead)
    settings.data_folder.mkdir(exist_ok=True)
    (settings.data_folder / pool.LOG_NAME).write_text("Traceback\nNo module named torch\n")
    assert pool.startup_failure(db, settings, me) is None
    pool.ensure_workers(db, settings, me)
    assert "No module named torch" in pool.startup_failure(db, settings, me)
    pool.ensure_workers(db, settings, me)
    assert len(spawned) == 1
    db.execute("UPDATE workers SET spawned = spawned - 3600")
    pool.ensure_workers(db, settings, me)
    assert len(spawned) == 2
