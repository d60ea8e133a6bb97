"""Below the toy's maps: the ghost, and one row worked out number by number and drawn."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.figures.attention_maps import ghost_maps
from core.figures.formula import Panel, row_bars
from core.figures.vectors import query_key_plane, vector_strip
from core.toy.compare import change_sentence, largest_change, weight_difference
from core.toy.formula_walk import formula_walk
from core.toy.jobs import labels, reading
from core.toy.model import ToyRun
from core.toy.what_if import UNTOUCHED
from pages.parts.downloads import show_figure
from pages.parts.toy.runs import ask, snippet

STRONGEST = "strongest"
_COMPARE = ("Maps", "Outputs")


def against_the_ghost(before: ToyRun, after: ToyRun, head: int) -> None:
    """Before, after, difference of the chosen head or of all outputs, and what moved most."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/compare_arrows: {change_sentence(before, after)}")
        change = largest_change(before, after)
        if change is not None:
            st.button(
                "Go there",
                icon=":material/my_location:",
                type="tertiary",
                key="toy_go",
                on_click=ask,
                args=(change.head, change.query),
            )
    view = st.segmented_control(
        "Compare with the ghost", _COMPARE, default="Maps", key="t_g", bind="query-params",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    names = labels(after.sequence)
    if view == "Outputs":
        blocks = before.output, after.output, after.output - before.output
        dimensions = [[str(i + 1) for i in range(8)]] * 3
        figure = vector_strip(blocks, ("Before", "After", "Difference"), names, dimensions)
        table = {"residue": names, **dict(enumerate((after.output - before.output).T))}
        body = (
            "print((run.output - run_toy(run_toy.__defaults__ and run.sequence).output).round(3))"
        )
    else:
        was, now = before.steps[head].weights, after.steps[head].weights
        figure = ghost_maps(was, now, names)
        table = {"query": names, **dict(zip(names, (now - was).T, strict=True))}
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


def _clicked_bar(names: list[str]) -> None:
    points = st.session_state["toy_row"]["selection"]["points"]
    position = int(points[0]["x"]) if points else -1
    if 0 <= position < len(names):
        st.session_state["t_k"] = names[position]


def one_row(before: ToyRun, after: ToyRun, head: int, query: int) -> None:
    """The formula with the numbers of one row beside its bars."""
    names, steps = labels(after.sequence), after.steps[head]
    st.subheader(f"One row, number by number: {names[query]} in head {head + 1}")
    key = _followed(after, head, query, names)
    sums, bars = st.columns([5, 6])
    edited = after.what_if != UNTOUCHED
    # The bars first: the picture need not wait for the formulas to be typeset.
    with bars:
        show_figure(
            row_bars(_panels(before, after, head, query, edited), names, key),
            key="toy_row",
            alt=f"{reading(after.sequence, steps.weights, query)}; the score of {names[key]} is "
            f"{steps.scores[query, key]:.2f}, its weight {steps.weights[query, key]:.3f}.",
            table=lambda: _row_table(after, head, query),
            code=snippet(after, _row_code(head, query)),
            on_select=lambda: _clicked_bar(names),
        )
        if edited:
            st.caption("Orange dashes: the ghost, the same row in the untouched model.")
    walk = formula_walk(steps, names, query, key, scale=after.what_if.scale)
    sums.markdown(
        "\n\n".join(f"**{step.name}.** {step.words}\n\n$${step.latex}$$" for step in walk)
    )


def plane(after: ToyRun, head: int, query: int) -> None:
    """The chosen head's queries and keys as points, the dot product as alignment."""
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
        table={
            "residue": names,
            **{f"query {d + 1}": steps.queries[:, d] for d in range(2)},
            **{f"key {d + 1}": steps.keys[:, d] for d in range(2)},
            "weight": steps.weights[query],
        },
        code=snippet(after, f"print(run.steps[{head}].queries[{query}], run.steps[{head}].keys)"),
    )


def _followed(after: ToyRun, head: int, query: int, names: list[str]) -> int:
    steps = after.steps[head]
    strongest = int(steps.weights[query].argmax())
    chosen = st.selectbox(
        "Key to follow (or click a bar)",
        [STRONGEST, *names],
        key="t_k",
        bind="query-params",
        width=240,
    )
    if chosen not in names:
        return strongest
    key = names.index(chosen)
    if not steps.may_attend[query, key]:
        st.caption(f"The mask hides {chosen} from {names[query]}: following the strongest.")
        return strongest
    return key


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


def _row_table(run: ToyRun, head: int, query: int) -> dict[str, Sequence]:
    steps = run.steps[head]
    fields = ("scores", "scaled", "exponentials", "weights")
    columns = {field: getattr(steps, field)[query] for field in fields}
    values = {f"value {d + 1}": steps.values[:, d] for d in range(steps.values.shape[1])}
    return {"key": labels(run.sequence), **columns, **values}


def _row_code(head: int, query: int) -> str:
    return (
        f"steps, row = run.steps[{head}], {query}\n"
        "print(steps.scores[row], steps.scaled[row], steps.exponentials[row], sep='\\n')\n"
        "print(steps.weights[row], steps.blended[row], sep='\\n')"
    )
