"""Starting and steering runs. Whether it is allowed is decided in `core.runs.supervisor`."""

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.runs import store
from core.runs.run import ACTIVE, CUT_SHORT, WAITING, Run
from core.runs.supervisor import NO_CHECKPOINT, Supervisor
from core.training.recipe import Recipe, Watch
from pages.parts.training.recipe_form import recipe_form
from pages.parts.training.scene import play_again
from pages.parts.visitor import enter_key, key_for, visitor_key

_SAID, _DONE = "_training_said", "_training_done"
ONE_CLICK = 1.5
LONGEST_WAIT = 1.0
SAME_WIDTH = 125


def start_bar(supervisor: Supervisor, watched: str) -> None:
    """Recipe, settings and the Start button, in one row that wraps on a phone."""
    row, below = st.container(horizontal=True, vertical_alignment="center"), st.container()
    with row:
        recipe = recipe_form(below)
        st.button(
            "Start",
            icon=":material/play_arrow:",
            key="start_run",
            disabled=recipe is None or supervisor.settings.max_running < 1,
            on_click=_start,
            args=(supervisor, recipe, watched),
        )


def say_what_happened() -> None:
    """Show, once, why the last click was refused."""
    said = st.session_state.pop(_SAID, None)
    if said:
        st.error(said, icon=":material/error:")


def steering(supervisor: Supervisor, run: Run | None) -> None:
    """Pause, resume, stop, save, go on: only what makes sense in the run's state."""
    if run is None:
        st.button("Play again", on_click=play_again, icon=":material/replay:", key="play_again")
        return
    mine = supervisor.may_change(run, key_for(supervisor, run))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, icon, action in _possible(supervisor, run):
            # Pause and Resume are equally wide, so that Stop never moves away under a click.
            width = SAME_WIDTH if label in ("Pause", "Resume") else "content"
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{label.lower().replace(' ', '_')}_{run.id}",
                width=width,
                disabled=not mine,
                help=None if mine else "Only whoever started this run may do this.",
                on_click=once,
                args=(f"{label} {run.id}", action),
            )
        if not mine:
            _key_box(supervisor, run)
    if supervisor.lacks_checkpoint(run):
        st.caption(NO_CHECKPOINT)


def _possible(supervisor: Supervisor, run: Run) -> list[tuple[str, str, Callable[[], Any]]]:
    key = key_for(supervisor, run)

    def ask(command: str) -> Callable[[], None]:
        return lambda: _command(supervisor, run.id, command, key)

    if run.state in WAITING:
        return [("Leave the queue", "stop", ask("stop"))]
    if run.state in ACTIVE:
        pause = ("Resume", "play_arrow", ask("resume"))
        if run.state != "paused":
            pause = ("Pause", "pause", ask("pause"))
        return [pause, ("Stop", "stop", ask("stop")), ("Save", "save", ask("save"))]
    if run.state in CUT_SHORT and not supervisor.lacks_checkpoint(run):
        label = "Go on from the last checkpoint" if run.started else "Queue it again"
        return [(label, "resume", lambda: _go_on(supervisor, run.id, key))]
    return []


def _command(supervisor: Supervisor, run_id: int, command: str, key: str) -> None:
    # Read now: since the buttons were drawn a starting run may have begun to run.
    before = _state(supervisor, run_id)
    supervisor.command(run_id, command, key)
    if command != "save":
        _wait_while(supervisor, run_id, before)


def _go_on(supervisor: Supervisor, run_id: int, key: str) -> None:
    supervisor.go_on(run_id, key)
    _wait_while(supervisor, run_id, "queued", "starting")


def _wait_while(supervisor: Supervisor, run_id: int, *states: str | None) -> None:
    """Wait a moment for another state, so that the page shows what was asked for as done."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until and _state(supervisor, run_id) in states:
        time.sleep(0.05)


def _state(supervisor: Supervisor, run_id: int) -> str | None:
    with supervisor.reading() as db:
        run = store.get(db, run_id)
    return run.state if run else None


def _key_box(supervisor: Supervisor, run: Run) -> None:
    with st.popover("Not your run?", icon=":material/key:"):
        st.text_input(
            "Key of its starter or of this installation",
            key="key_box",
            type="password",
            on_change=_enter,
            args=(supervisor, run),
            help="Every visitor's own key is shown under “Runs”.",
        )


def _enter(supervisor: Supervisor, run: Run) -> None:
    key = st.session_state["key_box"]
    if key.strip() and not enter_key(supervisor, run, key):
        st.session_state[_SAID] = "This key does not open this run."


def _start(supervisor: Supervisor, recipe: Recipe | None, watched: str) -> None:
    if recipe is None:
        return
    watch = watch_for(recipe, watched)
    # Twice at the same moment, too: a session whose redraw is cut short remembers nothing.
    run_id = once(
        "start", lambda: supervisor.start(recipe, watch, visitor_key(), once_within=ONE_CLICK)
    )
    if run_id is not None:
        st.session_state["run"] = str(run_id)
        st.session_state["r_follow"] = True


def watch_for(recipe: Recipe, watched: str) -> Watch:
    """Look 50 times at a run of any length, and evaluate 6 times, which takes longer."""
    return Watch(
        string=watched,
        evaluate_every=max(1, recipe.steps // 6),
        sample_every=max(1, recipe.steps // 50),
        snapshot_every=max(1, recipe.steps // 50),
        save_every=max(1, recipe.steps // 10),
    )


def once(what: str, action: Callable[[], Any]) -> Any:
    """Do what was clicked and give its result, or keep the sentence that says why not.

    A browser may deliver one click twice: with a redraw that was due, and then by itself. The
    second time nothing is done, and the result is the first one's.
    """
    done, at, result = st.session_state.get(_DONE, ("", 0.0, None))
    if done == what and time.monotonic() - at < ONE_CLICK:
        return result
    result = None
    try:
        result = action()
    except ValueError as problem:
        st.session_state[_SAID] = str(problem)
    st.session_state[_DONE] = (what, time.monotonic(), result)
    return result
