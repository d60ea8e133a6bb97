"""How a visitor gives a receptor: V + CDR3 + J, a pasted chain, or a row of a file."""

import streamlit as st

from core.alphabet import SequenceError
from core.protein.chain import Chain, default_chain
from core.protein.genes import ReceptorError, j_gene
from core.protein.germline import assemble, example, lacks_last
from core.protein.limits import notes_on_ends
from core.protein.receptors import one_receptor
from pages.parts.controls import sequence_box
from pages.parts.esm.files import file_picker
from pages.parts.esm.words import MODEL_LABELS, MOST_PASTED, check_whole, counted
from pages.parts.links import plain

V, J, PASTED, MODEL, GOOD = "e_v", "e_j", "e_chain", "e_model", "_e_good_chain"
_WIDTHS = (150, 190, 110, 230)  # two to a row on a phone
_V_AT_FIRST, _J_AT_FIRST = "TRBV19", "TRBJ2-7"


def receptor_and_model() -> tuple[Chain, str]:
    """The row on top of the page. Bad input gets a sentence and the last good chain stays."""
    with st.container(horizontal=True):
        columns = [st.container(width=width) for width in _WIDTHS]
    text = _other_ways()  # first in the code: whether a chain is pasted decides about the rest
    pasted = bool(text)
    with columns[0]:
        spellings = "Any usual spelling: TRBV19, TRBV19*01, TCRBV19-01."
        v = _gene_box("V gene", _V_AT_FIRST, V, disabled=pasted, help=spellings)
    with columns[1]:
        cdr3 = sequence_box(
            "CDR3, C to F or W", help="CASSIRSSYEQYF, for example.", disabled=pasted
        )
    with columns[2]:
        j = _gene_box("J gene", _J_AT_FIRST, J, disabled=pasted)
    with columns[3]:
        model_name = st.selectbox(
            "Model",
            list(MODEL_LABELS),
            key=MODEL,
            bind="query-params",
            format_func=MODEL_LABELS.__getitem__,
            help="TRB-mini is here at once. ESM-2 is downloaded only when you ask for it.",
        )
    return _chain(v, cdr3.sequence, j, text), model_name


def _gene_box(
    label: str, at_first: str, key: str, *, disabled: bool, help: str | None = None
) -> str:
    typed = st.text_input(
        label, at_first, key=key, bind="query-params", max_chars=60, disabled=disabled, help=help
    )
    return typed or ""


def _other_ways() -> str:
    """A whole chain or a file, in a closed line; returns the pasted chain, "" without one."""
    with st.expander("Or paste a whole chain, or open a file: FASTA, AIRR, VDJdb, 10x"):
        left, right = st.columns(2, gap="medium")
        text = left.text_area(
            "A whole chain, a FASTA record, or V CDR3 J",
            key=PASTED,
            bind="query-params",
            height=120,
            max_chars=MOST_PASTED,
            help="At most 1,022 residues. V, CDR3 and J are looked for in it.",
        )
        left.button("Back to V + CDR3 + J", on_click=_set_pasted, args=("",), disabled=not text)
        with right:
            file_picker()
    return text if text and text.strip() else ""


def _set_pasted(text: str) -> None:
    st.session_state[PASTED] = text


def _chain(v: str, cdr3: str, j: str, pasted: str) -> Chain:
    """The chain asked for, or the last good one with a sentence saying why."""
    try:
        chain = _from_pasted(check_whole(pasted)) if pasted else assemble(v, cdr3, j)
    except (SequenceError, ReceptorError, ValueError) as problem:
        chain = st.session_state.get(GOOD) or default_chain()
        st.error(plain(f"{problem} Still showing {chain.name}."), icon=":material/error:")
        if not pasted:
            _offer_completion(v, cdr3, j)
        return chain
    st.session_state[GOOD] = chain
    if pasted:
        st.caption(
            f":material/content_paste: Showing the pasted chain, {counted(len(chain), 'residue')}."
        )
    return chain


def _from_pasted(text: str) -> Chain:
    """With the genes of man, or of the mouse where no human V is like it."""
    chain = one_receptor(text)
    mouse = chain if chain.v_gene else one_receptor(text, species="mouse")
    return mouse if mouse.v_gene else chain


def _offer_completion(v: str, cdr3: str, j: str) -> None:
    """A CDR3 without its C or F is never completed silently: a button offers to do it."""
    try:
        whole = assemble(v, cdr3, j, complete=True).cdr3_sequence
    except ValueError:
        return
    st.button(f"Read it as {whole}", on_click=_set_cdr3, args=(whole,))


def _offer_last_letter(chain: Chain) -> None:
    """The germline has one letter more at the CDR3's end: the note says so, a button adds it."""
    cdr3 = chain.cdr3_sequence
    if chain.j_gene and lacks_last(cdr3, j_gene(chain.j_gene, chain.species)):
        whole = cdr3 + cdr3[-1]
        st.button(f"Read it as {whole}", on_click=_set_cdr3, args=(whole,))


def _set_cdr3(whole: str) -> None:
    st.session_state["seq"] = whole


def notes_of(chain: Chain, model_name: str) -> None:
    """Everything that was assumed or cleaned; open unless it is what is always assumed at first."""
    as_ever = chain.notes == example().notes
    notes = (*chain.notes, *notes_on_ends(chain, model_name))
    if notes:
        label = f"What was assumed about this chain ({len(notes)})"
        with st.expander(label, expanded=not as_ever):
            for note in notes:
                st.text(note)
            if not st.session_state.get(PASTED):
                _offer_last_letter(chain)
            elif chain.j_end is not None:
                whole = chain.sequence[: chain.j_end]
                st.button("Cut the chain after J", on_click=_set_pasted, args=(whole,))
