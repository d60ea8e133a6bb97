"""Where a download that is not complete lies, and taking over what a killed process left.

In: the path of the complete file. Out: a path beside it that no living process uses. Knows
nothing of servers.
"""

import os
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from core.protein.cards import WeightsError

_serial = count()


def part_file(destination: Path) -> Path:
    """A name of this process's own; the most that a killed process left is taken over there.

    Raises WeightsError when the folder cannot be made.
    """
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WeightsError(
            f"The folder {destination.parent} cannot be made ({problem.strerror}): choose another "
            "with ONE_RECEPTOR_MODELS."
        ) from problem
    mine = destination.parent / f"{destination.name}.{os.getpid()}-{next(_serial)}.part"
    with suppress(FileNotFoundError):  # another process was here first
        for old in sorted(_left_behind(destination), key=lambda path: path.stat().st_size):
            old.replace(mine)
    return mine


def _left_behind(destination: Path) -> list[Path]:
    parts = destination.parent.glob(f"{destination.name}.*.part")
    owners = {part: part.name.split(".")[-2].partition("-")[0] for part in parts}
    return [p for p, owner in owners.items() if owner.isdigit() and not _alive(int(owner))]


def _alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # os.kill would send Ctrl-C there, or end the process, where it only asks here
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
