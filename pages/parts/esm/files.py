"""Receptors from a file or a paste of rows: read, count, choose one."""

import streamlit as st

from core.protein.chain import Chain
from core.protein.genes import ReceptorError
from core.protein.germline import assemble
from core.protein.receptors import Receptor, ReceptorFile, read_receptors
from core.protein.stream import text_of
from pages.parts.esm.words import counted
from pages.parts.links import plain

_TYPES = ["tsv", "csv", "txt", "fasta", "fa", "faa", "gz"]


def file_picker() -> None:
    """An upload or paste; the chosen receptor goes into the page's own fields."""
    upload = st.file_uploader("A file: FASTA, AIRR, VDJdb, 10x, or v, cdr3, j", type=_TYPES)
    pasted = st.text_area("or its rows, pasted with the header", key="e_rows", height=80)
    text = uploaded_text(upload) if upload is not None else (pasted or "")
    if not (text or "").strip():
        return
    try:
        file = read_table(text)
    except ReceptorError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    _choose(file)


def uploaded_text(upload) -> str | None:
    """The text of an uploaded file, or None after saying why it cannot be read."""
    try:
        text = text_of(upload.getvalue())
        if not text.strip():
            raise ReceptorError("This file is empty: choose one with receptors in it.")
    except ReceptorError as problem:
        st.error(f"{plain(upload.name)}: {plain(str(problem))}", icon=":material/error:")
        return None
    return text


@st.cache_data(max_entries=4, show_spinner="Reading the receptors …")
def read_table(text: str) -> ReceptorFile:
    """All receptors of a text, read once for all visitors. Raises ReceptorError."""
    return read_receptors(text)


def _choose(file: ReceptorFile) -> None:
    if not file.receptors:
        st.error("There is a header and no receptor below it.", icon=":material/error:")
        return
    bad = [receptor for receptor in file.receptors if receptor.chain is None]
    st.caption(
        f"Read as {file.format}: {counted(len(file.receptors), 'receptor')}, {len(file.good):,} "
        f"can be shown, {len(bad):,} cannot."
    )
    if bad:
        columns = {
            "row": [r.number for r in bad],
            "name": [r.name for r in bad],
            "why not": [r.error for r in bad],
        }
        st.dataframe(columns, hide_index=True, alt=f"{len(bad):,} that cannot be shown, and why.")
    if not file.good:
        return
    receptor = st.selectbox("Receptor", file.good, format_func=_label)
    if receptor.notes:
        st.caption(plain(" ".join(receptor.notes)))
    st.button("Show this receptor", on_click=_take, args=(receptor,))


def _label(receptor: Receptor) -> str:
    chain = receptor.chain
    if chain is None or not chain.cdr3:
        return f"{receptor.number}. {receptor.name}"
    return f"{receptor.number}. {chain.v_gene} {chain.cdr3_sequence} {chain.j_gene}"


def _take(receptor: Receptor) -> None:
    """Put the receptor into the fields that the URL carries, so that a link repeats it."""
    chain = receptor.chain
    if chain is None:
        return
    if _same_from_genes(chain):
        st.session_state.update(
            {"e_v": chain.v_gene, "seq": chain.cdr3_sequence, "e_j": chain.j_gene, "e_chain": ""}
        )
    else:
        st.session_state["e_chain"] = chain.sequence


def _same_from_genes(chain: Chain) -> bool:
    try:
        rebuilt = assemble(chain.v_gene or "", chain.cdr3_sequence, chain.j_gene or "")
    except ValueError:
        return False
    return rebuilt.sequence == chain.sequence
