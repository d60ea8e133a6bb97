"""Getting a model: loaded at once when its weights are here, otherwise an offer to fetch them."""

import streamlit as st

from pages.parts.loaded_models import protein_model


def model_or_download(name: str, *, key: str):
    """The loaded model, or None after drawing what is missing and what to do about it."""
    try:
        return protein_model(name)
    except RuntimeError as problem:
        st.warning(str(problem), icon=":material/cloud_off:")
        return None
