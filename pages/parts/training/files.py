"""A run as files to take away."""

import streamlit as st

from core.figures.training_compare import loss_figure
from core.runs import exports
from core.runs.supervisor import Supervisor
from pages.parts.training.scene import Scene, weights_of


def take_away(supervisor: Supervisor, scene: Scene) -> None:
    """The run as files: curves, recipe, checkpoint, and a script that repeats it."""
    name = f"run_{scene.run.id}" if scene.run else "recorded_run"
    view = scene.view
    figure = loss_figure(
        view.steps,
        view.losses,
        scene.smoothed,
        name=scene.name,
        floor=scene.about.get("smoothing_floor"),
    )
    with st.container(horizontal=True):
        _file("Curves (CSV)", lambda: exports.metrics_csv(view), f"{name}.csv", "text/csv")
        _file(
            "Figure (HTML)",
            lambda: figure.to_html(include_plotlyjs=True),
            f"{name}.html",
            "text/html",
        )
        _file(
            "Script that repeats it",
            lambda: exports.script(scene.recipe, scene.watch, _threads(scene)),
            "repeat_run.py",
            "text/x-python",
        )
        _file("Recipe (JSON)", lambda: _json(scene), f"{name}.json", "application/json")
        file = weights_of(supervisor, scene)
        if file.is_file():
            _file("Checkpoint", file.read_bytes, f"{name}.pt", "application/octet-stream")


def _json(scene: Scene) -> str:
    run = scene.run
    return exports.recipe_json(
        scene.recipe,
        scene.watch,
        run=run.id if run else None,
        name=run.name if run else scene.name,
        state=scene.state,
        ran_on=scene.about,
    )


def _threads(scene: Scene) -> int | None:
    return scene.about.get("threads") if scene.about.get("device") == "cpu" else None


def _file(label: str, data: "object", file_name: str, mime: str) -> None:
    st.download_button(
        label,
        data=data,
        file_name=file_name,
        mime=mime,
        key=f"take_{file_name}_{label}",
        on_click="ignore",
        icon=":material/download:",
    )
