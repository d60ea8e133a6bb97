"""Worker processes: starting one, waking an idle one, and telling which still live.

In: an open database and the settings. Out: rows of `workers`, and signals. The table is the only
memory, so a reloaded module or a second browser loses no worker. Knows nothing of runs.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from core.runs.database import writing
from core.runs.processes import Identity, from_text, identity_of, is_alive
from core.settings import REPOSITORY, Settings

LOG_NAME = "worker.log"
PATIENCE_AFTER_FAILURE = 60.0
ROOM_FOR_IDLE = 1500 * 2**20  # an idle worker holds about 350 MiB, the server as much


def ensure_workers(db: sqlite3.Connection, settings: Settings, server: Identity) -> None:
    """Keep as many workers for this server as runs are allowed at once.

    A worker that died before it was ready is not replaced for a minute, so that a machine
    without torch does not start one failing process after another.
    """
    if len(living(db, server)) >= settings.max_running or startup_failure(db, settings, server):
        return
    with writing(db):
        _forget_dead(db)
        # Counted again under the lock: two browsers may have looked at the same moment.
        for _ in range(settings.max_running - len(living(db, server))):
            identity = _spawn(settings, server)
            if identity:
                db.execute(
                    "INSERT OR REPLACE INTO workers VALUES (?, ?, ?, NULL)",
                    (identity.to_text(), server.to_text(), time.time()),
                )


def living(db: sqlite3.Connection, server: Identity) -> list[Identity]:
    """Workers of this server that live."""
    rows = db.execute("SELECT identity FROM workers WHERE server = ?", (server.to_text(),))
    found = [from_text(row["identity"]) for row in rows.fetchall()]
    return [identity for identity in found if identity and is_alive(identity)]


def is_warm(db: sqlite3.Connection, server: Identity) -> bool:
    """Whether a living worker has loaded everything it needs."""
    ready = db.execute(
        "SELECT identity FROM workers WHERE server = ? AND ready IS NOT NULL", (server.to_text(),)
    )
    found = [from_text(row["identity"]) for row in ready.fetchall()]
    return any(identity and is_alive(identity) for identity in found)


def wake(db: sqlite3.Connection, server: Identity) -> None:
    """Tell idle workers that the queue has changed; busy ones take no notice."""
    ready = db.execute(
        "SELECT identity FROM workers WHERE server = ? AND ready IS NOT NULL", (server.to_text(),)
    )
    for row in ready.fetchall():
        send(from_text(row["identity"]), signal.SIGUSR1)


def send(identity: Identity | None, signal_number: int) -> None:
    """Signal that very process, and no other that may have taken its number since."""
    if identity and is_alive(identity):
        with contextlib.suppress(ProcessLookupError):
            os.kill(identity.pid, signal_number)


def sign_off(db: sqlite3.Connection, identity: Identity) -> None:
    """Said by a worker that leaves in good order."""
    db.execute("DELETE FROM workers WHERE identity = ?", (identity.to_text(),))


def announce_ready(db: sqlite3.Connection, identity: Identity) -> None:
    """Said by the worker itself, once it listens for `wake`."""
    db.execute("UPDATE workers SET ready = ? WHERE identity = ?", (time.time(), identity.to_text()))


def startup_failure(db: sqlite3.Connection, settings: Settings, server: Identity) -> str | None:
    """Why no worker could start in the last minute, in words; None when nothing is wrong."""
    rows = db.execute(
        "SELECT identity FROM workers WHERE server = ? AND ready IS NULL AND spawned > ?",
        (server.to_text(), time.time() - PATIENCE_AFTER_FAILURE),
    ).fetchall()
    found = [from_text(row["identity"]) for row in rows]
    if all(identity and is_alive(identity) for identity in found):
        return None
    return f"The training process ended before it was ready: {_last_words(settings)}"


def has_room_for_an_idle_worker() -> bool:
    """Whether this machine, or its container, has memory for a worker that only waits."""
    return min(_machine_memory(), _cgroup_memory(Path("/sys/fs/cgroup/memory.max"))) > ROOM_FOR_IDLE


def usable_cores() -> int:
    """Cores this process may use: the smaller of its affinity and its cgroup quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = _cgroup_quota(Path("/sys/fs/cgroup/cpu.max"))
    return max(1, min(allowed or 1, quota or allowed or 1))


def worker_threads(settings: Settings, cores: int) -> int:
    """Threads for training: one core stays free for the pages that people look at."""
    return settings.threads or max(1, cores - 1)


def _forget_dead(db: sqlite3.Connection) -> None:
    old = time.time() - PATIENCE_AFTER_FAILURE
    rows = db.execute("SELECT identity FROM workers WHERE spawned < ?", (old,)).fetchall()
    for row in rows:
        identity = from_text(row["identity"])
        if identity and is_alive(identity) is False:
            sign_off(db, identity)


def _spawn(settings: Settings, server: Identity) -> Identity | None:
    settings.data_folder.mkdir(parents=True, exist_ok=True)
    threads = str(worker_threads(settings, usable_cores()))
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": threads,
        "ONE_RECEPTOR_THREADS": threads,
        "PYTHONUNBUFFERED": "1",
        "ONE_RECEPTOR_DATA": str(settings.data_folder.resolve()),
    }
    with (settings.data_folder / LOG_NAME).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "core.runs.worker", "--server", server.to_text()],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return identity_of(process.pid)


def _last_words(settings: Settings) -> str:
    log = settings.data_folder / LOG_NAME
    text = log.read_bytes()[-4000:].decode(errors="replace").strip() if log.exists() else ""
    return text.splitlines()[-1][:300] if text else "it left no message."


def _machine_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return float("inf")


def _cgroup_memory(file: Path) -> float:
    try:
        text = file.read_text().strip()
    except OSError:
        return float("inf")
    return float(text) if text.isdigit() else float("inf")


def _cgroup_quota(file: Path) -> int | None:
    try:
        quota, period = file.read_text().split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else max(1, int(quota) // int(period))
