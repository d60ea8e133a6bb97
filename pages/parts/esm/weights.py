"""Getting a model: at once, or loaded when its weights are here, or an offer to download them."""

import sys
from typing import TYPE_CHECKING

import streamlit as st

from core.protein.cards import TRB_MINI, WeightsError, model_card
from core.settings import read_settings
from pages.parts.background import Job
from pages.parts.links import plain
from pages.parts.loaded_models import downloads, loading, mini_in_numpy, protein_model

if TYPE_CHECKING:
    from core.protein.guess import Guesser
    from core.protein.model import LanguageModel

_MB, _ASKED, _OFFERED = 1_000_000, "_e_asked", "_e_offered"


def guesser(name: str, *, key: str) -> "Guesser | None":
    """What guesses under this name, or None after saying what is missing."""
    if name != TRB_MINI.name:
        return model_or_offer(name, key=key)
    try:
        return mini_in_numpy()
    except WeightsError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return None


def ready() -> bool:
    """Whether PyTorch is in this process, without which there is little below the guess."""
    return "torch" in sys.modules


@st.fragment(run_every=1)
def await_model(name: str) -> None:
    """Load the model, and show the sections once it is there.

    Begun when the browser asks again: by then it has the guess, which importing PyTorch would
    hold up.
    """
    st.caption("Loading what these sections need …")
    if not st.session_state.get(_ASKED):
        st.session_state[_ASKED] = True
    elif not loading(name).running:
        st.rerun()


def loaded_model(name: str) -> "LanguageModel | None":
    """The model for all that needs PyTorch, or None with a word when it is not here."""
    try:
        if _weights(name).found:
            return protein_model(name)
    except WeightsError:
        pass  # said where the guess would stand
    st.caption("These sections open as soon as the model is here.")
    return None


def model_or_offer(name: str, *, key: str) -> "LanguageModel | None":
    """The model, or None after saying what is missing and offering to fetch it."""
    try:
        with st.spinner("Starting the model …"):
            found = _weights(name).found
        if found:
            if st.session_state.pop(_OFFERED, None) == name:
                st.rerun()  # what stands below has not heard of it yet
            return protein_model(name)
    except WeightsError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return None
    st.session_state[_OFFERED] = name
    _offer(name, key)
    return None


def _weights(name: str):
    # Imported here because it loads torch, which the rest of the page can do without.
    from core.protein.weights import available_models

    return next(model for model in available_models() if model.name == name)


def _offer(name: str, key: str) -> None:
    weights = _weights(name)
    st.info(
        f"The weights of {weights.label} are not on this machine: about "
        f"{weights.size_bytes / _MB:,.0f} MB, {weights.card.parameters / 1e6:,.1f} million "
        f"numbers. They would go to {weights.destination}.",
        icon=":material/cloud_download:",
    )
    if read_settings().offline:
        st.caption(
            "ONE_RECEPTOR_OFFLINE is set, so nothing is downloaded. Put the file "
            f"{weights.card.file} in that folder, or choose TRB-mini, which is here."
        )
        return
    job, watched = downloads().get(name), f"_e_download_{name}"
    if job is not None and job.running:
        st.session_state[watched] = job
        st.fragment(_watch, run_every=0.5)(job, key)
        return
    _explain_end(st.session_state.get(watched))
    label = f"Download {weights.label} ({weights.size_bytes / _MB:,.0f} MB)"
    if st.button(label, key=f"e_get_{key}_{name}", icon=":material/download:"):
        job = Job(lambda: _download(name, weights.destination))
        downloads()[name] = st.session_state[watched] = job
        st.rerun()
    st.caption("Until then TRB-mini answers; choose it above.")


def _explain_end(job: Job | None) -> None:
    if job is not None and job.error is not None:
        st.error(plain(str(job.error)), icon=":material/error:")
    elif job is not None and job.cancelled:
        st.caption("Cancelled; nothing was kept.")


def _download(name: str, destination):
    from core.protein.download import download_steps

    return download_steps(model_card(name), destination, offline=read_settings().offline)


def _watch(job: Job, key: str) -> None:
    if not job.running:
        st.rerun()
    step = job.latest
    if step is None:
        st.progress(0.0, text="Connecting …")
    elif step.total:
        left = job.seconds * (step.total - step.done) / max(step.done, 1)
        text = f"{step.done / _MB:,.0f} of {step.total / _MB:,.0f} MB, about {left:.0f} s left"
        st.progress(min(step.done / step.total, 1.0), text=text)
    else:
        st.progress(0.0, text=f"{step.done / _MB:,.0f} MB so far")
    st.button("Cancel", key=f"e_stop_{key}", icon=":material/stop:", on_click=job.cancel)
