"""Teach a Transformer to read a CDR3 backwards: start a run, watch it, steer it, compare it."""

import streamlit as st

from pages.parts.controls import sequence_box
from pages.parts.frame import open_page
from pages.parts.links import check_link
from pages.parts.training.controls import say_what_happened, start_bar, steering
from pages.parts.training.explained import explained
from pages.parts.training.files import take_away
from pages.parts.training.own_string import own_string
from pages.parts.training.pictures import NEAR, heads_of
from pages.parts.training.runs import runs_table
from pages.parts.training.scene import (
    STEP,
    choose_run,
    say_what_is_missing,
    scene_of,
    supervisor_here,
)
from pages.parts.training.stage import stage

open_page("training", "Press Start, and watch it learn.")

supervisor = supervisor_here()
# Under a test of the page alone there is no server that a worker could serve.
supervisor.look(keep_warm=st.runtime.exists())
# A place that is always there, so that nothing below is built anew when a sentence appears.
with st.container():
    say_what_happened()
    say_what_is_missing(supervisor)

text, buttons = st.columns([1, 3], vertical_alignment="bottom")
with text:
    watched = sequence_box("String to watch", min_length=1, max_length=16)
with buttons:
    start_bar(supervisor, watched.sequence)

# A link to a step stands still at it.
st.session_state.setdefault("r_follow", STEP not in st.query_params)
with st.container(horizontal=True, vertical_alignment="center"):
    run_id = choose_run(supervisor)
    following = st.toggle(
        "Follow live",
        key="r_follow",
        help="Off: the picture stands still, so that you can zoom and go back in time. "
        "The run itself goes on.",
    )
    scene = scene_of(supervisor, run_id)
    if scene is not None:
        check_link({NEAR: heads_of(scene.recipe)})
        steering(supervisor, scene.run)

stage(supervisor, run_id, scene, following=following)

SECTIONS = ("Your own string", "What you see", "Runs", "Take away")
check_link({"r_more": SECTIONS})
section = st.segmented_control(
    "More",
    SECTIONS,
    key="r_more",
    bind="query-params",
    label_visibility="collapsed",
)
if section == "Your own string" and scene is not None:
    own_string(supervisor, scene)
elif section == "What you see" and scene is not None:
    explained(scene)
elif section == "Runs":
    runs_table(supervisor)
elif section == "Take away" and scene is not None:
    take_away(supervisor, scene)
