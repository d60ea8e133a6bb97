"""Runs as rows: who started one, in what state it is, and whose turn it is.

In: an open database. Out: frozen `Run` values and changed rows. It decides alone how many runs
may be active, in one transaction. Knows nothing of processes beyond their identity, nor of torch.
"""

import hashlib
import json
import sqlite3
import time
from typing import Any

from core.runs.database import writing
from core.runs.processes import Identity
from core.runs.run import ACTIVE, ENDED, WAITING, Run, readable
from core.training.recipe import LONGEST_NAME, Recipe, Watch

MOST_QUEUED = 20


def owner_hash(key: str) -> str:
    """What is stored of a starter's key: enough to recognise it, useless to act as them."""
    return hashlib.sha256(key.encode()).hexdigest()


def add(
    db: sqlite3.Connection,
    recipe: Recipe,
    watch: Watch,
    *,
    owner: str,
    server: Identity | None = None,
    name: str | None = None,
    once_within: float = 0.0,
) -> int:
    """Put a run at the end of the queue and return its number.

    The same run asked for by the same owner less than `once_within` seconds ago is not made again.
    Raises ValueError when the queue already holds `MOST_QUEUED` runs.
    """
    name = _clean_name(name or recipe.name)
    asked = (recipe.to_json(), watch.to_json(), recipe.seed, owner)
    with writing(db):
        same = db.execute(
            "SELECT id FROM runs WHERE recipe = ? AND watch = ? AND seed = ? AND owner = ?"
            " AND created > ?",
            (*asked, time.time() - once_within),
        ).fetchone()
        if same:
            return int(same["id"])
        _check_queue(db)
        cursor = db.execute(
            "INSERT INTO runs(name, recipe, watch, seed, owner, state, server, created)"
            " VALUES (?, ?, ?, ?, ?, 'queued', ?, ?)",
            (name, *asked, server.to_text() if server else None, time.time()),
        )
    if cursor.lastrowid is None:
        raise RuntimeError("The database gave the new run no number.")
    return cursor.lastrowid


def _check_queue(db: sqlite3.Connection) -> None:
    waiting = _count(db, WAITING)
    if waiting >= MOST_QUEUED:
        raise ValueError(f"{waiting} runs already wait their turn; start yours when some are done.")


def get(db: sqlite3.Connection, run_id: int) -> Run | None:
    """One run; None if there is none, or if it was written by a version with other settings."""
    row = db.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
    return next(iter(readable([row] if row else [])), None)


def newest(db: sqlite3.Connection, limit: int = 200) -> list[Run]:
    """The last `limit` runs, newest first."""
    rows = db.execute("SELECT * FROM runs ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
    return readable(rows)


def latest_id(db: sqlite3.Connection) -> int | None:
    """The run that `?run=latest` means: the newest that has begun, else the newest."""
    runs = newest(db, 2 * MOST_QUEUED)
    begun = [run.id for run in runs if run.started is not None]
    return next(iter(begun or [run.id for run in runs]), None)


def place(db: sqlite3.Connection, run_id: int) -> int | None:
    """The run's place in the queue from 1; None when it does not wait."""
    row = db.execute(
        "SELECT (SELECT count(*) FROM runs AS other WHERE other.state = 'queued'"
        " AND other.id <= runs.id) AS place FROM runs WHERE id = ? AND state = 'queued'",
        (run_id,),
    ).fetchone()
    return row["place"] if row else None


def claim_next(db: sqlite3.Connection, worker: Identity, max_running: int) -> Run | None:
    """Give the oldest waiting run to `worker`, unless `max_running` runs are active already.

    One transaction, so two workers never get the same run nor pass the limit together.
    """
    with writing(db):
        if _count(db, ACTIVE) >= max_running:
            return None
        row = db.execute(
            "SELECT id FROM runs WHERE state = 'queued' ORDER BY id LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        now = time.time()
        db.execute(
            "UPDATE runs SET state = 'starting', worker = ?, heartbeat = ?, error = NULL,"
            " started = coalesce(started, ?), ended = NULL, attempt = attempt + 1 WHERE id = ?",
            (worker.to_text(), now, now, row["id"]),
        )
    return get(db, row["id"])


def move(
    db: sqlite3.Connection,
    run_id: int,
    state: str,
    *,
    come_from: tuple[str, ...],
    worker: Identity | None = None,
    error: str | None = None,
) -> bool:
    """Change the state if it is one of `come_from` (and held by `worker`, when given).

    Returns whether it was changed, so that of two processes that disagree only one speaks.
    """
    ended = time.time() if state in ENDED else None
    marks = ", ".join("?" * len(come_from))
    cursor = db.execute(
        f"UPDATE runs SET state = ?, error = ?, ended = ? WHERE id = ? AND state IN ({marks})"
        " AND (? IS NULL OR worker = ?)",
        (state, error, ended, run_id, *come_from, *[worker.to_text() if worker else None] * 2),
    )
    return cursor.rowcount == 1


def beat(db: sqlite3.Connection, run_id: int, dropped: int, vitals: dict[str, Any] | None) -> None:
    """Record that the worker lives, how many rows it lost, and what it uses (None: as before)."""
    db.execute(
        "UPDATE runs SET heartbeat = ?, dropped = ?, vitals = coalesce(?, vitals) WHERE id = ?",
        (time.time(), dropped, json.dumps(vitals) if vitals else None, run_id),
    )


def queue_again(db: sqlite3.Connection, run_id: int, server: Identity | None) -> bool:
    """Put an interrupted or stopped run back into the queue; its rows stay, its commands go."""
    db.execute("DELETE FROM commands WHERE run_id = ?", (run_id,))
    cursor = db.execute(
        "UPDATE runs SET state = 'queued', error = NULL, ended = NULL, server = ?, worker = NULL"
        " WHERE id = ? AND state IN ('interrupted', 'stopped')",
        (server.to_text() if server else None, run_id),
    )
    return cursor.rowcount == 1


def rename(db: sqlite3.Connection, run_id: int, name: str) -> None:
    db.execute("UPDATE runs SET name = ? WHERE id = ?", (_clean_name(name), run_id))


def delete(db: sqlite3.Connection, run_id: int) -> bool:
    """Remove a run that is not active, with everything recorded of it."""
    states = ", ".join(f"'{state}'" for state in WAITING + ENDED)
    return (
        db.execute(f"DELETE FROM runs WHERE id = ? AND state IN ({states})", (run_id,)).rowcount
        == 1
    )


def in_states(db: sqlite3.Connection, states: tuple[str, ...]) -> list[Run]:
    marks = ", ".join("?" * len(states))
    rows = db.execute(f"SELECT * FROM runs WHERE state IN ({marks}) ORDER BY id", states)
    return readable(rows.fetchall())


def _count(db: sqlite3.Connection, states: tuple[str, ...]) -> int:
    marks = ", ".join("?" * len(states))
    count: int = db.execute(
        f"SELECT count(*) FROM runs WHERE state IN ({marks})", states
    ).fetchone()[0]
    return count


def _clean_name(name: str) -> str:
    """Printable, one line, at most `LONGEST_NAME`. Raises ValueError when nothing is left."""
    printable = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if not printable:
        raise ValueError("A run needs a name of at least one letter.")
    return printable[:LONGEST_NAME]
