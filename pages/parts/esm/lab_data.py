"""The lab's input: labelled receptors from a file or made up, and their vectors."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.protein.receptors import Receptor, ReceptorFile
from pages.parts.background import Job
from pages.parts.esm.files import uploaded_text
from pages.parts.links import plain

if TYPE_CHECKING:
    from core.protein.model import LanguageModel

_TYPES, _JOB, _DONE, _EXAMPLE = (
    ["tsv", "csv", "txt", "gz"],
    "_e_lab_job",
    "_e_lab_done",
    "_e_lab_example",
)
MOST_CLASSES = 12


def table_text() -> str:
    """The uploaded table, or the made-up one when it was asked for; "" before either."""
    upload = st.file_uploader("Receptors with labels: TSV or CSV", type=_TYPES, key="e_lab_file")
    st.button("Try made-up receptors", on_click=_use_example, icon=":material/science:")
    if upload is not None:
        return uploaded_text(upload) or ""
    if st.session_state.get(_EXAMPLE):
        st.caption(
            "Made up for trying this tool: TRBV19 receptors with random letters in the junction; "
            "those labelled RS carry RS there. They are no data."
        )
        return example_rows()
    return ""


def _use_example() -> None:
    st.session_state[_EXAMPLE] = True


def example_rows(n: int = 60, seed: int = 0) -> str:
    """A table of `n` made-up receptors, half of them with RS in the junction."""
    random, letters = np.random.default_rng(seed), list("ADEGLNPQSTVW")
    rows = ["v\tcdr3\tj\tmotif"]
    for i in range(n):
        first, last, *other = random.choice(letters, 4)
        middle = "RS" if i % 2 else "".join(other)
        rows.append(f"TRBV19\tCASS{first}{middle}{last}YEQYF\tTRBJ2-7\t{'RS' if i % 2 else 'none'}")
    return "\n".join(rows)


def label_columns(file: ReceptorFile) -> list[str]:
    """Columns with a usable number of different values, those with the fewest first."""
    values: dict[str, set[str]] = {}
    for receptor in file.good:
        for name, value in receptor.fields.items():
            if value.strip():
                values.setdefault(name, set()).add(value.strip())
    usable = [name for name, found in values.items() if 2 <= len(found) <= MOST_CLASSES]
    return sorted(usable, key=lambda name: len(values[name]))


def fits(receptor: Receptor, only_cdr3: bool) -> bool:
    """Whether the receptor has what is to be averaged."""
    return receptor.chain is not None and (bool(receptor.chain.cdr3) or not only_cdr3)


def vectors_of(
    model: "LanguageModel", receptors: Sequence[Receptor], only_cdr3: bool, ticket: tuple
) -> np.ndarray | None:
    """(n, d_model) mean vectors, or None while the button or the progress bar is shown."""
    done = st.session_state.get(_DONE)
    if done is not None and done[0] == ticket:
        return done[1]
    running = st.session_state.get(_JOB)
    if running is not None and running[0] != ticket:
        running[1].cancel()
        running = None
    if running is not None and running[1].running:
        st.fragment(_watch, run_every=0.3)()
        return None
    if running is not None and running[1].error is not None:
        st.error(plain(str(running[1].error)), icon=":material/error:")
    elif running is not None and running[1].cancelled:
        st.caption("Cancelled.")
    elif running is not None and running[1].latest:
        st.session_state[_DONE] = (ticket, running[1].latest[2])
        return running[1].latest[2]
    if st.button(f"Embed and classify {len(receptors)} receptors"):
        job = Job(lambda: _embed(model, receptors, only_cdr3))
        st.session_state[_JOB] = (ticket, job)
        job.wait(0.5)
        st.rerun()
    return None


def _embed(
    model: "LanguageModel", receptors: Sequence[Receptor], only_cdr3: bool
) -> Iterator[tuple[int, int, np.ndarray | None]]:
    from core.protein.embeddings import mean_vector

    rows = []
    for receptor in receptors:
        if receptor.chain is not None:
            rows.append(mean_vector(model, receptor.chain, cdr3_only=only_cdr3))
        yield len(rows), len(receptors), None
    yield len(rows), len(receptors), np.array(rows)


def _watch() -> None:
    _, job = st.session_state[_JOB]
    if not job.running:
        st.rerun()
    done, total, _ = job.latest or (0, 1, None)
    left = f", about {job.seconds * (total - done) / done:.0f} s left" if done else ""
    st.progress(done / total, text=f"{done} of {total} receptors{left}")
    st.button("Cancel", key="e_lab_cancel", icon=":material/stop:", on_click=job.cancel)
