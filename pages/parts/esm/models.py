"""Every model by its own name: where its weights are, what it knows, what it cannot know."""

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.protein.chain import Chain
from pages.parts.downloads import downloads

if TYPE_CHECKING:
    from core.protein.model import LanguageModel


def models_section(chain: Chain, model: "LanguageModel") -> None:
    """A table of the models, and what was minimised in training."""
    st.markdown(
        "**How such a model is trained.** Letters are hidden; the model gives 20 probabilities; "
        "training makes −log p(true residue | the rest) small, over millions of chains. Nobody "
        "tells it about genes, folds or antigens."
    )
    from core.protein.weights import available_models

    rows = []
    for known in available_models():
        card = known.card
        place = str(known.path) if known.path else f"not here; would go to {known.destination}"
        rows.append(
            (card.label, card.layers, card.d_model, card.heads, card.parameters / 1e6,
             known.size_bytes / 1e6, place, card.knows)
        )  # fmt: skip
    columns = ["model", "layers", "d_model", "heads", "million weights", "MB", "file", "knows"]
    table = pd.DataFrame(rows, columns=columns)
    st.dataframe(table.round(1), hide_index=True, alt=f"{len(table)} models and where they are.")
    downloads("e_models", table=table)
    st.markdown(f"**In use: {model.label}**, {model.parameters:,} weights counted. {model.knows}")
    st.caption(f"sha256 of its weight file: {model.fingerprint}")
    st.markdown(
        "**What none of them can know:** which antigen this receptor binds; whether it passed "
        "the thymus; which of several possible ways of recombination wrote the junction."
    )
