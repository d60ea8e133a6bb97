"""Finished scans kept on disk, under a name made of the model's weights and the chain's letters.

In: a folder, a model, a chain. Out: the scan, from disk when it is there. Two processes may use
one folder at once: files appear whole or not at all. A damaged file counts as absent.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.protein.chain import Chain
from core.protein.model import LanguageModel
from core.protein.scan import BATCH, Progress, scan_steps

MAX_FILES = 2000
# To be raised when a change of the code changes the numbers of a scan.
_VERSION = 1


@dataclass(frozen=True)
class ScanCache:
    """Scans in `folder`, at most `max_files` of them; the oldest go first."""

    folder: Path
    max_files: int = MAX_FILES

    def path(self, model: LanguageModel, chain: Chain) -> Path:
        """Where this scan is kept; only letters and weights count, not names or regions."""
        key = f"{_VERSION} {model.fingerprint} {chain.sequence}"
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"

    def read(self, model: LanguageModel, chain: Chain) -> Progress | None:
        """The finished scan, or None."""
        try:
            with np.load(self.path(model, chain), allow_pickle=False) as file:
                table, outside = file["probabilities"], file["outside"]
        except (OSError, ValueError, KeyError, EOFError):
            return None
        except Exception as problem:  # zipfile and zlib have errors of their own
            if type(problem).__module__ in {"zipfile", "zlib"}:
                return None
            raise
        if table.shape != (len(chain), 20) or outside.shape != (len(chain),):
            return None
        return Progress(len(chain), len(chain), table, outside)

    def write(self, model: LanguageModel, chain: Chain, scan: Progress) -> None:
        """Keep a finished scan. A full disk or a folder that cannot be written is no error."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(suffix=".part", dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    np.savez(file, probabilities=scan.probabilities, outside=scan.outside)
                os.replace(name, self.path(model, chain))
            except OSError:
                os.unlink(name)
                raise
            self._prune()

    def _prune(self) -> None:
        files = sorted(self.folder.glob("*.npz"), key=_age)
        for old in files[: max(0, len(files) - self.max_files)]:
            old.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def cached_scan_steps(
    cache: ScanCache, model: LanguageModel, chain: Chain, *, batch: int = BATCH
) -> Iterator[Progress]:
    """Like `scan_steps`, in one step when the scan is on disk; a finished scan is kept."""
    known = cache.read(model, chain)
    if known is not None:
        yield known
        return
    step = None
    for step in scan_steps(model, chain, batch=batch):
        yield step
    if step is not None:
        cache.write(model, chain, step)
