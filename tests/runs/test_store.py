import threading
import time

import pytest

from core.runs import commands, store, upkeep
from core.runs.database import FILE_NAME, connect, writing
from core.runs.processes import Identity, own_identity
from core.runs.run import ACTIVE, WAITING
from core.training.recipe import LONGEST_NAME, SPRINT, Watch


def add(db, owner="someone", **named):
    return store.add(db, SPRINT, Watch(), owner=owner, server=own_identity(), **named)


def worker(number: int) -> Identity:
    return Identity("a machine", number, "100")


def test_a_run_comes_back_as_it_was_put_in(db):
    run = store.get(db, add(db, name="first try"))
    assert (run.recipe, run.watch, run.state, run.name) == (
        SPRINT,
        Watch(),
        "queued",
        "first try",
    )
    assert run.server == own_identity()


def test_names_are_printable_and_of_one_line(db):
    run_id = add(db, name="  a\tname\nof\x00 lines ")
    assert store.get(db, run_id).name == "a name of lines"
    store.rename(db, run_id, "x" * 500)
    assert len(store.get(db, run_id).name) == LONGEST_NAME
    with pytest.raises(ValueError, match="needs a name"):
        store.rename(db, run_id, " \n ")


def test_the_queue_is_first_in_first_out_and_says_its_places(db):
    ids = [add(db) for _ in range(3)]
    assert [store.place(db, run_id) for run_id in ids] == [1, 2, 3]
    assert store.claim_next(db, worker(1), max_running=1).id == ids[0]
    assert [store.place(db, run_id) for run_id in ids] == [None, 1, 2]


def test_no_more_runs_are_active_than_allowed(db):
    ids = [add(db) for _ in range(3)]
    assert store.claim_next(db, worker(1), max_running=0) is None
    assert store.claim_next(db, worker(1), max_running=2).id == ids[0]
    assert store.claim_next(db, worker(2), max_running=2).id == ids[1]
    assert store.claim_next(db, worker(3), max_running=2) is None
    store.move(db, ids[0], "finished", come_from=ACTIVE)
    assert store.claim_next(db, worker(3), max_running=2).id == ids[2]


def test_many_workers_at_once_never_share_a_run_nor_pass_the_limit(db, settings):
    ids = {add(db) for _ in range(11)}
    claimed, failures, gate = [], [], threading.Barrier(13)

    def claim(number: int) -> None:
        own = connect(settings.data_folder / FILE_NAME)
        gate.wait()
        try:
            run = store.claim_next(own, worker(number), max_running=5)
            if run:
                claimed.append(run.id)
        except Exception as problem:
            failures.append(problem)
        finally:
            own.close()

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(claimed) == len(set(claimed)) == 5
    assert set(claimed) <= ids


def test_the_queue_has_an_end(db):
    for _ in range(store.MOST_QUEUED):
        add(db)
    with pytest.raises(ValueError, match="already wait"):
        add(db)


def test_a_state_changes_only_from_where_it_is_and_by_who_holds_it(db):
    run_id = add(db)
    store.claim_next(db, worker(1), max_running=1)
    assert not store.move(db, run_id, "finished", come_from=ACTIVE, worker=worker(2))
    assert store.move(db, run_id, "running", come_from=ACTIVE, worker=worker(1))
    assert store.move(db, run_id, "failed", come_from=ACTIVE, error="It broke.")
    assert not store.move(db, run_id, "finished", come_from=ACTIVE, worker=worker(1))
    run = store.get(db, run_id)
    assert (run.state, run.error) == ("failed", "It broke.")
    assert run.ended is not None


def test_commands_are_taken_once_and_in_order(db):
    run_id = add(db)
    for command in ("pause", "save", "resume"):
        commands.ask(db, run_id, command)
    assert commands.take_commands(db, run_id) == ["pause", "save", "resume"]
    assert commands.take_commands(db, run_id) == []
    with pytest.raises(ValueError, match="not a command"):
        commands.ask(db, run_id, "explode")


def test_latest_is_the_newest_that_has_begun(db):
    assert store.latest_id(db) is None
    first, second = add(db), add(db)
    assert store.latest_id(db) == second
    store.claim_next(db, worker(1), max_running=1)
    assert store.latest_id(db) == first
    store.move(db, second, "stopped", come_from=WAITING)  # it left the queue
    assert store.latest_id(db) == first


def test_only_a_run_that_is_not_active_can_be_deleted_and_its_rows_go_with_it(db):
    run_id = add(db)
    store.claim_next(db, worker(1), max_running=1)
    db.execute("INSERT INTO metrics VALUES (?, 1, 2.0, 0.1, 1.0, 0.5)", (run_id,))
    assert not store.delete(db, run_id)
    store.move(db, run_id, "stopped", come_from=ACTIVE)
    assert store.delete(db, run_id)
    assert db.execute("SELECT count(*) FROM metrics").fetchone()[0] == 0


def test_a_failed_transaction_leaves_nothing_behind(db):
    run_id = add(db, name="before")
    with pytest.raises(ZeroDivisionError):
        _change_then_fail(db, run_id)
    assert store.get(db, run_id).name == "before"


def _change_then_fail(db, run_id):
    with writing(db):
        db.execute("UPDATE runs SET name = 'after' WHERE id = ?", (run_id,))
        raise ZeroDivisionError


def test_a_run_of_another_version_is_passed_over(db):
    old, new = add(db), add(db)
    db.execute("UPDATE runs SET recipe = '{\"no_such_setting\": 1}' WHERE id = ?", (old,))
    assert store.get(db, old) is None
    assert [run.id for run in store.newest(db)] == [new]
    upkeep.fail_unreadable(db)
    states = db.execute("SELECT state FROM runs ORDER BY id").fetchall()
    assert [row["state"] for row in states] == ["failed", "queued"]


def test_readers_do_not_wait_for_a_writer(db, settings):
    run_id = add(db)
    reader = connect(settings.data_folder / FILE_NAME, busy_seconds=0.1)
    with writing(db):
        db.execute("UPDATE runs SET heartbeat = ? WHERE id = ?", (time.time(), run_id))
        assert store.get(reader, run_id).heartbeat is None
    assert store.get(reader, run_id).heartbeat is not None
    reader.close()


def test_the_same_run_asked_for_at_the_same_moment_is_made_once(db):
    first, again = (add_once(db, owner="a") for _ in range(2))
    assert first == again
    assert add_once(db, owner="b") != first
    assert store.add(db, SPRINT, Watch(), owner="a") != first


def add_once(db, owner):
    return store.add(db, SPRINT, Watch(), owner=owner, once_within=60.0)
