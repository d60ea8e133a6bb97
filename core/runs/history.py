"""What a run has recorded so far, and how one event becomes rows.

In: an open database; events of `core.training.events`. Out: the same events read back, only those
after a step the reader already has. Knows nothing of states, commands or processes.
"""

import json
import math
import sqlite3
import time

import numpy as np

from core.training.events import (
    Evaluated,
    Event,
    Sampled,
    Snapshot,
    Started,
    StepDone,
    to_json_line,
)


def record(db: sqlite3.Connection, run_id: int, event: Event) -> None:
    """Write one event; the same step again replaces what was there (after a resume)."""
    match event:
        case StepDone():
            _record_step(db, run_id, event)
        case Evaluated(step, exact, of, letters_right):
            db.execute(
                "INSERT OR REPLACE INTO exactness VALUES (?, ?, ?, ?, ?)",
                (run_id, step, exact, of, letters_right),
            )
        case Sampled(step, source, decoded, expected):
            db.execute(
                "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)",
                (run_id, step, source, decoded, expected),
            )
        case Snapshot():
            _record_snapshot(db, run_id, event)
        case Started():
            _record_start(db, run_id, event)
        case _:
            _record_line(db, run_id, event)


def forget_after(db: sqlite3.Connection, run_id: int, step: int) -> None:
    """Remove what was recorded after `step`, because training goes on from there again."""
    for table in ("metrics", "exactness", "samples", "snapshots"):
        db.execute(f"DELETE FROM {table} WHERE run_id = ? AND step > ?", (run_id, step))
    # A reader that holds some of those rows sees the count change and reads all anew.
    db.execute("UPDATE runs SET rewinds = rewinds + 1 WHERE id = ?", (run_id,))


def steps_after(db: sqlite3.Connection, run_id: int, step: int) -> list[StepDone]:
    rows = db.execute(
        "SELECT step, loss, learning_rate, gradient_norm, seconds FROM metrics"
        " WHERE run_id = ? AND step > ? ORDER BY step",
        (run_id, step),
    ).fetchall()
    return [StepDone(s, _number(loss), lr, _number(norm), at) for s, loss, lr, norm, at in rows]


def evaluations_after(db: sqlite3.Connection, run_id: int, step: int) -> list[Evaluated]:
    rows = db.execute(
        "SELECT step, exact, of, letters_right FROM exactness"
        " WHERE run_id = ? AND step > ? ORDER BY step",
        (run_id, step),
    ).fetchall()
    return [Evaluated(*row) for row in rows]


def samples_after(db: sqlite3.Connection, run_id: int, step: int) -> list[Sampled]:
    rows = db.execute(
        "SELECT step, source, decoded, expected FROM samples"
        " WHERE run_id = ? AND step > ? ORDER BY step",
        (run_id, step),
    ).fetchall()
    return [Sampled(*row) for row in rows]


def snapshots_after(
    db: sqlite3.Connection, run_id: int, step: int
) -> list[tuple[int, tuple[float, ...]]]:
    """Step and anti-diagonal average of each layer, maps left out."""
    rows = db.execute(
        "SELECT step, antidiagonal FROM snapshots WHERE run_id = ? AND step > ? ORDER BY step",
        (run_id, step),
    ).fetchall()
    return [(step, tuple(json.loads(values))) for step, values in rows]


def snapshot_at(db: sqlite3.Connection, run_id: int, step: int) -> Snapshot | None:
    """The last snapshot taken at or before `step`."""
    row = db.execute(
        "SELECT * FROM snapshots WHERE run_id = ? AND step <= ? ORDER BY step DESC LIMIT 1",
        (run_id, step),
    ).fetchone()
    if row is None:
        return None
    weights = np.frombuffer(row["weights"], dtype="<f2").reshape(json.loads(row["shape"]))
    return Snapshot(
        step=row["step"],
        rows=tuple(json.loads(row["read"])),
        columns=tuple(json.loads(row["source"])),
        weights=weights.astype(np.float16),
        antidiagonal=tuple(json.loads(row["antidiagonal"])),
    )


def lines(db: sqlite3.Connection, run_id: int) -> list[tuple[float, str]]:
    """The events that are not curves (started, saved, failed, finished), with their times."""
    rows = db.execute(
        "SELECT at, line FROM events WHERE run_id = ? ORDER BY id", (run_id,)
    ).fetchall()
    return [(at, line) for at, line in rows]


def not_saved(db: sqlite3.Connection, run_id: int) -> str | None:
    """Why the newest checkpoint could not be written; None when it could, or none was due."""
    row = db.execute(
        "SELECT line FROM events WHERE run_id = ?"
        " AND json_extract(line, '$.event') IN ('saved', 'not_saved') ORDER BY id DESC LIMIT 1",
        (run_id,),
    ).fetchone()
    return json.loads(row["line"]).get("sentence") if row else None


def last_step(db: sqlite3.Connection, run_id: int) -> int:
    row = db.execute("SELECT max(step) FROM metrics WHERE run_id = ?", (run_id,)).fetchone()
    return row[0] or 0


def _record_step(db: sqlite3.Connection, run_id: int, event: StepDone) -> None:
    # SQLite has no NaN: it would store NULL where a number must be, so say so by hand.
    db.execute(
        "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?, ?)",
        (
            run_id,
            event.step,
            event.loss if math.isfinite(event.loss) else None,
            event.learning_rate,
            event.gradient_norm if math.isfinite(event.gradient_norm) else None,
            event.seconds,
        ),
    )


def _record_snapshot(db: sqlite3.Connection, run_id: int, event: Snapshot) -> None:
    db.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            run_id,
            event.step,
            json.dumps(event.rows),
            json.dumps(event.columns),
            json.dumps(event.weights.shape),
            event.weights.astype("<f2").tobytes(),
            json.dumps(event.antidiagonal),
        ),
    )


def _record_start(db: sqlite3.Connection, run_id: int, event: Started) -> None:
    if last_step(db, run_id) > event.resumed_from:
        forget_after(db, run_id, event.resumed_from)
    about = {
        "device": event.device,
        "device_name": event.device_name,
        "threads": event.threads,
        "processes": event.processes,
        "parameters": event.parameters,
        "smoothing_floor": event.smoothing_floor,
        "resumed_from": event.resumed_from,
    }
    db.execute(
        "UPDATE runs SET device = ?, versions = ?, about = ? WHERE id = ?",
        (
            event.device,
            json.dumps(event.versions),
            json.dumps({**about, "versions": event.versions}),
            run_id,
        ),
    )
    _record_line(db, run_id, event)


def _record_line(db: sqlite3.Connection, run_id: int, event: Event) -> None:
    db.execute(
        "INSERT INTO events(run_id, at, line) VALUES (?, ?, ?)",
        (run_id, time.time(), to_json_line(event)),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
