"""Scans in the background: from the cache, or a button, then a progress bar with Cancel."""

from collections.abc import Iterator, Sequence

import numpy as np
import streamlit as st

from core.protein.chain import Chain
from pages.parts.background import Job
from pages.parts.esm_weights import model_or_download

Pair = tuple[str, Chain]
_TABLES, _JOBS = "_e_tables", "_e_jobs"
_KEEP = 12


def tables(pairs: Sequence[Pair], *, key: str, label: str) -> list[np.ndarray] | None:
    """The (L, 20) table of each (model name, chain), or None while they are not there yet.

    Draws whatever is needed to get them: the download of missing weights, the button that
    starts the scan, its progress with time left, and Cancel.
    """
    _collect()
    wanted = [pair for pair in pairs if _known(pair) is None]
    if not wanted:
        _forget(key)
        return [_known(pair) for pair in pairs]
    models = {name: model_or_download(name, key=key) for name in {name for name, _ in wanted}}
    if None in models.values():
        return None
    ticket, jobs = tuple(map(_ticket, wanted)), _jobs()
    job = jobs.get(key)
    if job is not None and job[0] != ticket:
        _forget(key)
        job = None
    if job is not None and job[1].running:
        st.fragment(_watch, run_every=0.3)(key)
        return None
    if job is not None:
        _explain_end(job[1])
    if st.button(label, key=f"e_start_{key}", type="primary", icon=":material/play_arrow:"):
        started = Job(lambda: _steps(wanted, models))
        jobs[key] = (ticket, started)
        started.wait(0.2)
        st.rerun()
    return None


def _steps(wanted: list[Pair], models: dict) -> Iterator[tuple[int, int, list]]:
    """(residues done, residues in all, finished tables so far)."""
    from core.protein.scan import scan_steps

    total, before = sum(len(chain) for _, chain in wanted), 0
    finished: list[tuple[tuple, np.ndarray]] = []
    for pair in wanted:
        name, chain = pair
        step = None
        for step in scan_steps(models[name], chain):
            yield before + step.done, total, list(finished)
        if step is not None:
            finished.append((_ticket(pair), step.probabilities))
            before += step.done
    yield total, total, finished


def _watch(key: str) -> None:
    _, job = _jobs()[key]
    if not job.running:
        st.rerun()
    done, total, _ = job.latest or (0, 1, [])
    left = f", about {job.seconds * (total - done) / done:.0f} s left" if done else ""
    st.progress(done / total, text=f"{done} of {total} residues{left}")
    st.button("Cancel", key=f"e_cancel_{key}", icon=":material/stop:", on_click=job.cancel)


def _store(job: Job) -> None:
    known = st.session_state.setdefault(_TABLES, {})
    for ticket, table in (job.latest or (0, 0, []))[2]:
        known[ticket] = table
    while len(known) > _KEEP:
        del known[next(iter(known))]


def _explain_end(job: Job) -> None:
    if job.error is not None:
        st.error(f"The scan ended early: {job.error}", icon=":material/error:")
    elif job.cancelled and job.latest:
        st.caption(f"Stopped after {job.latest[0]} of {job.latest[1]} residues.")


def _jobs() -> dict:
    return st.session_state.setdefault(_JOBS, {})


def _collect() -> None:
    """Keep the tables of every job that has ended."""
    for _, job in _jobs().values():
        if not job.running:
            _store(job)


def _known(pair: Pair) -> np.ndarray | None:
    return st.session_state.get(_TABLES, {}).get(_ticket(pair))


def _ticket(pair: Pair) -> tuple[str, str]:
    return pair[0], pair[1].sequence


def _forget(key: str) -> None:
    ticket_and_job = _jobs().pop(key, None)
    if ticket_and_job is not None:
        ticket_and_job[1].cancel()
