"""What the edits changed: before, after, difference, one sentence, and the way back."""

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from core.figures.attention_maps import ghost_maps
from core.figures.vectors import vector_strip
from core.toy.compare import LargestChange, change_sentence, edit_list, largest_change
from core.toy.jobs import labels
from core.toy.model import ToyRun
from core.toy.what_if import UNTOUCHED
from pages.parts.downloads import show_figure
from pages.parts.toy import redraw
from pages.parts.toy.edits import restore
from pages.parts.toy.runs import OUTPUTS, ask_next, asked, runs, snippet

VIEWS = _MAPS, _OUTPUTS = "Maps", "Outputs"


@st.fragment(key=redraw.GHOST)
def ghost(sequence: str) -> None:
    """The edits in words and their effect in numbers; nothing while there are none."""
    before, after = runs(sequence)
    if after.what_if == UNTOUCHED:
        return
    head, _ = asked(before)
    sentence = change_sentence(before, after)
    view = _what_and_back(before, after, sentence)
    figure, table, body = (_outputs if view == _OUTPUTS else _maps)(before, after, head)
    show_figure(
        figure,
        key="toy_ghost",
        alt=f"Before, after and the difference. {sentence}",
        table=table,
        code=snippet(after, body),
    )


def _what_and_back(before: ToyRun, after: ToyRun, sentence: str) -> str:
    """The row above the picture; returns what to compare."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Edited: {'; '.join(edit_list(before, after))}. {sentence}")
        st.button(
            "Restore", icon=":material/undo:", on_click=_go_back, args=(before,), key="toy_restore"
        )
        change = largest_change(before, after)
        if change is not None:
            st.button(
                "Go there",
                icon=":material/my_location:",
                type="tertiary",
                key="toy_go",
                on_click=_go_to,
                args=(change,),
            )
        return st.segmented_control(
            "Compare with the ghost",
            VIEWS,
            default=_MAPS,
            key="t_g",
            bind="query-params",
            required=True,
            label_visibility="collapsed",
        )


def _go_back(before: ToyRun) -> None:
    key = st.session_state.get("t_k")
    ask_next(*asked(before), key - 1 if key else None)
    restore()


def _go_to(change: LargestChange) -> None:
    ask_next(change.head, change.query, change.key)
    redraw.asked_elsewhere()


def _maps(before: ToyRun, after: ToyRun, head: int) -> tuple[go.Figure, dict[str, Sequence], str]:
    was, now = before.steps[head].weights, after.steps[head].weights
    names = labels(after.sequence)
    return (
        ghost_maps(was, now, names, head + 1),
        {"query": names, **dict(zip(names, (now - was).T, strict=True))},
        f"print(run.steps[{head}].weights.round(3))",
    )


def _outputs(
    before: ToyRun, after: ToyRun, head: int
) -> tuple[go.Figure, dict[str, Sequence], str]:
    blocks = before.output, after.output, after.output - before.output
    names = labels(after.sequence)
    dimensions = [[str(i + 1) for i in range(blocks[0].shape[1])]] * len(blocks)
    return (
        vector_strip(blocks, ("Before", "After", "Difference"), names, dimensions),
        {"residue": names, **dict(zip(OUTPUTS, blocks[2].T, strict=True))},
        f'print((run.output - run_toy("{before.sequence}").output).round(3))',
    )
