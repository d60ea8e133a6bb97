"""The toy's first screen: pick a head and a residue, four maps, readings, edits, one row."""

import streamlit as st

from core.figures.attention_maps import Strip, head_maps
from core.figures.palette import VERMILION
from core.toy.heads import HEADS
from core.toy.jobs import job_test, label, labels, reading
from core.toy.model import ToyRun
from core.toy.slow_wave import limit_sentence
from core.toy.what_if import UNTOUCHED
from pages.parts.downloads import show_figure
from pages.parts.toy.edits import edit_panel
from pages.parts.toy.row import against_the_ghost, one_row, plane
from pages.parts.toy.runs import ask, runs, snippet

_STORY = "toy_story"
# Pixels; on a phone the maps keep this width and scroll sideways.
_NARROWEST_MAP = 170


def picked(before: ToyRun) -> tuple[int, int]:
    """Head and query as chosen, counted from 0; at first the most decided row of head 1."""
    query = st.session_state.get("t_r") or int(before.steps[0].weights.max(axis=1).argmax()) + 1
    head = st.session_state.get("t_h") or 1
    return head - 1, min(query, len(before.sequence)) - 1


@st.fragment
def maps(sequence: str) -> None:
    """The four maps; apart from the story, so that asking for another row does not redraw them."""
    _, after = runs(sequence)
    names = labels(after.sequence)
    weights = [step.weights for step in after.steps]
    titles = [f"{index} {head.name}" for index, head in enumerate(HEADS, 1)]
    clearest = [int(block.max(axis=1).argmax()) for block in weights]
    wide = st.grid(len(HEADS), min_column_width=_NARROWEST_MAP, wrap=False)
    with wide.cell(column_span="all"):
        show_figure(
            head_maps(weights, titles, names),
            key="toy_maps",
            alt="Attention of four heads; rows ask, columns answer. "
            + " ".join(
                f"Head {index}, clearest row: {reading(after.sequence, block, row)}."
                for index, (block, row) in enumerate(zip(weights, clearest, strict=True), 1)
            ),
            table=lambda: _long_table(after),
            code=snippet(after, "for step in run.steps:\n    print(step.weights.round(3))"),
            on_select=_clicked_map,
        )


@st.fragment(key=_STORY)
def story(sequence: str) -> None:
    """What follows from one head and one residue; an edit runs the whole page."""
    before, after = runs(sequence)
    head, query = _pick(before, after)
    _frame_row(len(after.sequence), query)
    _readings(after, head, query)
    edit_panel(before, after, head, query)
    if after.what_if != UNTOUCHED:
        against_the_ghost(before, after, head)
    one_row(before, after, head, query)
    section = st.expander(
        "The dot product as alignment: queries and keys on a plane",
        key="t_c2",
        bind="query-params",
    )
    if section.open:
        with section:
            plane(after, head, query)


def _pick(before: ToyRun, after: ToyRun) -> tuple[int, int]:
    most_decided = int(before.steps[0].weights.max(axis=1).argmax()) + 1
    heads, residues = st.columns([1, 3])
    with heads:
        st.segmented_control(
            "Head", [1, 2, 3, 4], default=1, key="t_h", bind="query-params", required=True
        )
    with residues:
        st.pills(
            "Residue that asks (the query)",
            list(range(1, len(after.sequence) + 1)),
            format_func=lambda position: label(after.sequence, position - 1),
            default=most_decided,
            key="t_r",
            bind="query-params",
            required=True,
            wrap=True,
        )
    return picked(before)


def _clicked_map() -> None:
    points = st.session_state["toy_maps"]["selection"]["points"]
    if points:
        # The bars are the second trace; their number counts through all maps.
        strip = Strip(len(HEADS), len(st.session_state["_toy_sequence"]))
        head, row = strip.at(int(points[0]["point_index"]))
        ask(head, row)
        st.rerun(_STORY)


def _frame_row(length: int, query: int) -> None:
    # Plotly would redraw all four maps to move one frame, so the page's style sheet moves it.
    rows = ", ".join(
        f".st-key-toy_maps .barlayer .point:nth-child({which * length + query + 1}) path"
        for which in range(len(HEADS))
    )
    st.html(
        f"<style>{rows} {{stroke: {VERMILION} !important; stroke-width: 2.5px !important}}</style>"
    )


def _long_table(run: ToyRun) -> dict[str, list]:
    names = labels(run.sequence)
    rows = [
        (head + 1, names[query], names[key], step.weights[query, key])
        for head, step in enumerate(run.steps)
        for query in range(len(names))
        for key in range(len(names))
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return dict(zip(("head", "query", "key", "weight"), columns, strict=True))


def _readings(after: ToyRun, chosen: int, query: int) -> None:
    for column, (index, head) in zip(st.columns(len(HEADS)), enumerate(HEADS), strict=True):
        weights = after.steps[index].weights
        test = job_test(index, after.sequence, weights)
        icon = ":material/check_circle:" if test.holds else ":material/cancel:"
        name = f"Head {index + 1}" + (" (chosen)" if index == chosen else "")
        muted = " It is muted." if index in after.what_if.muted else ""
        column.markdown(
            f"**{name}** {reading(after.sequence, weights, query)}.{muted}  \n"
            f"{icon} {_verdict(after.sequence, test.passed, test.of, test.failed)}",
            help=f"Its job: {head.job} Tested: each row's largest weight is where the job says.",
        )
    limit = limit_sentence(after)
    if limit:
        st.info(limit, icon=":material/waves:")


def _verdict(sequence: str, passed: int, of: int, failed: tuple[int, ...]) -> str:
    if of == 0:
        return "No row here can test its job."
    where = ", ".join(label(sequence, row - 1) for row in failed[:4])
    more = " …" if len(failed) > 4 else ""
    return f"{passed} of {of} rows do its job" + (f"; not {where}{more}" if failed else "")
