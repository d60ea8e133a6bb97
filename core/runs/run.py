"""A run as a value: what was asked for, by whom, and how it stands.

In: a row of the table `runs`. Out: a frozen `Run`. Knows nothing of how rows are found or changed.
"""

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.runs.processes import Identity, from_text
from core.training.recipe import Recipe, Watch

WAITING = ("queued",)
ACTIVE = ("starting", "running", "paused")
CUT_SHORT = ("stopped", "interrupted")
ENDED = ("finished", "stopped", "failed", "interrupted")


@dataclass(frozen=True)
class Run:
    """One row: what was asked for, what it runs on, and its state when it was read.

    `about` is what the engine said of itself at the start (device, versions, smoothing floor),
    `vitals` the worker's last reading (memory, utilisation); times are seconds since 1970.
    """

    id: int
    name: str
    recipe: Recipe
    watch: Watch
    owner: str
    state: str
    error: str | None
    about: dict[str, Any]
    vitals: dict[str, Any]
    server: Identity | None
    worker: Identity | None
    created: float
    started: float | None
    ended: float | None
    heartbeat: float | None
    attempt: int
    rewinds: int
    dropped: int

    @property
    def is_over(self) -> bool:
        return self.state in ENDED


def readable(rows: list[sqlite3.Row]) -> list[Run]:
    """Runs whose recipe this version still understands; older ones are passed over."""
    runs = []
    for row in rows:
        with suppress(ValueError, TypeError):
            runs.append(_run(row))
    return runs


def _run(row: sqlite3.Row) -> Run:
    return Run(
        id=row["id"],
        name=row["name"],
        recipe=Recipe.from_json(row["recipe"]),
        watch=Watch.from_json(row["watch"]),
        owner=row["owner"],
        state=row["state"],
        error=row["error"],
        about=json.loads(row["about"] or "{}"),
        vitals=json.loads(row["vitals"] or "{}"),
        server=from_text(row["server"]),
        worker=from_text(row["worker"]),
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        heartbeat=row["heartbeat"],
        attempt=row["attempt"],
        rewinds=row["rewinds"],
        dropped=row["dropped"],
    )
