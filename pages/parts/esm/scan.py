"""The whole chain, every residue hidden in turn: the numbers, a picture, the downloads."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.protein import readout
from core.protein.chain import Chain
from core.protein.table import COLUMNS, scan_csv, scan_rows
from pages.parts.esm import words
from pages.parts.esm.jobs import tables
from pages.parts.esm.pictures import PICTURES, pictures_for

if TYPE_CHECKING:
    from core.protein.model import LanguageModel


def scan_section(chain: Chain, model: "LanguageModel") -> None:
    """Start, watch and read a scan of the whole chain."""
    found = tables(
        [(model, chain)],
        key="scan",
        label=f"Hide each of the {len(chain)} residues in turn",
    )
    if found is None:
        st.caption(
            "One pass of the model per residue, each with only that residue hidden. Training "
            "minimised −log p(true residue | the rest); the scan shows that number everywhere."
        )
    else:
        _results(chain, model.name, found[0])


@st.fragment
def _results(chain: Chain, model_name: str, table: np.ndarray) -> None:
    picture, warmth = st.columns([3, 1], vertical_alignment="bottom")
    with picture:
        view = st.segmented_control(
            "Picture", pictures_for(chain), default="p(true)", key="e_view", bind="query-params",
            required=True, wrap=True,
        )  # fmt: skip
    with warmth:
        temperature = st.slider(
            "Temperature", 0.2, 3.0, 1.0, 0.1, key="e_temp", bind="query-params",
            help="Divides the logits: below 1 sharper, above 1 flatter. The model is not called.",
        )  # fmt: skip
    temperature = float(np.clip(temperature, 0.2, 3.0))
    warmed = readout.at_temperature(table, temperature)
    code = words.scan_code(chain, model_name, temperature)
    _summary(chain, warmed)
    PICTURES.get(view, PICTURES["p(true)"])(chain, model_name, warmed, code)
    _take_away(chain, model_name, warmed, code)


def _summary(chain: Chain, table: np.ndarray) -> None:
    truth, nats = readout.p_true(table, chain), readout.surprise(table, chain)
    first = int(np.nansum(table.max(axis=1) == truth))
    with st.container(horizontal=True):
        st.metric("guessed first", f"{first} of {len(chain)}", width="content")
        st.metric("mean p(true)", f"{np.nanmean(truth):.3f}", width="content")
        st.metric("mean −log p(true)", f"{np.nanmean(nats):.3f}", width="content")
        st.metric(
            "pseudo-perplexity",
            words.perplexity(table, chain),
            width="content",
            help="exp of the mean −log p: among how many equally likely residues it chooses.",
        )


def _take_away(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    stem = f"{chain.cdr3_sequence or 'chain'}_{model_name}"
    with st.container(horizontal=True):
        for label, data, name in (
            ("Scan (CSV)", lambda: scan_csv(chain, table), f"{stem}.csv"),
            ("Chain (FASTA)", chain.fasta, f"{stem}.fasta"),
            ("Script (Python)", code, f"{stem}.py"),
        ):
            st.download_button(
                label, data=data, file_name=name, key=f"e_dl_{label}", on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
    if st.checkbox("Show the table", key="e_table"):
        st.dataframe(
            pd.DataFrame(scan_rows(chain, table), columns=COLUMNS).round(4),
            hide_index=True,
            alt=f"The scan, {len(chain)} rows.",
        )
