"""The toy's first screen: pick a head and a residue, four maps, readings, edits, one row."""

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.attention_maps import Strip, ghost_maps, head_maps
from core.figures.formula import Panel, row_bars
from core.figures.palette import VERMILION
from core.figures.vectors import query_key_plane, vector_strip
from core.toy.compare import change_sentence, weight_difference
from core.toy.formula_walk import formula_walk
from core.toy.heads import HEADS
from core.toy.jobs import job_test, label, labels, reading
from core.toy.model import ToyRun, run_toy
from core.toy.slow_wave import limit_sentence
from core.toy.what_if import UNTOUCHED, encode
from pages.parts.downloads import show_figure
from pages.parts.toy_edits import current_edits, edit_panel

STRONGEST = "strongest"
_STORY = "toy_story"
_COMPARE = ("Maps", "Outputs")


def snippet(run: ToyRun, body: str) -> str:
    """Runnable code, from the repository's folder, that prints what a figure shows."""
    edits = encode(run.what_if)
    original = st.session_state["_toy_sequence"]
    return (
        "from core.toy.model import run_toy\nfrom core.toy.what_if import decode\n\n"
        f'run = run_toy("{original}", decode("{edits}")[0])\n{body}'
    )


def runs(sequence: str) -> tuple[ToyRun, ToyRun]:
    """The ghost and the edited run."""
    st.session_state["_toy_sequence"] = sequence
    before, edits = run_toy(sequence), current_edits().fitted(sequence)
    return before, before if edits == UNTOUCHED else run_toy(sequence, edits)


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
        _against_the_ghost(before, after, head)
    _row(before, after, head, query)
    section = st.expander(
        "The dot product as alignment: queries and keys on a plane",
        key="t_c2",
        bind="query-params",
    )
    if section.open:
        with section:
            _plane(after, head, query)


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
        st.session_state["t_h"], st.session_state["t_r"] = head + 1, row + 1
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


def _long_table(run: ToyRun) -> pd.DataFrame:
    names = labels(run.sequence)
    return pd.DataFrame(
        [
            (head + 1, names[query], names[key], step.weights[query, key])
            for head, step in enumerate(run.steps)
            for query in range(len(names))
            for key in range(len(names))
        ],
        columns=["head", "query", "key", "weight"],
    )


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


