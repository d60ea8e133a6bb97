"""The toy's edits in this visit: kept as one WhatIf and mirrored in the URL."""

from typing import NoReturn

import streamlit as st

from core.toy.what_if import UNTOUCHED, WhatIf, decode, encode
from pages.parts.toy import redraw

_EDITS, _WRITTEN, _ROUND = "_toy_edits", "_toy_edits_in_url", "_toy_editor_round"
_URL = "t_w"


def read_edits() -> None:
    """Take the edits from a link when it is opened. Main script only."""
    in_url = st.query_params.get(_URL)
    if in_url is not None and in_url != st.session_state.get(_WRITTEN):
        edits, problem = decode(in_url)
        st.session_state[_EDITS] = edits
        if problem:
            st.warning(problem, icon=":material/link_off:")
    _write_link()


def current_edits() -> WhatIf:
    """The edits of this visit, none at first."""
    return st.session_state.get(_EDITS, UNTOUCHED)


def keep(edits: WhatIf) -> NoReturn:
    """Remember, and redraw what depends on it. Last in a widget's callback."""
    st.session_state[_EDITS] = edits
    _write_link()
    redraw.edited()


def restore() -> NoReturn:
    """One click back to the untouched model. Last in a widget's callback."""
    # A new key gives the weight table a fresh start; the old one would replay its edits.
    st.session_state[_ROUND] = editor_round() + 1
    st.session_state[_EDITS] = UNTOUCHED
    _write_link()
    redraw.restored()


def editor_round() -> int:
    """How often the model was restored in this visit."""
    return st.session_state.get(_ROUND, 0)


def _write_link() -> None:
    text = encode(current_edits())
    st.session_state[_WRITTEN] = text
    in_url = st.query_params.get(_URL)
    if text and in_url != text:
        st.query_params[_URL] = text
    elif not text and in_url is not None:
        del st.query_params[_URL]
