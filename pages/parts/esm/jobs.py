"""Scans in the background: from the cache, or a button, then a progress bar with Cancel."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.protein.chain import Chain
from core.settings import read_settings
from pages.parts.background import Job
from pages.parts.links import plain

if TYPE_CHECKING:
    from core.protein.model import LanguageModel

Pair = tuple["LanguageModel", Chain]
_TABLES, _JOBS, _KEEP = "_e_tables", "_e_jobs", 24


def tables(pairs: Sequence[Pair], *, key: str, label: str) -> list[np.ndarray] | None:
    """The (L, 20) table of each (model, chain), or None while they are not there yet.

    Draws whatever is needed to get them: the button that starts the scan, its progress with
    the time left, and Cancel. Scans are kept on disk for every visitor.
    """
    _collect()
    known = [_known(pair) for pair in pairs]
    missing = [pair for pair, table in zip(pairs, known, strict=True) if table is None]
    if not missing:
        _forget(key)
        return known
    ticket, job = tuple(map(_ticket, missing)), _job(key, tuple(map(_ticket, missing)))
    if job is not None and job.running:
        st.fragment(_watch, run_every=0.3)(key)
        return None
    if job is not None:
        _explain_end(job)
    if st.button(label, key=f"e_start_{key}", icon=":material/play_arrow:"):
        started = Job(lambda: _steps(missing))
        _jobs()[key] = (ticket, started)
        # A small model is done before a progress bar could be read.
        started.wait(0.5)
        st.rerun()
    return None


def _steps(pairs: list[Pair]) -> Iterator[tuple[int, int, list]]:
    """(residues done, residues in all, finished tables so far)."""
    from core.protein.cache import cached_scan_steps

    total, before = sum(len(chain) for _, chain in pairs), 0
    finished: list[tuple[tuple[str, str], np.ndarray]] = []
    for model, chain in pairs:
        step = None
        for step in cached_scan_steps(_cache(), model, chain):
            yield before + step.done, total, list(finished)
        if step is not None:
            finished.append((_ticket((model, chain)), step.probabilities))
            before += step.done
    yield total, total, finished


def _cache():
    from core.protein.cache import ScanCache

    return ScanCache(read_settings().data_folder / "scans")


def _watch(key: str) -> None:
    _, job = _jobs()[key]
    if not job.running:
        st.rerun()
    if job.latest is None:
        st.progress(0.0, text="Starting …")
    else:
        done, total, _ = job.latest
        left = job.seconds * (total - done) / done
        st.progress(done / total, text=f"{done} of {total} residues, about {left:.0f} s left")
    st.button("Cancel", key=f"e_cancel_{key}", icon=":material/stop:", on_click=job.cancel)


def _explain_end(job: Job) -> None:
    if job.error is not None:
        st.error(plain(f"The scan ended early: {job.error}"), icon=":material/error:")
    elif job.cancelled and job.latest:
        st.caption(f"Stopped after {job.latest[0]} of {job.latest[1]} residues.")


def _jobs() -> dict:
    return st.session_state.setdefault(_JOBS, {})


def _job(key: str, ticket: tuple) -> Job | None:
    """The job under `key` if it works on this ticket; one that works on another is stopped."""
    old_ticket, job = _jobs().get(key, (None, None))
    if job is not None and old_ticket != ticket:
        _forget(key)
        return None
    return job


def _forget(key: str) -> None:
    _, job = _jobs().pop(key, (None, None))
    if job is not None:
        job.cancel()


def _collect() -> None:
    """Keep the tables of every job that has ended."""
    for _, job in _jobs().values():
        if not job.running and job.latest is not None:
            for ticket, table in job.latest[2]:
                _keep(ticket, table)


def _keep(ticket: tuple[str, str], table: np.ndarray) -> None:
    kept = st.session_state.setdefault(_TABLES, {})
    kept[ticket] = table
    while len(kept) > _KEEP:
        del kept[next(iter(kept))]


def _known(pair: Pair) -> np.ndarray | None:
    ticket = _ticket(pair)
    if ticket not in st.session_state.setdefault(_TABLES, {}):
        on_disk = _cache().read(*pair)
        if on_disk is None:
            return None
        _keep(ticket, on_disk.probabilities)
    return st.session_state[_TABLES][ticket]


def _ticket(pair: Pair) -> tuple[str, str]:
    return pair[0].fingerprint, pair[1].sequence
