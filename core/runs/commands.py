"""What a run is asked to do: rows that pages write and its worker takes.

In: an open database and a run's number. Out: rows, and the commands not yet obeyed.
"""

import sqlite3
import time

from core.runs.database import writing

COMMANDS = ("pause", "resume", "stop", "save")


def ask(db: sqlite3.Connection, run_id: int, command: str) -> None:
    """Leave a command for the worker of this run. Raises ValueError for an unknown one."""
    if command not in COMMANDS:
        raise ValueError(f"{command!r} is not a command; choose {', '.join(COMMANDS)}.")
    db.execute(
        "INSERT INTO commands(run_id, command, at) VALUES (?, ?, ?)",
        (run_id, command, time.time()),
    )


def take_commands(db: sqlite3.Connection, run_id: int) -> list[str]:
    """Commands not yet obeyed, oldest first, now marked as obeyed."""
    if not waiting_commands(db, run_id):
        return []
    with writing(db):
        rows = waiting_commands(db, run_id)
        db.execute(
            "UPDATE commands SET obeyed = ? WHERE run_id = ? AND obeyed IS NULL",
            (time.time(), run_id),
        )
    return [command for command, _ in rows]


def waiting_commands(db: sqlite3.Connection, run_id: int) -> list[tuple[str, float]]:
    """Commands not yet obeyed, with the time each was given, oldest first."""
    rows = db.execute(
        "SELECT command, at FROM commands WHERE run_id = ? AND obeyed IS NULL ORDER BY id",
        (run_id,),
    ).fetchall()
    return [(row["command"], row["at"]) for row in rows]
