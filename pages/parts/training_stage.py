"""The live view: curves, the string being reversed, and the attention maps of one run."""

import time

import numpy as np
import pyarrow as pa
import streamlit as st

from core.figures.training_live import (
    LiveChart,
    exact_chart,
    learning_rate_chart,
    letter_film,
    loss_chart,
)
from core.figures.training_maps import all_heads, antidiagonal_chart, one_head
from core.runs import published
from core.runs.curves import pace
from core.runs.supervisor import Supervisor
from core.training.events import Sampled, Snapshot
from pages.parts.recipe_form import taken_away
from pages.parts.training_scene import Scene, scene_of

FILM_ROWS = 5
QUICK, CALM, NEW_FOR = 0.5, 1.5, 30.0


def stage(supervisor: Supervisor, run_id: int | None, *, following: bool) -> None:
    """Draw the run; while it moves and is followed, draw it again twice a second."""
    scene = scene_of(supervisor, run_id)
    if scene is None:
        st.info("This run was deleted.")
        return
    every = _redraw_every(scene) if following else None
    st.fragment(_act, run_every=every)(supervisor, run_id, every, _buttons_for(scene))


def _redraw_every(scene: Scene) -> float | None:
    """Seconds between two redraws: often while everything is new, then rarely, never at the end."""
    if not scene.moving:
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
    _status(scene)
    left, right = st.columns([4, 3], gap="medium")
    with left:
        curve = st.container()  # above the slider that decides what it shows
        step = scene.view.last_step if alive else _scrub(scene)
        with curve:
            _loss(scene, step, alive)
        _small_curves(scene, step)
    with right:
        _letters(scene, step)
        _maps(scene, step)


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
        words.append(f"{vitals['utilisation']:.0%} of a core")
    if vitals.get("gpu_utilisation") is not None:
        words.append(f"GPU {vitals['gpu_utilisation']:.0%} busy")
    if scene.run and scene.run.dropped:
        words.append(f"{scene.run.dropped:,} rows lost, because the disk refused them")
    return words


def _scrub(scene: Scene) -> int:
    """A slider over the recorded snapshots; the step to show, the last one at first."""
    steps = [step for step, _ in scene.view.trail]
    if len(steps) < 2:
        return scene.view.last_step
    chosen: int = st.select_slider(
        "Go back to step",
        steps,
        value=steps[-1],
        key=f"scrub_{scene.run.id if scene.run else 'recorded'}_{len(steps)}",
    )
    return chosen


def _loss(scene: Scene, step: int, alive: bool) -> None:
    view, last = scene.view, scene.recipe.steps
    kept = scene.drawn
    chart = loss_chart(
        view.steps[kept],
        view.losses[kept],
        scene.smoothed[kept],
        last=last,
        floor=scene.about.get("smoothing_floor"),
        published=published.losses_for(scene.recipe),
        marked=None if alive or step == view.last_step else step,
        zoom=not alive,
    )
    st.caption(_loss_words(scene))
    _draw(chart, "loss")


def _loss_words(scene: Scene) -> str:
    words = "Loss by step, thin: raw, thick: smoothed"
    floor = scene.about.get("smoothing_floor")
    if floor is not None:
        words += f"; dashed: **floor {floor:.3f}**, which label smoothing leaves"
    return words + ("; ◇ published" if published.losses_for(scene.recipe) else "")


def _small_curves(scene: Scene, step: int) -> None:
    view, last = scene.view, scene.recipe.steps
    found = view.evaluations
    left, right = st.columns(2)
    with left:
        chart = exact_chart(
            np.array([event.step for event in found], dtype=int),
            np.array([event.exact / event.of for event in found], dtype=float),
            np.array([event.letters_right for event in found], dtype=float),
            last=last,
        )
        st.caption(_exact_words(scene, step))
        _draw(chart, "exact")
    with right:
        _antidiagonal(scene)
    st.caption("Learning rate: warm-up, then decay")
    kept = scene.drawn
    _draw(learning_rate_chart(view.steps[kept], view.learning_rates[kept], last=last), "rate")


