"""Strings reversed with a run's saved weights, by a process of its own.

In: a checkpoint and a string. Out: what those weights make of it, and the step they are of. The
side that asks never loads torch and runs in the web server; the other is `core.runs.answering`.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from core.settings import REPOSITORY
from core.training.events import Sampled


class Asking:
    """Hands one question after another to the answering process, which is started when needed."""

    def __init__(self) -> None:
        self._queue = ThreadPoolExecutor(1, thread_name_prefix="asking")
        self._process: subprocess.Popen[str] | None = None

    def ask(self, file: Path, string: str) -> Future[Sampled]:
        """The answer to come. Its `result` raises ValueError (a sentence) where there is none."""
        return self._queue.submit(self._answer, file, string)

    def close(self) -> None:
        """Let the answering process go."""
        self._queue.shutdown()
        if self._process:
            self._process.communicate()

    def _answer(self, file: Path, string: str) -> Sampled:
        line = json.dumps({"file": str(file), "string": string}) + "\n"
        reply = self._exchange(line) or self._exchange(line)  # it may have left just now
        if not reply:
            raise ValueError("The process that reads weights ended without a word.")
        answer = json.loads(reply)
        if "error" in answer:
            raise ValueError(answer["error"])
        return Sampled(**answer)

    def _exchange(self, line: str) -> str:
        """The reply, or nothing when the process ended instead."""
        if self._process is None or self._process.poll() is not None:
            self._process = _start()
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("The answering process was started without pipes.")
        reply = ""
        with suppress(BrokenPipeError):
            process.stdin.write(line)
            process.stdin.flush()
            reply = process.stdout.readline()
        if not reply:
            process.kill()  # it is on its way out already, and the next one starts afresh
            process.wait()
        return reply


@lru_cache(maxsize=1)
def asking() -> Asking:
    """The one line of questions of this server."""
    return Asking()


def _start() -> subprocess.Popen[str]:
    # One thread, and its pipe ends with this process: then it leaves too.
    return subprocess.Popen(
        [sys.executable, "-m", "core.runs.answering"],
        cwd=REPOSITORY,
        env={**os.environ, "OMP_NUM_THREADS": "1", "ONE_RECEPTOR_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
