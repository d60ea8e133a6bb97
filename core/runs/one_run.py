"""One run from its first step to its end, obeying wishes between two events.

In: a claimed run and the wishes that `Control` collects. Out: rows, checkpoints, and in the end a
state with the error in words. Knows nothing of queues or of the process around it.
"""

import sqlite3
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from core.runs import history, store
from core.runs.control import Wishes
from core.runs.database import opened
from core.runs.processes import Identity
from core.runs.recorder import Recorder
from core.runs.run import ACTIVE, Run
from core.training.engine import Training
from core.training.events import Event, Failed, Finished, NotSaved, Saved, StepDone

LAST_WORDS_TRIES = 6


class _CutShort(Exception):
    """The run was told to end before it was done."""


class OneRun:
    """Training of `run` by `worker`; checkpoints go to `file`, and it begins from there."""

    def __init__(
        self, path: Path, run: Run, worker: Identity, file: Path, recorder: Recorder, wishes: Wishes
    ):
        self._path, self._run, self._worker, self._file = path, run, worker, file
        self._recorder, self._wishes = recorder, wishes

    def to_its_end(self) -> None:
        """Train, and write how it ended; nothing that goes wrong leaves this function."""
        try:
            state, error = self._train()
        except Exception as problem:
            traceback.print_exc()
            state, error = "failed", f"{type(problem).__name__}: {problem}"
        self._recorder.close()
        self._write_end(state, error)

    def _train(self) -> tuple[str, str | None]:
        resume = self._file if self._file.exists() else None
        if resume is None and self._has_rows():
            # From step 1 it would write over what was recorded.
            return "interrupted", "Its checkpoint is gone; what was recorded is kept."
        run = self._run
        return self.follow(Training(run.recipe, watch=run.watch, resume=resume, save_to=self._file))

    def _has_rows(self) -> bool:
        with opened(self._path) as db:
            return history.last_step(db, self._run.id) > 0

    def follow(self, training: Training) -> tuple[str, str | None]:
        """Train until its end, or until it is told to end; state and error at the end."""
        events = training.events()
        training.breathe = lambda: self._obey(training)
        try:
            return self._record_all(training, events)
        except _CutShort:
            saved = self._leave(training, events)
        if self._wishes.stop:
            return "stopped", None
        if isinstance(saved, NotSaved):
            return "interrupted", f"The server went away. {saved.sentence}"
        return "interrupted", "The server went away; the run was saved and can go on."

    def _record_all(self, training: Training, events: Iterator[Event]) -> tuple[str, str | None]:
        """Hand every event to the recorder and obey between two, and wherever `events` breathes."""
        is_running = False
        while True:
            event = next(events)
            self._recorder.put(event)
            if isinstance(event, StepDone) and not is_running:
                self._say("running")
                is_running = True
            if isinstance(event, Finished):
                return "finished", None
            if isinstance(event, Failed):
                return "failed", event.sentence
            self._obey(training)

    def _obey(self, training: Training) -> None:
        """Stand still while a pause is wished for. Raises _CutShort when the run shall end."""
        wishes = self._wishes
        if wishes.pause and not wishes.ends:
            self._say("paused")
            while wishes.pause and not wishes.ends:
                self._save_if_asked(training)
                wishes.changed.wait(1.0)
                wishes.changed.clear()
            if not wishes.ends:
                self._say("running")
        self._save_if_asked(training)
        if wishes.ends:
            raise _CutShort

    def _save_if_asked(self, training: Training) -> None:
        if self._wishes.save:
            self._wishes.save = False
            self._recorder.put(training.save(self._file))

    def _leave(self, training: Training, events: Iterator[Event]) -> Saved | NotSaved:
        """Save, then read on to the saved step: a GPU is some steps ahead of its events."""
        saved = training.save(self._file)
        while training.step < saved.step:
            self._recorder.put(next(events))
        self._recorder.put(saved)
        return saved

    def _say(self, state: str) -> None:
        with suppress(sqlite3.OperationalError), opened(self._path) as db:
            store.move(db, self._run.id, state, come_from=ACTIVE, worker=self._worker)

    def _write_end(self, state: str, error: str | None) -> None:
        """Keep trying for a while: this row must not be lost."""
        for _ in range(LAST_WORDS_TRIES):
            with suppress(sqlite3.Error), opened(self._path) as db:
                store.beat(db, self._run.id, self._recorder.dropped, None)
                store.move(
                    db, self._run.id, state, come_from=ACTIVE, worker=self._worker, error=error
                )
                return
            time.sleep(0.5)
