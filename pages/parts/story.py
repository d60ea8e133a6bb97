"""A page whose lower half is one chapter at a time: the list of chapters, and the way on."""

from collections.abc import Sequence

import streamlit as st

from pages.parts.links import say_what_is_damaged


def choose_part(label: str, titles: Sequence[str], key: str) -> str:
    """The chapter that is open; it is in the URL, where a chapter that does not exist is named."""
    if key not in st.session_state:
        say_what_is_damaged({key: (label.lower(), lambda text: text in titles)})
    chosen = st.segmented_control(
        label,
        titles,
        default=titles[0],
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen if chosen in titles else titles[0]


def next_part(now: str, titles: Sequence[str], key: str) -> None:
    """A button at the end of a chapter, so that the page can be read as one story."""
    following = titles.index(now) + 1
    if following < len(titles):
        st.button(
            f"Next: {titles[following]}",
            icon=":material/arrow_forward:",
            on_click=_go_to,
            args=(key, titles[following]),
            key=f"{key}_next",
        )


def _go_to(key: str, chapter: str) -> None:
    st.session_state[key] = chapter
