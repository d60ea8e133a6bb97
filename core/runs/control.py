"""The worker's ear: commands, signs of life, and whether the server is still there.

In: a run and the database. Out: a wish that the training loop reads between two steps. It works
in a thread of its own and only ever sets flags, so it cannot disturb training.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.runs import commands, store
from core.runs.database import connect

LISTEN_EVERY = 0.1
BEAT_EVERY = 1.0


@dataclass
class Wishes:
    """What the loop should do before its next step."""

    pause: bool = False
    save: bool = False
    stop: bool = False
    leave: bool = False
    changed: threading.Event = field(default_factory=threading.Event)

    def take(self, command: str) -> None:
        """Note one command of `commands.COMMANDS`."""
        if command in ("pause", "resume"):
            self.pause = command == "pause"
        elif command == "save":
            self.save = True
        elif command == "stop":
            self.stop = True
        self.changed.set()

    def go_away(self) -> None:
        """Save and leave: the server, or this process, is about to end."""
        self.leave = True
        self.changed.set()

    @property
    def ends(self) -> bool:
        return self.stop or self.leave


class Control:
    """Listens while a `with` block trains. `is_orphan` tells whether the server has gone."""

    def __init__(
        self,
        path: Path,
        run_id: int,
        wishes: Wishes,
        *,
        is_orphan: Callable[[], bool],
        dropped: Callable[[], int],
        vitals: Callable[[], dict[str, Any]],
    ):
        self._path, self._run_id, self._wishes = path, run_id, wishes
        self._is_orphan, self._dropped, self._vitals = is_orphan, dropped, vitals
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="control", daemon=True)

    def __enter__(self) -> "Control":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(5)

    def _listen(self) -> None:
        db: sqlite3.Connection | None = None
        beaten = 0.0
        while not self._done.wait(LISTEN_EVERY):
            if self._is_orphan():
                self._wishes.go_away()
            try:
                db = db or connect(self._path)
                for command in commands.take_commands(db, self._run_id):
                    self._wishes.take(command)
                if time.monotonic() - beaten > BEAT_EVERY:
                    store.beat(db, self._run_id, self._dropped(), self._vitals())
                    beaten = time.monotonic()
            except (sqlite3.Error, OSError):
                db = None  # heard again at the next turn, with a fresh connection
        if db is not None:
            db.close()


def memory_of_this_process() -> int | None:
    """Bytes of physical memory in use; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class Utilisation:
    """Share of one processor that this process used between two readings."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.monotonic()

    def read(self) -> float:
        cpu, wall = time.process_time(), time.monotonic()
        share = (cpu - self._cpu) / max(wall - self._wall, 1e-6)
        self._cpu, self._wall = cpu, wall
        return share
