"""The pictures of one run: curves, the string being reversed, and the attention maps.

Every chart is Vega with a key, so that a redraw changes it in place.
"""

import numpy as np
import pyarrow as pa
import streamlit as st

from core.figures.training_antidiagonal import antidiagonal_chart
from core.figures.training_letters import letter_film
from core.figures.training_live import LiveChart, exact_chart, learning_rate_chart, loss_chart
from core.figures.training_maps import all_heads, one_head
from core.runs import published
from core.training.events import Sampled
from core.training.recipe import Recipe
from core.written import percent
from pages.parts.training.scene import Scene

FILM_ROWS = 5
INK = {"light": "#1b2430", "dark": "#e8edf3"}

NEAR = "r_near"
_WHILE_MOVING = {
    "loss": "Loss by step",
    "exact": "Share right on held-out strings by step",
    "antidiagonal": "Anti-diagonal average of each layer by step",
    "rate": "Learning rate by step",
    "letters": "What the model makes of the watched string at some steps",
    "heads": "Cross-attention of every layer and head",
    "one_head": "Cross-attention of one head",
}


def loss(scene: Scene, step: int, alive: bool) -> None:
    """The loss by step; `alive` while more is to come, otherwise it can be zoomed."""
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
    _draw(chart, "loss", alive)


def _loss_words(scene: Scene) -> str:
    words = "Loss by step, thin: raw, thick: smoothed"
    floor = scene.about.get("smoothing_floor")
    if floor is not None:
        words += f"; dashed: **floor {floor:.3f}**, which label smoothing leaves"
    return words + ("; ◇ published" if published.losses_for(scene.recipe) else "")


def small_curves(scene: Scene, step: int, alive: bool) -> None:
    """Share right on held-out strings, anti-diagonal average, and learning rate, by step."""
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
        _draw(chart, "exact", alive)
    with right:
        _antidiagonal(scene, alive)
    st.caption("Learning rate: warm-up, then decay")
    kept = scene.drawn
    chart = learning_rate_chart(view.steps[kept], view.learning_rates[kept], last=last)
    _draw(chart, "rate", alive)


def _antidiagonal(scene: Scene, alive: bool) -> None:
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
    _draw(chart, "antidiagonal", alive)


def _exact_words(scene: Scene, step: int) -> str:
    found = [event for event in scene.view.evaluations if event.step <= step]
    if not found:
        return f"Of {scene.watch.held_out:,} held-out strings: not tried yet"
    return (
        f"**{found[-1].exact:,} of {found[-1].of:,}** held-out strings exact "
        f"(● strings, ▲ letters) at step {found[-1].step:,}"
    )


def letters(scene: Scene, step: int, alive: bool) -> None:
    """What the model made of the watched string at a few steps, letter by letter."""
    samples = [sample for sample in scene.view.samples if sample.step <= step]
    expected = samples[-1].expected if samples else scene.watch.string[::-1]
    st.caption(
        f"**{scene.watch.string}** read backwards: {_in_place(samples)}✓ green: right, ✗ red: wrong"
    )
    film(samples, expected, "letters", alive)


def film(samples: list[Sampled], expected: str, key: str, alive: bool) -> None:
    """A row of letters for a few of the samples, right ones green, wrong ones red."""
    chosen = _spread(samples)
    chart = letter_film(
        [sample.step for sample in chosen],
        [sample.decoded for sample in chosen],
        expected,
        samples=FILM_ROWS,
        ink=INK.get(st.context.theme.type or "light", INK["light"]),
    )
    _draw(chart, key, alive)


def _in_place(samples: list[Sampled]) -> str:
    if not samples:
        return ""
    right = sum(samples[-1].right[: len(samples[-1].expected)])
    return f"**{right} of {len(samples[-1].expected)}** in place; "


def _spread(samples: list[Sampled]) -> list[Sampled]:
    """A few samples spread over the run so far, the newest last."""
    if len(samples) <= FILM_ROWS:
        return samples
    # Spaced by powers, because most letters are learnt early.
    at = np.unique(((np.linspace(0, 1, FILM_ROWS) ** 1.5) * (len(samples) - 1)).astype(int))
    return [samples[i] for i in at]


def maps(scene: Scene, step: int, alive: bool) -> None:
    """Cross-attention on the watched string: all heads, or the chosen one from near."""
    snapshot = scene.snapshot_at(step)
    if snapshot is None:
        there_is = scene.recipe.cross_attention
        st.caption(
            "Cross-attention: there is no snapshot of this run yet."
            if there_is
            else "This model has no cross-attention to show."
        )
        return
    beside = f"{published.words_for(scene.recipe)}: {percent(published.ANTIDIAGONAL_OF_LAST_LAYER)}"
    st.caption(
        f"Cross-attention at step {snapshot.step:,}: the last layer puts "
        f"**{percent(snapshot.antidiagonal[-1])}** on the anti-diagonal ({beside})"
    )
    near = _choose_head(scene.recipe)
    if near is None:
        _draw(all_heads(snapshot.weights, snapshot.antidiagonal), "heads", alive)
        return
    layer, head = near
    chart = one_head(
        snapshot.weights[layer, head],
        snapshot.rows,
        snapshot.columns,
        name=f"layer {layer + 1}, head {head + 1} at step {snapshot.step:,}",
    )
    _draw(chart, "one_head", alive)


def heads_of(recipe: Recipe) -> dict[str, tuple[int, int] | None]:
    """What can be looked at: all heads, or one layer and head, counted from 0."""
    each = np.ndindex(recipe.num_layers, recipe.num_heads)
    return {"all heads": None, **{f"layer {n + 1}, head {h + 1}": (n, h) for n, h in each}}


def _choose_head(recipe: Recipe) -> tuple[int, int] | None:
    heads = heads_of(recipe)
    chosen = st.selectbox(
        "Heads", list(heads), key=NEAR, bind="query-params", label_visibility="collapsed"
    )
    return heads[chosen]


def _draw(chart: LiveChart, key: str, alive: bool) -> None:
    # The browser builds a chart anew when its alt text changes, so while a chart moves the text
    # stands still, and the numbers are in the captions.
    alt = chart.alt
    if alive:
        alt = f"{_WHILE_MOVING[key]}, while it is being trained; the newest numbers are beside it."
    # An Arrow table, because that is what is sent: by way of pandas a tick costs twice as much.
    st.vega_lite_chart(pa.table(chart.columns), chart.spec, key=f"live_{key}", alt=alt)