def _against_the_ghost(before: ToyRun, after: ToyRun, head: int) -> None:
    st.markdown(f":material/compare_arrows: {change_sentence(before, after)}")
    view = st.segmented_control(
        "Compare with the ghost", _COMPARE, default="Maps", key="t_g", bind="query-params",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    names = labels(after.sequence)
    if view == "Outputs":
        blocks = before.output, after.output, after.output - before.output
        dimensions = [[str(i + 1) for i in range(8)]] * 3
        figure = vector_strip(blocks, ("Before", "After", "Difference"), names, dimensions)
        table = pd.DataFrame(after.output - before.output, index=names).reset_index()
        body = (
            "print((run.output - run_toy(run_toy.__defaults__ and run.sequence).output).round(3))"
        )
    else:
        was, now = before.steps[head].weights, after.steps[head].weights
        figure = ghost_maps(was, now, names)
        table = pd.DataFrame(now - was, index=names, columns=names).reset_index(names="query")
        body = f"print(run.steps[{head}].weights.round(3))"
    largest = abs(weight_difference(before, after, head)).max()
    show_figure(
        figure,
        key="toy_ghost",
        alt=f"Head {head + 1} before, after and the difference, at most {largest:.1%}. "
        + change_sentence(before, after),
        table=table,
        code=snippet(after, body),
    )


def _clicked_bar() -> None:
    points = st.session_state["toy_row"]["selection"]["points"]
    if points:
        st.session_state["t_k"] = int(points[0]["x"]) + 1


def _row(before: ToyRun, after: ToyRun, head: int, query: int) -> None:
    names, steps = labels(after.sequence), after.steps[head]
    st.subheader(f"One row, number by number: {names[query]} in head {head + 1}")
    key = _followed(after, head, query, names)
    sums, bars = st.columns([5, 6])
    with sums:
        walk = formula_walk(steps, names, query, key, scale=after.what_if.scale)
        st.markdown(
            "\n\n".join(f"**{step.name}.** {step.words}\n\n$${step.latex}$$" for step in walk)
        )
    edited = after.what_if != UNTOUCHED
    with bars:
        show_figure(
            row_bars(_panels(before, after, head, query, edited), names, key),
            key="toy_row",
            alt=f"{reading(after.sequence, steps.weights, query)}; the score of {names[key]} is "
            f"{steps.scores[query, key]:.2f}, its weight {steps.weights[query, key]:.3f}.",
            table=lambda: _row_table(after, head, query),
            code=snippet(after, _row_code(head, query)),
            on_select=_clicked_bar,
        )
        if edited:
            st.caption("Orange dashes: the ghost, the same row in the untouched model.")


def _plane(after: ToyRun, head: int, query: int) -> None:
    steps, names = after.steps[head], labels(after.sequence)
    st.markdown(
        f"Head {head + 1} gives each residue a query and a key of two numbers, so both can be "
        f"drawn. **A key's score is how far it reaches along the arrow of {names[query]}**, times "
        "the arrow's length: same direction attracts, opposite repels, a right angle is ignored."
    )
    show_figure(
        query_key_plane(
            steps.queries[query], steps.keys, steps.weights[query], names, names[query]
        ),
        key="toy_plane",
        alt=f"The query of {names[query]} is {np.round(steps.queries[query], 2)}. "
        f"{reading(after.sequence, steps.weights, query)}.",
        table=pd.DataFrame(
            {
                "residue": names,
                **{f"query {d + 1}": steps.queries[:, d] for d in range(2)},
                **{f"key {d + 1}": steps.keys[:, d] for d in range(2)},
                "weight": steps.weights[query],
            }
        ),
        code=snippet(after, f"print(run.steps[{head}].queries[{query}], run.steps[{head}].keys)"),
    )


def _followed(after: ToyRun, head: int, query: int, names: list[str]) -> int:
    steps = after.steps[head]
    strongest = int(steps.weights[query].argmax())
    chosen = st.selectbox(
        "Key to follow (or click a bar)",
        [STRONGEST, *range(1, len(names) + 1)],
        format_func=lambda option: (
            f"the strongest: {names[strongest]}" if option == STRONGEST else names[option - 1]
        ),
        key="t_k",
        width=240,
    )
    if chosen == STRONGEST:
        return strongest
    if not steps.may_attend[query, chosen - 1]:
        st.caption(f"The mask hides {names[chosen - 1]} from {names[query]}: following another.")
        return strongest
    return chosen - 1


def _panels(before: ToyRun, after: ToyRun, head: int, query: int, edited: bool) -> list[Panel]:
    now, was = after.steps[head], before.steps[head]
    panels = [
        Panel(title, getattr(now, field)[query], getattr(was, field)[query] if edited else None)
        for title, field in (
            ("score", "scores"),
            ("scaled", "scaled"),
            ("exponential", "exponentials"),
            ("weight", "weights"),
        )
    ]
    for dimension in range(now.values.shape[1]):
        parts = [s.weights[query] * s.values[:, dimension] for s in (now, was)]
        name = f"weight × value {dimension + 1}: adds up to {parts[0].sum():.3f}"
        panels.append(Panel(name, parts[0], parts[1] if edited else None))
    return panels


def _row_table(run: ToyRun, head: int, query: int) -> pd.DataFrame:
    steps = run.steps[head]
    fields = ("scores", "scaled", "exponentials", "weights")
    columns = {field: getattr(steps, field)[query] for field in fields}
    values = {f"value {d + 1}": steps.values[:, d] for d in range(steps.values.shape[1])}
    return pd.DataFrame({"key": labels(run.sequence), **columns, **values})


def _row_code(head: int, query: int) -> str:
    return (
        f"steps, row = run.steps[{head}], {query}\n"
        "print(steps.scores[row], steps.scaled[row], steps.exponentials[row], sep='\\n')\n"
        "print(steps.weights[row], steps.blended[row], sep='\\n')"
    )
