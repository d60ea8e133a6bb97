"""In the lab: labelled receptors in, a cross-validated linear classifier on the vectors out."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.protein_origin import confusion_map, roc_curve
from core.protein.chain import Chain
from core.protein.receptors import Receptor, ReceptorFile, read_receptors
from pages.parts.background import Job
from pages.parts.downloads import show_figure
from pages.parts.esm_words import lab_code, plain

if TYPE_CHECKING:
    from core.protein.lab import LabReport
    from core.protein.model import LanguageModel

_TYPES, _JOB, _DONE, _EXAMPLE = ["tsv", "csv", "txt"], "_e_lab_job", "_e_lab_done", "_e_lab_example"
_MOST_CLASSES = 12
_POOLS = {"the CDR3": True, "the whole chain": False}


def lab_section(chain: Chain, model: "LanguageModel") -> None:
    """Upload, choose the label and what to pool, embed, and read the report."""
    st.markdown(
        "Upload receptors with a label (an antigen, a donor, a cluster). Each becomes the mean "
        f"of its residues' vectors in **{model.label}**; a logistic regression is tested on "
        "receptors it has not seen."
    )
    text = _text()
    if not text:
        return
    try:
        file = _read(text)
    except ValueError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    columns = _label_columns(file)
    st.caption(f"Read as {file.format}: {len(file.good)} of {len(file.receptors)} have a chain.")
    if not columns:
        st.error(f"No column holds 2 to {_MOST_CLASSES} different labels.", icon=":material/error:")
        return
    left, right = st.columns(2)
    column = left.selectbox("Label", columns, key="e_label")
    pool = right.segmented_control(
        "Mean over", list(_POOLS), default="the CDR3", key="e_pool", required=True
    )
    only_cdr3 = _POOLS.get(pool, True)
    usable = [r for r in file.good if r.fields.get(column, "").strip() and _fits(r, only_cdr3)]
    _embed_and_report(model, usable, column, only_cdr3)


def _text() -> str:
    upload = st.file_uploader("Receptors with labels: TSV or CSV", type=_TYPES, key="e_lab_file")
    st.button("Try made-up receptors", on_click=_use_example, icon=":material/science:")
    if upload is not None:
        return upload.getvalue().decode("utf-8-sig", errors="replace")
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


@st.cache_data(max_entries=4, show_spinner="Reading the receptors …")
def _read(text: str) -> ReceptorFile:
    return read_receptors(text)


def _label_columns(file: ReceptorFile) -> list[str]:
    """Columns with a usable number of different values, those with the fewest first."""
    values: dict[str, set[str]] = {}
    for receptor in file.good:
        for name, value in receptor.fields.items():
            if value.strip():
                values.setdefault(name, set()).add(value.strip())
    usable = [name for name, found in values.items() if 2 <= len(found) <= _MOST_CLASSES]
    return sorted(usable, key=lambda name: len(values[name]))


def _fits(receptor: Receptor, only_cdr3: bool) -> bool:
    return receptor.chain is not None and (bool(receptor.chain.cdr3) or not only_cdr3)


def _embed_and_report(
    model: "LanguageModel", receptors: Sequence[Receptor], column: str, only_cdr3: bool
) -> None:
    letters = "\n".join(r.chain.sequence for r in receptors if r.chain)
    ticket = (model.fingerprint, only_cdr3, hashlib.sha256(letters.encode()).hexdigest())
    vectors = _vectors(model, receptors, only_cdr3, ticket)
    if vectors is None:
        return
    from core.protein.lab import LabError, cross_validate

    labels = [r.fields[column].strip() for r in receptors]
    # A chain without a CDR3 is its own group: only its whole sequence can repeat.
    groups = [r.chain.cdr3_sequence or r.chain.sequence for r in receptors if r.chain]
    try:
        with st.spinner("Training and testing the classifier …"):
            report = cross_validate(vectors, labels, groups)
    except LabError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    _show(report, lab_code(model.name, column, only_cdr3))


def _vectors(
    model: "LanguageModel", receptors: Sequence[Receptor], only_cdr3: bool, ticket: tuple
) -> np.ndarray | None:
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


def _show(report: "LabReport", code: str) -> None:
    for warning in report.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    with st.container(horizontal=True):
        st.metric("balanced accuracy", f"{report.accuracy:.3f}", width="content")
        st.metric("guessing gives", f"{report.by_chance:.3f}", width="content")
        st.metric(
            "with leakage",
            f"{report.accuracy_with_leak:.3f}",
            width="content",
            help="The same, when receptors with one CDR3 may sit on both sides of the split.",
        )
    st.caption(
        f"{report.folds}-fold cross-validation; receptors that share a CDR3 stay on one side. "
        + ", ".join(f"{plain(n)}: {c}" for n, c in zip(report.labels, report.counts, strict=True))
    )
    left, right = st.columns(2)
    with left:
        roc = _chosen_roc(report)
        show_figure(
            roc_curve(roc.false_positive, roc.true_positive, roc.area),
            key="e_roc",
            alt=f"ROC of {roc.label} against the rest, area {roc.area:.3f}.",
            table=pd.DataFrame(
                {"false_positive": roc.false_positive, "true_positive": roc.true_positive}
            ),
            code=code,
        )
    with right:
        show_figure(
            confusion_map(report.labels, report.confusion),
            key="e_confusion",
            alt="Confusion: "
            + "; ".join(
                f"{n} called {m}: {report.confusion[i, j]}"
                for i, n in enumerate(report.labels)
                for j, m in enumerate(report.labels)
            ),
            table=pd.DataFrame(report.confusion, columns=list(report.labels)),
            code=code,
        )


def _chosen_roc(report: "LabReport"):
    if len(report.labels) == 2:
        return report.rocs[1]
    name = st.selectbox("ROC of", report.labels, key="e_roc_of")
    return next(roc for roc in report.rocs if roc.label == name)
