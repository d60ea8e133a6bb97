"""The table that scan-many goes on with: written by one run at a time, never over another's file.

In: a path. Out: the file, open and locked. Knows nothing of receptors or models.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from core.protein.genes import ReceptorError

try:
    import fcntl
except ImportError:  # Windows: two runs on one target are not told apart there
    fcntl = None  # type: ignore[assignment]

# What file systems without such locks answer: there the run goes on as without fcntl.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextmanager
def held(target: Path) -> Iterator[TextIO]:
    """`target` open for appending, and this run's alone until the end.

    The lock is the open file's own, so a killed run leaves none behind. Raises ReceptorError
    while another run holds it.
    """
    with target.open("a", newline="", encoding="utf-8") as file:
        if fcntl is not None and _keeps(file):
            _lock(file, target)
        yield file


def save(file: TextIO) -> None:
    """Put what was written on the disk, where there is one."""
    file.flush()
    if _keeps(file):
        os.fsync(file.fileno())


def _keeps(file: TextIO) -> bool:
    """False for a device: it has nothing that two runs could spoil, and nothing to save."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _lock(file: TextIO, target: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ReceptorError(
            f"Another run is writing {target} at this moment: wait until it has ended, or choose "
            "another name."
        ) from None
    except OSError as problem:
        if problem.errno not in _NO_LOCKS:
            raise


def check_header(target: Path, header: bytes) -> None:
    """Before anything is changed: somebody's own file must stay as it is."""
    with target.open("rb") as file:
        first = file.readline(10_000)
    if not header.startswith(first):
        raise ReceptorError(f"{target} is not an output of this command: choose another name.")


def drop_half_row(target: Path) -> None:
    """Cut off what a run that was killed left of a row."""
    with target.open("rb+") as file:
        end = 0
        for line in file:
            end += len(line) if line.endswith(b"\n") else 0
        file.truncate(end)
