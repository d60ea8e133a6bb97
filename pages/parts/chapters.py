"""Sections that stay closed, and uncomputed, until asked for; which are open is in the URL."""

from collections.abc import Callable
from functools import wraps

import streamlit as st


def chapter(title: str, key: str) -> Callable[[Callable[[str], None]], Callable[[str], None]]:
    """Make a function of the sequence a section of its own that redraws only itself.

    It is a fragment called `<key>_part`.
    """

    def closed_at_first(body: Callable[[str], None]) -> Callable[[str], None]:
        @st.fragment(key=f"{key}_part")
        @wraps(body)
        def show(sequence: str) -> None:
            section = st.expander(title, key=key, bind="query-params")
            if section.open:
                with section:
                    body(sequence)

        return show

    return closed_at_first
