"""Which process is which, so that a recycled process id is never mistaken for a live worker.

In: a process id. Out: an identity (machine, id, start time) as text, and whether that very
process still lives. Knows nothing of runs.
"""

import json
import os
import socket
import subprocess
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """One process on one machine since its last start."""

    machine: str
    pid: int
    started: str

    def to_text(self) -> str:
        return json.dumps(asdict(self))


def identity_of(pid: int) -> Identity | None:
    """The identity of a living process; None when there is none with this id (or a zombie)."""
    started = _start_time(pid)
    return Identity(this_machine(), pid, started) if started else None


def own_identity() -> Identity:
    identity = identity_of(os.getpid())
    if identity is None:
        raise RuntimeError("The operating system does not tell this process its start time.")
    return identity


def from_text(text: str | None) -> Identity | None:
    return Identity(**json.loads(text)) if text else None


def is_alive(identity: Identity) -> bool | None:
    """Whether that very process lives; None when it belongs to another machine."""
    if identity.machine != this_machine():
        return None
    return _start_time(identity.pid) == identity.started


@lru_cache(maxsize=1)
def this_machine() -> str:
    """Host name, boot and process-id namespace: ids are comparable only when all three agree."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [socket.gethostname(), boot.read_text().strip() if boot.exists() else ""]
    try:
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:
        parts.append("")
    return " ".join(parts).strip()


def _start_time(pid: int) -> str | None:
    return _from_proc(pid) if Path("/proc/self/stat").exists() else _from_ps(pid)


def _from_proc(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name may hold spaces and brackets; the fields begin after the last one.
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields[19]


def _from_ps(pid: int) -> str | None:
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() or None if state and not state.startswith("Z") else None
