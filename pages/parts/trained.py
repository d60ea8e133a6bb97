"""Trained reverse models that this installation holds: the recorded run's, and visitors' runs'."""

from pathlib import Path

import streamlit as st

from core.settings import ASSETS, read_settings
from pages.parts.links import check_link

RECORDED = ASSETS / "recorded_paper_run.pt"
RECORDED_RUN = ("Recorded paper run", RECORDED)


def choose_trained(key: str = "f_run") -> tuple[str, Path] | None:
    """Title and file of the run whose weights are read, or None and a sentence without any."""
    known = _known()
    check_link({key: known}, **{key: "trained run"})
    if not known:
        st.info(
            "There is no trained model here yet. Train one (the sprint takes seconds), then come "
            "back.",
            icon=":material/model_training:",
        )
        st.page_link("pages/training.py", label="Go to training")
        return None
    chosen = st.selectbox(
        "Trained run: its number, or the recorded one",
        list(known),
        key=key,
        bind="query-params",
    )
    return known.get(chosen) or next(iter(known.values()))


def _known() -> dict[str, tuple[str, Path]]:
    """Key in the URL -> title and file. Run numbers only: no path comes from outside."""
    from core.runs import store
    from core.runs.supervisor import Supervisor, checkpoint_folder

    known = {"recorded": RECORDED_RUN} if RECORDED.is_file() else {}
    supervisor = Supervisor(read_settings())
    if not supervisor.path.is_file():
        return known
    with supervisor.reading() as db:
        runs = store.newest(db)
    for run in runs:
        file = checkpoint_folder(supervisor.settings, run.id) / "last.pt"
        if file.is_file():
            known[str(run.id)] = (f"Run {run.id}: {run.name} ({run.state})", file)
    return known


def readable(file: Path) -> str:
    """The file as a snippet names it: within the repository, or as the training page gives it."""
    return f"assets/{file.name}" if file == RECORDED else file.name
