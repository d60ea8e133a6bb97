"""What a link to the full-transformer page may ask for, and a sentence when it asks wrongly."""

from collections.abc import Iterable, Mapping

import streamlit as st


def check_link(allowed: Mapping[str, Iterable[object]]) -> None:
    """Say so when the URL holds a value that a widget will not take.

    Call before the widgets are drawn; they fall back to their defaults by themselves.
    """
    for name, values in allowed.items():
        asked = st.query_params.get(name)
        if asked is not None and asked not in {str(value) for value in values}:
            st.warning(
                f"The link asks for {name} = “{asked[:40]}”, which does not exist here; "
                "showing the default.",
                icon=":material/link_off:",
            )
