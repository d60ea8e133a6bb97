"""Below the guess: one section at a time, each of which needs the model in PyTorch."""

import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain
from pages.parts.esm.choose import VOTE
from pages.parts.esm.compare import KINDS, compare_section
from pages.parts.esm.inside import attention_section, same_letter_section
from pages.parts.esm.lab import lab_section
from pages.parts.esm.models import models_section
from pages.parts.esm.pictures import PICTURES
from pages.parts.esm.scan import scan_section
from pages.parts.esm.weights import loaded_model
from pages.parts.links import number, say_what_is_damaged, whole_number

SECTIONS = {
    "Whole chain": scan_section,
    "Compare": compare_section,
    "Attention": attention_section,
    "One letter, many places": same_letter_section,
    "In the lab": lab_section,
    "The models": models_section,
}


def look_further(chain: Chain, model_name: str) -> None:
    """The choice of a section, and the section once the model is loaded."""
    say_what_is_damaged(
        {
            "e_show": ("section", lambda text: text in SECTIONS),
            "e_view": ("picture", lambda text: text in PICTURES),
            "e_with": ("comparison", lambda text: text in KINDS),
            "e_temp": ("temperature", number(0.2, 3.0)),
            "e_mp": ("position", whole_number(1, len(chain))),
            "e_ml": ("letter", list(AMINO_ACIDS).__contains__),
            "e_from": ("residue that looks", whole_number(1, len(chain))),
        }
    )
    shown = st.segmented_control(
        "Look further",
        list(SECTIONS),
        default="Whole chain",
        key="e_show",
        bind="query-params",
        required=True,
    )
    model = loaded_model(model_name)
    if model is None:
        return
    if st.session_state.get(VOTE):
        st.caption("Closed while a vote is held: these sections would tell the answer.")
        return
    layers, heads = whole_number(1, model.num_layers), whole_number(1, model.num_heads)
    say_what_is_damaged({"e_layer": ("layer", layers), "e_head": ("head", heads)})
    SECTIONS.get(shown, scan_section)(chain, model)
