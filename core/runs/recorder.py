"""Writes a run's events from a thread of its own, so that training never waits for the disk.

In: events, one after another. Out: rows, in batches of one transaction each. A write that keeps
failing is counted and dropped; nothing here ever ends a run.
"""

import queue
import sqlite3
import threading
import time
from pathlib import Path

from core.runs import history
from core.runs.database import connect, writing
from core.training.events import Event

BATCH_SECONDS = 0.1
WAITS_BETWEEN_TRIES = (0.05, 0.2, 0.8, 2.0)
MOST_WAITING = 20_000


class Recorder:
    """`put` events while training, `close` at the end; `dropped` counts what was lost."""

    def __init__(self, path: Path, run_id: int):
        self.dropped = 0
        self._path, self._run_id = path, run_id
        self._waiting: queue.Queue[Event | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._write_all, name="recorder", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Hand over one event; returns at once."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self.dropped += 1

    def close(self, seconds: float = 10.0) -> None:
        """Write what still waits; give up after `seconds`."""
        self._waiting.put(None)
        self._thread.join(seconds)

    def _write_all(self) -> None:
        db: sqlite3.Connection | None = None
        is_open = True
        while is_open:
            batch = self._next_batch()
            is_open = batch[-1] is not None
            events = [event for event in batch if event is not None]
            db = self._write(db, events)
        if db is not None:
            db.close()

    def _next_batch(self) -> list[Event | None]:
        """Wait for one event, then take all that come within `BATCH_SECONDS`."""
        batch = [self._waiting.get()]
        until = time.monotonic() + BATCH_SECONDS
        while batch[-1] is not None:
            try:
                batch.append(self._waiting.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                break
        return batch

    def _write(
        self, db: sqlite3.Connection | None, events: list[Event]
    ) -> sqlite3.Connection | None:
        for wait in (*WAITS_BETWEEN_TRIES, None):
            try:
                db = db or connect(self._path)
                with writing(db):
                    for event in events:
                        history.record(db, self._run_id, event)
                return db
            except (sqlite3.Error, OSError):
                # A fresh connection next time: the file may have been moved or replaced.
                db = None
                if wait is not None:
                    time.sleep(wait)
        self.dropped += len(events)
        return None
