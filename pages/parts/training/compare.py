"""The curves of several runs in one figure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.training_compare import overlay
from core.runs.curves import smooth, smoothing_for, thin
from core.runs.run import Run
from core.runs.supervisor import Supervisor
from core.runs.view import View, follow
from pages.parts.downloads import show_figure


def compare(supervisor: Supervisor, runs: list[Run]) -> None:
    """Loss or exactness of these runs, by step or by second of training."""
    with supervisor.reading() as db:
        views = [follow(db, run) for run in runs]
    with st.container(horizontal=True):
        what = _one_of("Compare", ["Loss", "Exact"], "r_compare")
        against = _one_of("against", ["Steps", "Seconds"], "r_against")
    curves = [
        _loss_curve(run, view) if what == "Loss" else _exact_curve(run, view)
        for run, view in zip(runs, views, strict=True)
    ]
    label = "Smoothed loss (nats per letter)" if what == "Loss" else "Held-out strings exact"
    by_seconds = against == "Seconds"
    figure = overlay(
        [curve.name for curve in curves],
        [curve.seconds if by_seconds else curve.steps.astype(float) for curve in curves],
        [curve.values for curve in curves],
        title=label,
        x_title="Seconds of training" if by_seconds else "Step",
        floors=[floor for run in runs if what == "Loss" and (floor := _floor(run)) is not None],
    )
    ends = [f"{curve.name} ends at {curve.values[-1]:.3f}" for curve in curves if len(curve.steps)]
    several = "s" * (len(runs) > 1)
    words = f"{label} of {len(runs)} run{several}: {'; '.join(ends)}."
    show_figure(figure, key="compare_runs", alt=words, table=lambda: _table(curves))


def _one_of(label: str, options: list[str], key: str) -> str:
    """The first of them until another one is chosen."""
    chosen: str = st.segmented_control(
        label, options, default=options[0], required=True, key=key, bind="query-params"
    )
    return chosen


@dataclass(frozen=True, eq=False)
class _Curve:
    """One line to compare: values at steps and at seconds of training."""

    name: str
    steps: np.ndarray
    seconds: np.ndarray
    values: np.ndarray


def _loss_curve(run: Run, view: View) -> _Curve:
    kept = thin(view.steps, view.losses)
    smoothed = smooth(view.losses, smoothing_for(run.recipe.steps))
    return _Curve(_name(run), view.steps[kept], view.seconds[kept], smoothed[kept])


def _exact_curve(run: Run, view: View) -> _Curve:
    steps = np.array([event.step for event in view.evaluations], dtype=int)
    shares = np.array([event.exact / event.of for event in view.evaluations], dtype=float)
    return _Curve(_name(run), steps, np.interp(steps, view.steps, view.seconds), shares)


def _name(run: Run) -> str:
    return f"{run.id} {run.name}"


def _floor(run: Run) -> float | None:
    floor: float | None = run.about.get("smoothing_floor")
    return floor


def _table(curves: list[_Curve]) -> pd.DataFrame:
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "run": curve.name,
                    "step": curve.steps,
                    "seconds": curve.seconds,
                    "value": curve.values,
                }
            )
            for curve in curves
        ]
    )
