"""What is on stage of the training page: a live run, one that is over, or the recorded one."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import streamlit as st

from core.runs import history, recorded, store
from core.runs.curves import smooth, smoothing_for, thin
from core.runs.database import FILE_NAME, is_writable
from core.runs.run import ACTIVE, WAITING, Run
from core.runs.supervisor import CHECKPOINT, Supervisor, checkpoint_folder
from core.runs.view import View, follow, until
from core.settings import read_settings
from core.training.events import Snapshot
from core.training.recipe import Recipe, Watch
from pages.parts.links import plain
from pages.parts.trained import RECORDED

REPLAY_SECONDS = 20.0
MOST_LISTED = 50
STEP = "r_step"  # the step in the address; without it the newest is shown
_HELD, _REPLAY_FROM = "_held_view", "_replay_from"


@dataclass(frozen=True, eq=False)
class Scene:
    """All that the live view draws, wherever it comes from.

    `run` is None for the recorded run; `moving` says whether more is to come.
    """

    name: str
    state: str
    recipe: Recipe
    watch: Watch
    about: dict[str, Any]
    view: View
    snapshot_at: Callable[[int], Snapshot | None]
    moving: bool
    run: Run | None = None
    place: int | None = None
    warm: bool = True
    trouble: str | None = None
    not_saved: str | None = None

    @property
    def age(self) -> float:
        """Seconds since a worker first took the run; 0 while it waits."""
        return time.time() - self.run.started if self.run and self.run.started else 0.0

    @cached_property
    def smoothed(self) -> np.ndarray:
        """The loss smoothed over a 200th of the run, one value per step."""
        return smooth(self.view.losses, smoothing_for(self.recipe.steps))

    @cached_property
    def drawn(self) -> np.ndarray:
        """Which steps are drawn: few enough for a browser, every spike among them."""
        return thin(self.view.steps, self.view.losses)


def supervisor_here() -> Supervisor:
    """The runs of this installation; none, and a sentence, where its folder cannot be written."""
    settings = read_settings()
    if not is_writable(settings.data_folder / FILE_NAME):
        st.warning(
            "The folder for runs cannot be written, so nothing is trained here and the recorded "
            "run plays. Set `ONE_RECEPTOR_DATA` to a folder that can be.",
            icon=":material/folder_off:",
        )
        nowhere = Path(gettempdir()) / "one_receptor_without_runs"
        settings = replace(settings, data_folder=nowhere, max_running=0)
    return Supervisor(settings)


def say_what_is_missing(supervisor: Supervisor) -> None:
    """A sentence when the address names a run that is not there."""
    if st.query_params.get("run", "latest") not in _options(supervisor):
        st.warning("The link names a run that is not here (any more); showing the latest.")


def _options(supervisor: Supervisor) -> list[str]:
    """What the address may name: the newest runs, and an older one if it names that."""
    with supervisor.reading() as db:
        known = [str(run.id) for run in store.newest(db, MOST_LISTED)]
        asked = st.query_params.get("run", "latest")
        if (
            asked.isdecimal()
            and len(asked) < 16
            and asked not in known
            and store.get(db, int(asked))
        ):
            known.append(asked)
    return ["latest", "recorded", *known]


def choose_run(supervisor: Supervisor) -> int | None:
    """The box that says which run is shown; its number, or None for the recorded run."""
    with supervisor.reading() as db:
        latest = store.latest_id(db)
    chosen = st.selectbox(
        "Run shown",
        _options(supervisor),
        key="run",
        bind="query-params",
        on_change=forget_step,
        help="Copy the page's address to share this run; “latest” is always the newest.",
        width=150,
        label_visibility="collapsed",
    )
    if chosen == "recorded" or (chosen == "latest" and latest is None):
        return None
    return latest if chosen == "latest" else int(chosen)


def scene_of(supervisor: Supervisor, run_id: int | None) -> Scene | None:
    """The scene of this moment; None when the run was deleted meanwhile."""
    return recorded_scene() if run_id is None else _run_scene(supervisor, run_id)


def weights_of(supervisor: Supervisor, scene: Scene) -> Path:
    """The newest saved weights of what is shown; the file may not be there (yet)."""
    if scene.run is None:
        return RECORDED
    return checkpoint_folder(supervisor.settings, scene.run.id) / CHECKPOINT


def recorded_scene() -> Scene:
    """The recorded run as far as its replay has come."""
    recording = recorded.load()
    # Who asks for a step does not want to wait for it.
    played_before = REPLAY_SECONDS if STEP in st.query_params else 0.0
    began = st.session_state.setdefault(_REPLAY_FROM, time.time() - played_before)
    played = time.time() - began
    step = recorded.step_at(recording.view, played, REPLAY_SECONDS)
    return Scene(
        name="Recorded run",
        state="recorded",
        recipe=Recipe.from_dict(recording.started.recipe),
        watch=Watch.from_dict(recording.started.watch),
        about={
            "device": recording.started.device,
            "device_name": recording.started.device_name,
            "threads": recording.started.threads,
            "smoothing_floor": recording.started.smoothing_floor,
            "parameters": recording.started.parameters,
        },
        view=until(recording.view, step),
        snapshot_at=recording.snapshot_at,
        moving=played < REPLAY_SECONDS,
    )


def play_again() -> None:
    st.session_state[_REPLAY_FROM] = time.time()
    st.session_state["r_follow"] = True


def forget_step() -> None:
    """Take the step out of the address: the newest is shown again."""
    st.query_params.pop(STEP, None)


def _run_scene(supervisor: Supervisor, run_id: int) -> Scene | None:
    with supervisor.reading() as db:
        run = store.get(db, run_id)
        if run is None:
            return None
        held_id, held = st.session_state.get(_HELD, (None, None))
        view = follow(db, run, held if held_id == run_id else None)
        place, not_saved = store.place(db, run_id), history.not_saved(db, run_id)
    st.session_state[_HELD] = (run_id, view)

    def snapshot_at(step: int) -> Snapshot | None:
        with supervisor.reading() as db:
            return history.snapshot_at(db, run_id, step)

    return Scene(
        name=plain(run.name),
        state=run.state,
        recipe=run.recipe,
        watch=run.watch,
        about=run.about,
        view=view,
        snapshot_at=snapshot_at,
        moving=run.state in WAITING + ACTIVE,
        run=run,
        place=place,
        warm=place is None or supervisor.is_warm(),
        trouble=None if place is None else supervisor.trouble(),
        not_saved=not_saved,
    )
