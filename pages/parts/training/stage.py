"""The live view: curves, the string being reversed, and the attention maps of one run."""

import time

import streamlit as st

from core.runs import store
from core.runs.curves import pace
from core.runs.supervisor import Supervisor
from core.written import percent
from pages.parts.training.pictures import letters, loss, maps, small_curves
from pages.parts.training.recipe_form import taken_away
from pages.parts.training.scene import STEP, Scene, forget_step, scene_of

QUICK, BRIEF, CALM, IDLE, NEW_FOR = 0.5, 1.0, 2.0, 5.0, 30.0


def stage(
    supervisor: Supervisor, run_id: int | None, scene: Scene | None, *, following: bool
) -> None:
    """Draw the run; while it moves and is followed, draw it again and again.

    `scene` is the one that the buttons were drawn for: taken anew here, it might differ from
    them, and they would stay behind.
    """
    if scene is None:
        st.info("This run was deleted.")
        return
    every = _redraw_every(scene) if following else None
    st.fragment(_act, run_every=every)(supervisor, run_id, every, _buttons_for(scene))
    if following and (every is None or scene.run is None):
        glance = BRIEF if scene.moving else IDLE
        st.fragment(_notice, run_every=glance)(supervisor, run_id, scene.state)


def _redraw_every(scene: Scene) -> float | None:
    """Seconds between two redraws: often while everything is new, then rarely.

    None at the end, and while the run is paused: what stands still can be zoomed and scrubbed.
    """
    if not scene.moving or scene.state == "paused":
        return None
    return QUICK if scene.run is None or scene.age < NEW_FOR else CALM


def _buttons_for(scene: Scene) -> str:
    """States that offer the same buttons are one: only a change of this redraws the page."""
    return "running" if scene.state == "starting" else scene.state


def _act(supervisor: Supervisor, run_id: int | None, every: float | None, buttons: str) -> None:
    alive = every is not None
    if alive and run_id is not None:
        supervisor.look(keep_warm=False)
    scene = scene_of(supervisor, run_id)
    if scene is None or (alive and (every, buttons) != (_redraw_every(scene), _buttons_for(scene))):
        st.rerun()
        return
    if alive:
        forget_step()
    # Places of their own: a bar that goes or a slider that comes would move all that follows to
    # other places, where the browser shows it twice for a moment and clicks go astray.
    with st.container():
        _status(scene)
    left, right = st.columns([4, 3], gap="medium")
    with left:
        curve = st.container()  # above the slider that decides what it shows
        with st.container():
            step = scene.view.last_step if alive else _scrub(scene)
        with curve:
            loss(scene, step, alive)
        small_curves(scene, step, alive)
    with right:
        letters(scene, step, alive)
        maps(scene, step, alive)


def _notice(supervisor: Supervisor, run_id: int | None, state: str) -> None:
    """Draw the page anew when the run shown goes on, or when another one is the latest now."""
    supervisor.look(keep_warm=False)
    with supervisor.reading() as db:
        latest = store.latest_id(db)
        run = None if run_id is None else store.get(db, run_id)
    is_over = st.session_state.get("run") == "latest" and latest != run_id
    if is_over or (run is not None and run.state != state):
        st.rerun()


def _status(scene: Scene) -> None:
    view, recipe = scene.view, scene.recipe
    done, last = view.last_step, recipe.steps
    words = [f"**{_state_words(scene)}**", f"step {done:,} of {last:,}"]
    if len(view.losses):
        words.append(f"loss {scene.smoothed[-1]:.3f}")
    rate = pace(view.steps, view.seconds, last)
    if rate.steps_per_second:
        words.append(f"{rate.steps_per_second:,.1f} steps/s")
    if scene.moving and scene.run and rate.seconds_left is not None:
        words.append(f"{_duration(rate.seconds_left)} left")
    if len(view.seconds):
        words.append(f"{_duration(float(view.seconds[-1]))} of training")
    st.markdown(" · ".join(words) + f"  \n:small[{' · '.join(_machine_words(scene))}]")
    if scene.moving:
        st.progress(min(1.0, done / last))
    for sentence in taken_away(scene.recipe):
        st.markdown(f":material/heart_broken: {sentence}")
    if scene.trouble:
        st.warning(f"No run can start at the moment. {scene.trouble}")
    if scene.not_saved:
        st.warning(scene.not_saved, icon=":material/save:")
    if scene.run and scene.run.error:
        st.error(scene.run.error, icon=":material/error:")


def _state_words(scene: Scene) -> str:
    if scene.place and not scene.warm:
        return f"{scene.name}: the training process is loading PyTorch, a few seconds"
    if scene.place:
        return f"{scene.name}: queued, place {scene.place}"
    if scene.run and scene.state in ("running", "paused", "starting") and scene.run.heartbeat:
        silent = time.time() - scene.run.heartbeat
        if silent > 5:
            return f"{scene.name}: {scene.state}, no sign of life for {_duration(silent)}"
    return f"{scene.name}: {scene.state}" if scene.run else scene.name


def _machine_words(scene: Scene) -> list[str]:
    about, words = scene.about, []
    if about:
        count = about["threads"]
        threads = f", {count} thread{'s' * (count > 1)}" if about["device"] == "cpu" else ""
        words.append(f"{about['device_name']} ({about['device']}{threads})")
    vitals = scene.run.vitals if scene.run and scene.moving else {}
    if vitals.get("memory_bytes"):
        words.append(f"{vitals['memory_bytes'] / 2**20:,.0f} MiB")
    if vitals.get("gpu_memory_bytes") is not None:
        words.append(f"GPU memory {vitals['gpu_memory_bytes'] / 2**20:,.0f} MiB")
    if vitals.get("utilisation") is not None:
        words.append(f"{percent(vitals['utilisation'])} of a core")
    if vitals.get("gpu_utilisation") is not None:
        words.append(f"GPU {percent(vitals['gpu_utilisation'])} busy")
    if scene.run and scene.run.dropped:
        words.append(f"{scene.run.dropped:,} rows lost, because the disk refused them")
    return words


def _scrub(scene: Scene) -> int:
    """A slider over the recorded snapshots; the step to show: the address's, else the newest."""
    steps = [step for step, _ in scene.view.trail]
    if len(steps) < 2:
        return scene.view.last_step
    asked = st.query_params.get(STEP)
    found = None if asked is None else _snapshot_before(steps, asked, scene.view.last_step)
    if asked is not None and found is None:
        last = scene.view.last_step
        st.warning(f"The step in the address must be a number from 1 to {last:,}; see the newest.")
    # More steps make another slider: it begins where this one was left, or at the newest.
    key = f"scrub_{scene.run.id if scene.run else 'recorded'}_{len(steps)}"
    chosen: int = st.select_slider(
        "Go back to step",
        steps,
        value=found or steps[-1],
        key=key,
        on_change=_keep_step,
        args=(key, steps[-1]),
    )
    return chosen


def _snapshot_before(steps: list[int], asked: str, last: int) -> int | None:
    """The newest snapshot at or before the step asked for; None when that is not of this run."""
    if not asked.isdecimal() or len(asked) > len(str(last)) or int(asked) > last:
        return None
    return max((step for step in steps if step <= int(asked)), default=None)


def _keep_step(key: str, newest: int) -> None:
    forget_step()
    if st.session_state[key] != newest:
        st.query_params[STEP] = str(st.session_state[key])


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
