"""An iterator that runs on its own thread while a page polls it, with cancel.

The thread makes no Streamlit call. A page keeps the job in session_state, shows `latest`, and
asks again from a fragment with `run_every`. A server that is stopped waits for the step in hand:
a thread that is in PyTorch, or importing it, when Python ends would abort the process.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


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
        # Said, because it would be inherited: Streamlit's threads are daemons, which Python's end
        # does not wait for.
        self._thread = threading.Thread(target=self._run, args=(steps,), daemon=False)
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
                # Python waits for this thread, and its main one has ended by then.
                if self._stop.is_set() or not threading.main_thread().is_alive():
                    break
        except Exception as problem:
            self.error = problem
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()
            self.ended = time.perf_counter()
