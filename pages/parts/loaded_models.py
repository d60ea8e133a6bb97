"""The only cached resource: protein models, one copy on this server for all visitors.

The models write nothing on themselves while they run, so sharing is safe. Torch enters the
server's process here, when a page first asks for a model, and not before.
"""

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from core.protein.model import LanguageModel


@st.cache_resource(max_entries=2, show_spinner="Loading the model …")
def protein_model(name: str = "trb-mini") -> "LanguageModel":
    """The loaded model `name`. Raises core.protein.weights.WeightsError with a sentence."""
    from core.protein.weights import load

    return load(name)
