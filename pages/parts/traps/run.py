"""One run of the reverse task, small: its number, its curve, its string being reversed."""

import pandas as pd
import streamlit as st

from core.figures.training_letters import letter_film
from core.figures.training_live import LiveChart, loss_chart
from core.runs import store
from core.runs.curves import pace, smooth, smoothing_for, thin
from core.runs.store import Run
from core.runs.supervisor import Supervisor
from core.runs.view import View, follow

FILM_ROWS = 4


def watch(supervisor: Supervisor, run_id: int, was_over: bool) -> None:
    """Redrawn every second while the run moves, once more when it ends."""
    if not was_over:
        supervisor.look()
    with supervisor.reading() as db:
        run = store.get(db, run_id)
        view = follow(db, run) if run is not None else None
    if run is None or view is None or run.is_over != was_over:
        st.rerun()
        return
    _status(run, view)
    left, right = st.columns([3, 3])
    with left:
        _draw(_curve(run, view), "traps_loss")
    with right:
        _draw(_film(run, view), "traps_letters")
    st.page_link(
        "pages/training.py",
        label="See this run in full on the training page",
        icon=":material/show_chart:",
        query_params={"run": str(run.id)},
    )


def _status(run: Run, view: View) -> None:
    found = view.evaluations[-1] if view.evaluations else None
    number = f"{found.exact:,} of {found.of:,}" if found else "Not yet tested: how many"
    st.markdown(f"#### {number} held-out strings reversed exactly")
    words = [f"**{run.state}**", f"step {view.last_step} of {run.recipe.steps}"]
    left = pace(view.steps, view.seconds, run.recipe.steps).seconds_left
    if left is not None and not run.is_over:
        words.append(f"{left:.0f} s left")
    st.markdown(" · ".join(words))
    if not run.is_over:
        st.progress(min(1.0, view.last_step / run.recipe.steps))
    if run.error:
        st.error(run.error)


def _curve(run: Run, view: View) -> LiveChart:
    kept = thin(view.steps, view.losses)
    smoothed = smooth(view.losses, smoothing_for(run.recipe.steps))
    return loss_chart(
        view.steps[kept],
        view.losses[kept],
        smoothed[kept],
        last=run.recipe.steps,
        floor=run.about.get("smoothing_floor"),
    )


def _film(run: Run, view: View) -> LiveChart:
    """A few of the samples, the last one among them."""
    samples = view.samples
    step = max(1, len(samples) // FILM_ROWS)
    chosen = [*samples[:-1:step][: FILM_ROWS - 1], *samples[-1:]]
    target = run.watch.string[::-1]
    return letter_film([s.step for s in chosen], [s.decoded for s in chosen], target)


def _draw(chart: LiveChart, key: str) -> None:
    st.vega_lite_chart(pd.DataFrame(chart.columns), chart.spec, key=key, alt=chart.alt)
