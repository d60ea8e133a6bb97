"""Widgets that return values of core, used by two or more pages."""

import streamlit as st

from core.alphabet import DEFAULT_SEQUENCE, Cleaned, SequenceError, clean_sequence


def sequence_box(
    label: str = "Sequence",
    *,
    key: str = "seq",
    min_length: int = 2,
    max_length: int = 60,
    default: str = DEFAULT_SEQUENCE,
    help: str | None = None,
) -> Cleaned:
    """A text box bound to the URL. Bad text gets a sentence and the last good sequence stays.

    The box is shared by all pages that use the same `key`.
    """
    last_good = f"_last_good_{key}_{max_length}"
    text = st.text_input(label, default, key=key, bind="query-params", help=help)
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
