"""What a page may do with runs: start, steer, look. Every limit and permission is checked here.

In: settings, a visitor's key, recipes and run numbers. Out: rows in the store and signals to
workers. It runs inside the web server and therefore never loads torch.
"""

import hmac
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.runs import commands, pool, store, upkeep
from core.runs.database import FILE_NAME, opened
from core.runs.processes import own_identity
from core.runs.run import ACTIVE, CUT_SHORT, WAITING, Run
from core.settings import Settings
from core.training.recipe import Recipe, Watch, check_watched

CHECKPOINT = "last.pt"
NO_CHECKPOINT = "No checkpoint was saved before it ended; start a new run with the same settings."
MOST_STARTED_WAITING = 3


class NotAllowed(ValueError):
    """Someone who did not start a run tried to change it; the text says what to do."""


@dataclass(frozen=True)
class Supervisor:
    """The runs of one installation, as seen from one server process."""

    settings: Settings

    @property
    def path(self) -> Path:
        return self.settings.data_folder / FILE_NAME

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with opened(self.path) as db:
            yield db

    def start(
        self,
        recipe: Recipe,
        watch: Watch,
        key: str,
        name: str | None = None,
        *,
        once_within: float = 0.0,
    ) -> int:
        """Queue a run, wake a worker for it, and return its number; see `store.add`.

        Raises ValueError (a sentence) when this installation does not train, the watched string
        cannot be read, or too many runs wait already, of this visitor or in all.
        """
        if self.settings.max_running < 1:
            raise ValueError("This installation shows the recorded run only; it does not train.")
        check_watched(recipe, watch.string)
        owner = store.owner_hash(key)
        with opened(self.path) as db:
            mine = [run for run in store.in_states(db, WAITING) if run.owner == owner]
            if len(mine) >= MOST_STARTED_WAITING:
                raise ValueError(f"{len(mine)} of your runs already wait; let one begin first.")
            run_id = store.add(
                db,
                recipe,
                watch,
                owner=owner,
                server=own_identity(),
                name=name,
                once_within=once_within,
            )
            for old in upkeep.over_the_limit(db):
                self._remove(db, old)
            self._hand_out(db)
        return run_id

    def command(self, run_id: int, command: str, key: str) -> None:
        """Pause, resume, stop or save. Raises NotAllowed, or ValueError where it makes no sense."""
        with opened(self.path) as db:
            run = self._mine(db, run_id, key)
            if command == "stop" and store.move(db, run_id, "stopped", come_from=WAITING):
                return
            if run.state not in ACTIVE:
                raise ValueError(f"This run is {run.state}; there is nothing to {command}.")
            commands.ask(db, run_id, command)

    def go_on(self, run_id: int, key: str) -> None:
        """Queue an interrupted or stopped run again; it goes on from its last checkpoint.

        Raises ValueError when it began and has none: it would write over what was recorded.
        """
        with opened(self.path) as db:
            run = self._mine(db, run_id, key)
            if self.lacks_checkpoint(run):
                raise ValueError(NO_CHECKPOINT)
            if not store.queue_again(db, run_id, own_identity()):
                raise ValueError(f"This run is {run.state}; only a stopped one can go on.")
            self._hand_out(db)

    def lacks_checkpoint(self, run: Run) -> bool:
        """Whether the run began and was cut short with nothing saved that it could go on from."""
        file = checkpoint_folder(self.settings, run.id) / CHECKPOINT
        return run.state in CUT_SHORT and run.started is not None and not file.exists()

    def rename(self, run_id: int, name: str, key: str) -> None:
        with opened(self.path) as db:
            self._mine(db, run_id, key)
            store.rename(db, run_id, name)

    def delete(self, run_id: int, key: str) -> None:
        """Remove a run, its rows and its checkpoints. Raises ValueError while it is active."""
        with opened(self.path) as db:
            self._mine(db, run_id, key)
            if not self._remove(db, run_id):
                raise ValueError("This run is still active: stop it first.")

    def may_change(self, run: Run, key: str) -> bool:
        """Whether `key` is the starter's or the installation's owner key."""
        owner_key = self.settings.owner_key
        is_owner = owner_key is not None and hmac.compare_digest(key.encode(), owner_key.encode())
        return is_owner or hmac.compare_digest(store.owner_hash(key), run.owner)

    def look(self, *, keep_warm: bool = True) -> None:
        """Make every state true: mark what died, enforce stops, and see that a worker is there."""
        with opened(self.path) as db:
            upkeep.fail_unreadable(db)
            for run in store.in_states(db, WAITING + ACTIVE):
                upkeep.mark_truthfully(db, run)
            if keep_warm:
                self._hand_out(db)

    def trouble(self) -> str | None:
        """Why no run can start here at present, in words."""
        with opened(self.path) as db:
            return pool.startup_failure(db, self.settings, own_identity())

    def is_warm(self) -> bool:
        with opened(self.path) as db:
            return pool.is_warm(db, own_identity())

    def _remove(self, db: sqlite3.Connection, run_id: int) -> bool:
        removed = store.delete(db, run_id)
        if removed:
            shutil.rmtree(checkpoint_folder(self.settings, run_id), ignore_errors=True)
        return removed

    def _hand_out(self, db: sqlite3.Connection) -> None:
        is_waited_for = bool(store.in_states(db, WAITING))
        if is_waited_for or pool.has_room_for_an_idle_worker():
            pool.ensure_workers(db, self.settings, own_identity())
        if is_waited_for:
            pool.wake(db, own_identity())

    def _mine(self, db: sqlite3.Connection, run_id: int, key: str) -> Run:
        run = store.get(db, run_id)
        if run is None:
            raise ValueError(f"There is no run {run_id}; it may have been deleted.")
        if not self.may_change(run, key):
            raise NotAllowed(
                "Only whoever started this run may change it: start your own, or enter the key "
                "of its starter or of this installation."
            )
        return run


def checkpoint_folder(settings: Settings, run_id: int) -> Path:
    """Where a run's checkpoints lie; made from the number alone, never from a visitor's text."""
    return settings.data_folder / "checkpoints" / str(int(run_id))
