"""The one SQLite file through which workers, pages and command line speak about runs.

In: a path. Out: a connection with the tables there, in WAL mode, so that readers never wait
for a writer. Knows nothing of what the rows mean.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

FILE_NAME = "runs.sqlite"

_TABLES = """
CREATE TABLE IF NOT EXISTS runs(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    recipe TEXT NOT NULL,
    watch TEXT NOT NULL,
    seed INTEGER NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    error TEXT,
    device TEXT,
    versions TEXT,
    about TEXT,
    server TEXT,
    worker TEXT,
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    heartbeat REAL,
    vitals TEXT,
    attempt INTEGER NOT NULL DEFAULT 0,
    rewinds INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS runs_by_state ON runs(state);
CREATE TABLE IF NOT EXISTS metrics(
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    loss REAL,
    learning_rate REAL NOT NULL,
    gradient_norm REAL,
    seconds REAL NOT NULL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS exactness(
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    of INTEGER NOT NULL,
    letters_right REAL NOT NULL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples(
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    source TEXT NOT NULL,
    decoded TEXT NOT NULL,
    expected TEXT NOT NULL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots(
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    read TEXT NOT NULL,
    source TEXT NOT NULL,
    shape TEXT NOT NULL,
    weights BLOB NOT NULL,
    antidiagonal TEXT NOT NULL,
    PRIMARY KEY (run_id, step)
);
CREATE TABLE IF NOT EXISTS events(
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    at REAL NOT NULL,
    line TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_run ON events(run_id);
CREATE TABLE IF NOT EXISTS commands(
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    at REAL NOT NULL,
    obeyed REAL
);
CREATE INDEX IF NOT EXISTS commands_by_run ON commands(run_id);
CREATE TABLE IF NOT EXISTS workers(
    identity TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    spawned REAL NOT NULL,
    ready REAL
);
"""


def connect(path: Path, *, busy_seconds: float = 5.0) -> sqlite3.Connection:
    """Open (and if needed create) the database at `path`.

    `busy_seconds` is how long a call waits for another process's write before
    `sqlite3.OperationalError`. Raises OSError when the folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit, so that a transaction is opened only where `writing` says so.
    connection = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    # In WAL mode NORMAL loses no committed row when a process is killed, and never corrupts.
    connection.execute("PRAGMA synchronous = NORMAL")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_TABLES + "PRAGMA user_version = 1;")
    return connection


def is_writable(path: Path) -> bool:
    """Whether the database at `path` can be made, or changed where it is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    there = [each for each in (path.parent, path) if each.exists()]
    return all(os.access(each, os.W_OK) for each in there)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for the length of a `with` block."""
    with closing(connect(path)) as connection:
        yield connection


@contextmanager
def writing(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One transaction that takes the write lock at once: all of the block, or nothing of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
