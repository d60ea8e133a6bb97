"""Hide a residue and let a protein language model guess it. The sections live in parts/esm."""

import streamlit as st

from pages.parts.esm.compare import KINDS, compare_section
from pages.parts.esm.guess import guess_section
from pages.parts.esm.inside import attention_section, same_letter_section
from pages.parts.esm.lab import lab_section
from pages.parts.esm.models import models_section
from pages.parts.esm.pictures import PICTURES
from pages.parts.esm.receptor import notes_of, receptor_and_model
from pages.parts.esm.scan import scan_section
from pages.parts.esm.weights import loaded_model
from pages.parts.esm.words import MODEL_LABELS
from pages.parts.frame import open_page
from pages.parts.links import number, say_what_is_damaged, whole_number

SECTIONS = {
    "Whole chain": scan_section,
    "Compare": compare_section,
    "Attention": attention_section,
    "One letter, many places": same_letter_section,
    "In the lab": lab_section,
    "The models": models_section,
}

open_page("esm", "Click a letter of the chain: the bars say what the model expects there.")
say_what_is_damaged(
    {
        "e_model": ("model", lambda text: text in MODEL_LABELS.values()),
        "e_show": ("section", lambda text: text in SECTIONS),
        "e_view": ("picture", lambda text: text in PICTURES),
        "e_with": ("comparison", lambda text: text in KINDS),
        "e_temp": ("temperature", number(0.2, 3.0)),
        "e_vote": ("vote", lambda text: text in {"true", "false"}),
    }
)

chain, model_name = receptor_and_model()
inside = whole_number(1, len(chain))
say_what_is_damaged({"e_at": ("residue", inside), "e_mp": ("position", inside)})
guess_section(chain, model_name)
notes_of(chain, model_name)
model = loaded_model(model_name)
if model is not None:
    layers, heads = whole_number(1, model.num_layers), whole_number(1, model.num_heads)
    say_what_is_damaged({"e_layer": ("layer", layers), "e_head": ("head", heads)})
shown = st.segmented_control(
    "Look further",
    list(SECTIONS),
    default="Whole chain",
    key="e_show",
    bind="query-params",
    required=True,
)
if model is None:
    st.caption("These sections open as soon as the model is here.")
else:
    SECTIONS.get(shown, scan_section)(chain, model)
