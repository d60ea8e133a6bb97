"""The only cached resources: protein models and their downloads, one for all visitors.

The models write nothing on themselves while they run, so sharing is safe. TRB-mini guesses in
NumPy and is here at once. Everything else needs PyTorch, which takes seconds to import: it is
loaded on a thread of its own, when a page first asks for it and not before.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.background import Job

if TYPE_CHECKING:
    from core.protein.download import DownloadProgress
    from core.protein.in_numpy import NumpyModel
    from core.protein.model import LanguageModel


@st.cache_resource(show_spinner=False)
def mini_in_numpy() -> "NumpyModel":
    """TRB-mini without PyTorch. Raises core.protein.cards.WeightsError with a sentence."""
    from threadpoolctl import threadpool_limits

    from core.protein.in_numpy import trb_mini

    # Every visitor has a thread; several for one small product would wait for one another.
    threadpool_limits(1, user_api="blas")
    return trb_mini()


@st.cache_resource(show_spinner=False)
def downloads() -> "dict[str, Job[DownloadProgress]]":
    """The last download of each model: whoever opens the page sees the one that runs."""
    return {}


@st.cache_resource(max_entries=2, show_spinner=False)
def loading(name: str) -> "Job[LanguageModel]":
    """The loading of the model `name`, begun by whoever asks first; `latest` is the model."""
    return Job(lambda: _load(name))


def _load(name: str) -> "Iterator[LanguageModel]":
    from core.protein.weights import load

    yield load(name)


def protein_model(name: str = "trb-mini") -> "LanguageModel":
    """The loaded model `name`, waited for. Raises WeightsError with a sentence."""
    job = loading(name)
    if job.running:
        with st.spinner("Loading the model …"):
            job.wait()
    if job.latest is None:
        loading.clear(name)  # the file may be put right
        raise job.error or RuntimeError(f"{name} was not loaded.")
    return job.latest
