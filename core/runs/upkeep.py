"""Keeping the rows true: processes that died, stops not obeyed, rows of other versions, too many.

In: an open database and runs that wait or are active. Out: changed states and signals to workers.
Knows nothing of who may do what.
"""

import signal
import sqlite3
import time

from core.runs import pool, store
from core.runs.processes import Identity, is_alive
from core.runs.run import ACTIVE, ENDED, WAITING, Run, readable

SILENT_TOO_LONG = 30.0
ASK_AGAIN_AFTER, FORCE_AFTER = 5.0, 10.0
MOST_KEPT = 200


def fail_unreadable(db: sqlite3.Connection) -> None:
    """End runs of another version that wait or are active, so that they block nobody."""
    marks = ", ".join("?" * len(WAITING + ACTIVE))
    rows = db.execute(f"SELECT * FROM runs WHERE state IN ({marks})", WAITING + ACTIVE).fetchall()
    for row in rows:
        if not readable([row]):
            error = "It was started by a version of this program with other settings."
            store.move(db, row["id"], "failed", come_from=WAITING + ACTIVE, error=error)


def over_the_limit(db: sqlite3.Connection) -> list[int]:
    """Runs that are over and older than the `MOST_KEPT` newest: the disk has an end too."""
    states = ", ".join(f"'{state}'" for state in ENDED)
    rows = db.execute(
        f"SELECT id FROM runs WHERE state IN ({states}) ORDER BY id DESC LIMIT -1 OFFSET ?",
        (MOST_KEPT,),
    ).fetchall()
    return [row["id"] for row in rows]


def mark_truthfully(db: sqlite3.Connection, run: Run) -> None:
    """Say of a run whose process is gone that it was interrupted; see that a stop is obeyed."""
    if run.state in WAITING:
        if run.server is not None and _is_gone(run.server, run.created):
            _interrupt(db, run, "The server went away before this run's turn came.")
    elif run.worker is not None and _is_gone(run.worker, run.heartbeat):
        _interrupt(db, run, _why_interrupted(run))
    else:
        _enforce_stop(db, run)


def _interrupt(db: sqlite3.Connection, run: Run, error: str) -> None:
    """Unless its state, or who works on it, has changed since `run` was read."""
    kind = WAITING if run.state in WAITING else ACTIVE
    store.move(db, run.id, "interrupted", come_from=kind, worker=run.worker, error=error)


def _is_gone(process: Identity, last_sign: float | None) -> bool:
    alive = is_alive(process)
    if alive is None:  # another machine: only its silence tells
        return time.time() - (last_sign or 0.0) > SILENT_TOO_LONG
    return not alive


def _why_interrupted(run: Run) -> str:
    if run.server is not None and is_alive(run.server) is not True:
        return "The server or the machine went away; what was recorded is kept."
    return (
        "The training process ended without a word: killed, out of memory, or the disk is full. "
        "What was recorded is kept."
    )


def _enforce_stop(db: sqlite3.Connection, run: Run) -> None:
    """A worker that does not stop when asked is terminated, then killed."""
    row = db.execute(
        "SELECT min(at) AS at FROM commands WHERE run_id = ? AND command = 'stop' AND at > ?",
        (run.id, run.started or 0.0),
    ).fetchone()
    waited = time.time() - row["at"] if row["at"] else 0.0
    if waited > FORCE_AFTER:
        pool.send(run.worker, signal.SIGKILL)
        error = f"It did not stop when asked and was killed after {FORCE_AFTER:.0f} s."
        store.move(db, run.id, "stopped", come_from=ACTIVE, worker=run.worker, error=error)
    elif waited > ASK_AGAIN_AFTER:
        pool.send(run.worker, signal.SIGTERM)
