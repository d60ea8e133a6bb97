"""How a trap opens: what people say, and what is true."""

import streamlit as st


def myth(said: str, truth: str) -> None:
    """Two lines, the same for every trap."""
    st.markdown(f":material/close: **Myth:** {said}  \n:material/check: **Truth:** {truth}")


def percent(share: float, digits: int = 0) -> str:
    """`60 %`, with a space that does not break."""
    return f"{100 * share:.{digits}f}\u00a0%"
