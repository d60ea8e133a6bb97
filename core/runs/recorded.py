"""The run that ships with the app, so that something true plays where nothing can be trained.

In: a file of event lines in `assets/`. Out: the same `View` and `Snapshot` values a live run gives.
"""

import gzip
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.runs.view import View, from_events
from core.settings import ASSETS
from core.training.events import Finished, Snapshot, Started, read_events

FILE = ASSETS / "recorded_paper_run.jsonl.gz"


@dataclass(frozen=True, eq=False)
class Recording:
    """A finished run read back: how it began, its curves, its maps, and how it ended."""

    started: Started
    view: View
    snapshots: tuple[Snapshot, ...]
    finished: Finished

    def snapshot_at(self, step: int) -> Snapshot | None:
        """The last snapshot taken at or before `step`."""
        earlier = [snapshot for snapshot in self.snapshots if snapshot.step <= step]
        return earlier[-1] if earlier else None


@lru_cache(maxsize=2)
def load(file: Path = FILE) -> Recording:
    """Read a recording, once. Raises OSError if there is no file, ValueError if it is not whole."""
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as lines:
        events = list(read_events(lines))
    if not events or not isinstance(events[0], Started) or not isinstance(events[-1], Finished):
        raise ValueError(f"{file.name} does not hold a whole run from its start to its finish.")
    return Recording(
        started=events[0],
        view=from_events(events),
        snapshots=tuple(event for event in events if isinstance(event, Snapshot)),
        finished=events[-1],
    )


def step_at(view: View, seconds: float, play_in: float) -> int:
    """The step that a replay of the whole run within `play_in` seconds shows after `seconds`."""
    if not len(view.steps):
        return 0
    share = min(1.0, max(0.0, seconds / play_in))
    return int(view.steps[round(share * (len(view.steps) - 1))])
