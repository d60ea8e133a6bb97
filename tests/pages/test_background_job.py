"""A job in the background: its last value, its end, cancel, and errors."""

import subprocess
import sys
import threading
import time

from pages.parts.background import Job


def test_runs_to_the_end_and_keeps_the_last_value():
    job = Job(lambda: iter([1, 2, 3]))
    assert job.wait(5)
    assert (job.latest, job.error, job.running, job.cancelled) == (3, None, False, False)


def test_cancel_stops_after_the_step_in_hand_and_closes_the_iterator():
    go_on, tidied = threading.Event(), threading.Event()

    def steps():
        try:
            for i in range(1000):
                yield i
                go_on.wait(5)
        finally:
            tidied.set()

    job = Job(steps)
    while job.latest is None:
        pass
    assert job.running
    job.cancel()
    go_on.set()
    assert job.wait(5)
    assert tidied.is_set()
    assert job.cancelled
    assert job.latest < 3


def test_an_error_is_kept_and_ends_the_job():
    def steps():
        yield 1
        raise ValueError("no")

    job = Job(steps)
    assert job.wait(5)
    assert isinstance(job.error, ValueError)
    assert job.latest == 1


def test_the_clock_stops_at_the_end():
    job = Job(lambda: iter([1]))
    assert job.wait(5)
    at_the_end = job.seconds
    time.sleep(0.01)
    assert job.seconds == at_the_end


def test_python_ends_only_when_a_running_job_has_tidied_up():
    """Also a job that a daemon began, as all of Streamlit's threads are."""
    script = """
import threading
import time
from pages.parts.background import Job

def steps():
    try:
        for i in range(1000):
            yield i
            time.sleep(0.05)
    finally:
        time.sleep(0.2)
        print("tidied up", flush=True)

begin = threading.Thread(target=lambda: Job(steps), daemon=True)
begin.start()
begin.join()
job_that_is_over = Job(lambda: iter([1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("tidied up\n", "", 0)
