"""In the lab: labelled receptors in, a cross-validated linear classifier on the vectors out."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.protein_origin import confusion_map, roc_curve
from core.protein.chain import Chain
from core.protein.receptors import Receptor
from pages.parts.downloads import show_figure
from pages.parts.esm.files import read_table
from pages.parts.esm.lab_data import (
    MOST_CLASSES,
    fits,
    label_columns,
    table_text,
    vectors_of,
)
from pages.parts.esm.words import counted, lab_code
from pages.parts.links import plain

if TYPE_CHECKING:
    from core.protein.lab import LabReport
    from core.protein.model import LanguageModel

_POOLS = {"the CDR3": True, "the whole chain": False}


def lab_section(chain: Chain, model: "LanguageModel") -> None:
    """Upload, choose the label and what to pool, embed, and read the report."""
    st.markdown(
        "Upload receptors with a label (an antigen, a donor, a cluster). Each becomes the mean "
        f"of its residues' vectors in **{model.label}**; a logistic regression is tested on "
        "receptors it has not seen."
    )
    text = table_text()
    if not text:
        return
    try:
        file = read_table(text)
    except ValueError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    columns = label_columns(file)
    st.caption(f"Read as {file.format}: {len(file.good)} of {len(file.receptors)} have a chain.")
    if not columns:
        st.error(f"No column holds 2 to {MOST_CLASSES} different labels.", icon=":material/error:")
        return
    left, right = st.columns(2)
    column = left.selectbox("Label", columns, key="e_label")
    pool = right.segmented_control(
        "Mean over", list(_POOLS), default="the CDR3", key="e_pool", required=True
    )
    only_cdr3 = _POOLS.get(pool, True)
    usable = [r for r in file.good if r.fields.get(column, "").strip() and fits(r, only_cdr3)]
    if left_out := len(file.good) - len(usable):
        need = "label or CDR3" if only_cdr3 else "label"
        st.caption(f"Left out for want of a {need}: {counted(left_out, 'receptor')}.")
    _embed_and_report(model, usable, column, only_cdr3)


def _embed_and_report(
    model: "LanguageModel", receptors: Sequence[Receptor], column: str, only_cdr3: bool
) -> None:
    letters = "\n".join(r.chain.sequence for r in receptors if r.chain)
    ticket = (model.fingerprint, only_cdr3, hashlib.sha256(letters.encode()).hexdigest())
    vectors = vectors_of(model, receptors, only_cdr3, ticket)
    if vectors is None:
        return
    from core.protein.lab import LabError

    labels = [r.fields[column].strip() for r in receptors]
    # A chain without a CDR3 is its own group: only its whole sequence can repeat.
    groups = [r.chain.cdr3_sequence or r.chain.sequence for r in receptors if r.chain]
    try:
        report = _report(vectors, ticket, labels, groups)
    except LabError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    _show(report, lab_code(model.name, column, only_cdr3))


@st.cache_data(max_entries=8, show_spinner="Training and testing the classifier …")
def _report(
    _vectors: np.ndarray, ticket: tuple, labels: list[str], groups: list[str]
) -> "LabReport":
    """Computed once: the page asks again at every click. `ticket` stands for the vectors."""
    from core.protein.lab import cross_validate

    return cross_validate(_vectors, labels, groups)


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
        _roc(report, code)
    with right:
        _confusion(report, code)


def _roc(report: "LabReport", code: str) -> None:
    # Of two classes one curve says all.
    name = report.labels[-1]
    if len(report.labels) > 2:
        name = st.selectbox("ROC of", report.labels, key="e_roc_of")
    roc = next(roc for roc in report.rocs if roc.label == name)
    rates = {"false_positive": roc.false_positive, "true_positive": roc.true_positive}
    show_figure(
        roc_curve(roc.false_positive, roc.true_positive, roc.area),
        key="e_roc",
        alt=f"ROC of {roc.label} against the rest, area {roc.area:.3f}.",
        table=pd.DataFrame(rates),
        code=code,
    )
    st.caption(f"ROC of {plain(roc.label)} against the rest.")


def _confusion(report: "LabReport", code: str) -> None:
    told = [
        f"{true} called {said}: {report.confusion[i, j]}"
        for i, true in enumerate(report.labels)
        for j, said in enumerate(report.labels)
    ]
    show_figure(
        confusion_map(report.labels, report.confusion),
        key="e_confusion",
        alt=f"Confusion: {'; '.join(told)}",
        table=pd.DataFrame(report.confusion, columns=list(report.labels)),
        code=code,
    )
