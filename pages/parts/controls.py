"""Widgets that return values of core, used by two or more pages."""

import streamlit as st

from core.alphabet import DEFAULT_SEQUENCE, Cleaned, SequenceError, clean_sequence
from pages.parts.frame import open_room


def sequence_box(
    label: str = "Sequence",
    *,
    key: str = "seq",
    min_length: int = 2,
    max_length: int = 60,
    default: str = DEFAULT_SEQUENCE,
    help: str | None = None,
    disabled: bool = False,
) -> Cleaned:
    """A text box bound to the URL. Bad text gets a sentence and the last good sequence stays.

    The box is shared by all pages that use the same `key`.
    """
    last_good = f"_last_good_{key}_{max_length}"
    _bring_along(key)
    text = st.text_input(label, default, key=key, bind="query-params", help=help, disabled=disabled)
    st.session_state[f"_text_{key}"] = open_room(), text
    try:
        cleaned = clean_sequence(text or "", min_length=min_length, max_length=max_length)
    except SequenceError as problem:
        kept = st.session_state.get(last_good, default)
        st.error(f"{problem.sentence} Still showing {kept}.", icon=":material/error:")
        return Cleaned(kept)
    st.session_state[last_good] = cleaned.sequence
    for note in cleaned.notes:
        st.caption(f":material/info: {note}")
    return cleaned


def _bring_along(key: str) -> None:
    """Take the text of the page before to this page, just opened.

    Streamlit does so by itself unless the text came from a link and nothing was touched since.
    """
    room, text = st.session_state.get(f"_text_{key}", (open_room(), None))
    if room != open_room() and text and key not in st.query_params:
        st.session_state[key] = st.query_params[key] = text
        st.rerun()
