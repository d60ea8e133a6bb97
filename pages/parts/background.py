"""An iterator that runs on its own thread while a page polls it, with cancel.

The thread makes no Streamlit call. A page keeps the job in session_state, shows `latest`, and
asks again from a fragment with `run_every`. When Python ends, every job is cancelled and waited
for a while: a thread that is inside PyTorch then, or importing it, would abort the process.
"""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")
_LEAVING_S = 20  # PyTorch is imported in two seconds, or ten on a busy machine
_begun: "WeakSet[Job[Any]]" = WeakSet()


class Job(Generic[T]):
    """Runs `steps()` to its end, or until `cancel`; closing the iterator lets it tidy up.

    `latest` is the last value it gave, `error` what it raised, `seconds` how long it has run.
    """

    def __init__(self, steps: Callable[[], Iterator[T]]):
        self.latest: T | None = None
        self.error: Exception | None = None
        self.started = time.perf_counter()
        self.ended: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(steps,), daemon=True)
        _begun.add(self)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self.ended is None

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    @property
    def seconds(self) -> float:
        return (self.ended or time.perf_counter()) - self.started

    def cancel(self) -> None:
        """Ask for the end; it comes after the step in hand."""
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, up to `timeout` seconds; True when it has come."""
        self._thread.join(timeout)
        return not self.running

    def _run(self, steps: Callable[[], Iterator[T]]) -> None:
        iterator = steps()
        try:
            for value in iterator:
                self.latest = value
                if self._stop.is_set():
                    break
        except Exception as problem:
            self.error = problem
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()
            self.ended = time.perf_counter()


@atexit.register
def leave_quietly() -> None:
    """Cancel every job that still runs and wait for their ends, some seconds in all."""
    running, until = [job for job in list(_begun) if job.running], time.monotonic() + _LEAVING_S
    for job in running:
        job.cancel()
    for job in running:
        job.wait(max(0.0, until - time.monotonic()))