def _antidiagonal(scene: Scene) -> None:
    trail = scene.view.trail
    steps = np.array([step for step, _ in trail], dtype=int)
    shares = np.array([shares for _, shares in trail], dtype=float)
    shares = shares.reshape(len(steps), scene.recipe.num_layers)
    st.caption("Anti-diagonal average of each layer; dashed grey: published for the last")
    chart = antidiagonal_chart(
        steps,
        shares,
        last=scene.recipe.steps,
        published=published.ANTIDIAGONAL_OF_LAST_LAYER,
    )
    _draw(chart, "antidiagonal")


def _exact_words(scene: Scene, step: int) -> str:
    found = [event for event in scene.view.evaluations if event.step <= step]
    if not found:
        return f"Of {scene.watch.held_out:,} held-out strings: not tried yet"
    return (
        f"**{found[-1].exact:,} of {found[-1].of:,}** held-out strings exact "
        f"(● strings, ▲ letters) at step {found[-1].step:,}"
    )


def _letters(scene: Scene, step: int) -> None:
    samples = [sample for sample in scene.view.samples if sample.step <= step]
    chosen = _spread(samples)
    expected = samples[-1].expected if samples else scene.watch.string[::-1]
    st.caption(f"**{scene.watch.string}** read backwards (✓ green: right, ✗ red: wrong)")
    film = letter_film(
        [sample.step for sample in chosen], [sample.decoded for sample in chosen], expected
    )
    _draw(film, "letters")


def _spread(samples: list[Sampled]) -> list[Sampled]:
    """A few samples spread over the run so far, the newest last."""
    if len(samples) <= FILM_ROWS:
        return samples
    # Spaced by powers, because most letters are learnt early.
    at = np.unique(((np.linspace(0, 1, FILM_ROWS) ** 1.5) * (len(samples) - 1)).astype(int))
    return [samples[i] for i in at]


def _maps(scene: Scene, step: int) -> None:
    snapshot = scene.snapshot_at(step)
    if snapshot is None:
        there_is = scene.recipe.cross_attention
        st.caption(
            "Cross-attention: there is no snapshot of this run yet."
            if there_is
            else "This model has no cross-attention to show."
        )
        return
    share = snapshot.antidiagonal[-1]
    st.caption(
        f"Cross-attention at step {snapshot.step:,}: the last layer puts **{share:.0%}** on the "
        f"anti-diagonal (published: {published.ANTIDIAGONAL_OF_LAST_LAYER:.0%})"
    )
    near = _choose_head(snapshot)
    if near is None:
        _draw(all_heads(snapshot.weights, snapshot.antidiagonal), "heads")
        return
    layer, head = near
    chart = one_head(
        snapshot.weights[layer, head],
        snapshot.rows,
        snapshot.columns,
        name=f"layer {layer + 1}, head {head + 1} at step {snapshot.step:,}",
    )
    _draw(chart, "one_head")


def _choose_head(snapshot: Snapshot) -> tuple[int, int] | None:
    """All heads (None), or the layer and head to look at from near, counted from 0."""
    layers, heads = snapshot.weights.shape[:2]
    names = {
        f"layer {layer + 1}, head {head + 1}": (layer, head)
        for layer in range(layers)
        for head in range(heads)
    }
    chosen = st.selectbox(
        "Heads",
        ["all heads", *names],
        key="r_near",
        bind="query-params",
        label_visibility="collapsed",
    )
    return names.get(chosen)


def _draw(chart: LiveChart, key: str) -> None:
    # An Arrow table, because that is what is sent: by way of pandas a tick costs twice as much.
    st.vega_lite_chart(pa.table(chart.columns), chart.spec, key=f"live_{key}", alt=chart.alt)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
