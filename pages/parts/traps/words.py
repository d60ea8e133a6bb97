"""How a trap opens: what people say, and what is true."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.parts.links import say_what_is_damaged


def myth(said: str, truth: str) -> None:
    """Two lines, the same for every trap."""
    st.markdown(f":material/close: **Myth:** {said}  \n:material/check: **Truth:** {truth}")


def check_link(checks: Mapping[str, tuple[str, Callable[[str], bool]]]) -> None:
    """Say what a link asks for in vain, once: a key that is in use was set here, not by a link."""
    say_what_is_damaged({k: check for k, check in checks.items() if k not in st.session_state})
