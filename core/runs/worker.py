"""The process that trains: it waits for runs, takes one at a time, and writes what happens.

Started by `core.runs.pool` as `python -m core.runs.worker --server IDENTITY`. It loads torch
before it is asked for anything, waits asleep, and goes away when its server does: a run under
way is saved and marked as interrupted.
"""

import argparse
import os
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from core.runs import pool, store
from core.runs.control import Control, Utilisation, Wishes, memory_of_this_process
from core.runs.database import FILE_NAME, opened
from core.runs.one_run import OneRun
from core.runs.processes import Identity, from_text, own_identity
from core.runs.recorder import Recorder
from core.runs.run import Run
from core.runs.supervisor import CHECKPOINT, checkpoint_folder
from core.settings import Settings, read_settings
from core.training.captured_step import WARM_UP_STEPS
from core.training.engine import Training
from core.training.recipe import SPRINT, Recipe, Watch

LOOK_EVERY = 2.0
IDLE_AT_MOST = 900.0


class Bell:
    """Wakes a sleeping process on SIGUSR1 and notes SIGTERM. Use it in the main thread."""

    def __init__(self) -> None:
        self.leave = False
        self.on_leave: Callable[[], None] | None = None
        self._read, write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(write, False)
        # The number of every signal goes into the pipe, which is what `select` wakes on.
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.signal(signal.SIGTERM, self._leave)

    def wait(self, seconds: float) -> None:
        """Sleep until a signal comes, at most `seconds`."""
        select.select([self._read], [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._read, 4096)

    def _leave(self, *_: object) -> None:
        self.leave = True
        if self.on_leave:
            self.on_leave()


class Worker:
    """One process in service of one server."""

    def __init__(self, settings: Settings, server: Identity, bell: Bell):
        self._settings, self._server, self._bell = settings, server, bell
        self._identity = own_identity()
        self._path = settings.data_folder / FILE_NAME

    def serve(self) -> None:
        """Take runs from the queue until the server goes, or nobody wants anything for long."""
        with opened(self._path) as db:
            pool.announce_ready(db, self._identity)
            idle_since = time.monotonic()
            while not self._must_leave() and time.monotonic() - idle_since < IDLE_AT_MOST:
                run = self._claim(db)
                if run is None:
                    self._bell.wait(LOOK_EVERY)
                else:
                    self._train(run)
                    idle_since = time.monotonic()
            pool.sign_off(db, self._identity)

    def is_orphan(self) -> bool:
        """Whether the server that started this process has ended (its children are adopted)."""
        return os.getppid() != self._server.pid

    def _must_leave(self) -> bool:
        return self._bell.leave or self.is_orphan()

    def _claim(self, db: sqlite3.Connection) -> Run | None:
        try:
            return store.claim_next(db, self._identity, self._settings.max_running)
        except sqlite3.OperationalError:
            return None  # somebody else writes; the next look is soon

    def _train(self, run: Run) -> None:
        wishes = Wishes()
        self._bell.on_leave = wishes.go_away
        recorder = Recorder(self._path, run.id)
        file = checkpoint_folder(self._settings, run.id) / CHECKPOINT
        with Control(
            self._path,
            run.id,
            wishes,
            is_orphan=self.is_orphan,
            dropped=lambda: recorder.dropped,
            vitals=vitals_reader(),
        ):
            OneRun(self._path, run, self._identity, file, recorder, wishes).to_its_end()
        self._bell.on_leave = None


def vitals_reader() -> Callable[[], dict[str, Any]]:
    """A function that reads memory and utilisation of this process and of its GPU, if any."""
    import torch

    share = Utilisation()

    def read() -> dict[str, Any]:
        vitals: dict[str, Any] = {
            "memory_bytes": memory_of_this_process(),
            "utilisation": share.read(),
        }
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            free, total = torch.cuda.mem_get_info()
            vitals |= {"gpu_memory_bytes": total - free, "gpu_total_bytes": total}
            with suppress(Exception):  # needs a driver library that not every machine has
                vitals["gpu_utilisation"] = torch.cuda.utilization() / 100
        return vitals

    return read


def warm_up() -> None:
    """Take a tiny run's steps, a captured one too, so that a visitor's first finds all loaded."""
    tiny = Recipe.from_dict({**SPRINT.to_dict(), "steps": WARM_UP_STEPS + 1, "batch": 4})
    for _ in Training(tiny, watch=Watch(held_out=1, evaluate_every=0)).events():
        pass


def main(arguments: list[str] | None = None) -> int:
    """Serve until the server goes. Exit status 2 for a server that cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="identity of the server, as JSON")
    server = from_text(parser.parse_args(arguments).server)
    if server is None:
        parser.error("--server is empty")
    bell = Bell()
    warm_up()
    Worker(read_settings(), server, bell).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
