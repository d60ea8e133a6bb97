"""Hide a residue and let a protein language model guess it. The sections live in parts/esm_*."""

import streamlit as st

from pages.parts.esm_guess import guess_section
from pages.parts.esm_receptor import notes_of, receptor_and_model
from pages.parts.esm_scan import scan_section
from pages.parts.frame import open_page

open_page("esm", "Click a letter of the chain: the bars say what the model expects there.")

SECTIONS = {"Whole chain": scan_section}

chain, model_name = receptor_and_model()
guess_section(chain, model_name)
notes_of(chain)
shown = st.segmented_control(
    "Look further",
    list(SECTIONS),
    default="Whole chain",
    key="e_show",
    bind="query-params",
    required=True,
)
SECTIONS.get(shown, scan_section)(chain, model_name)
