"""Below the toy's maps: one row worked out number by number, and drawn."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.formula import Panel, row_bars
from core.figures.key_plane import query_key_plane
from core.toy.formula_walk import formula_walk
from core.toy.jobs import labels, reading
from core.toy.model import ToyRun
from core.toy.what_if import UNTOUCHED
from core.written import typeset
from pages.parts.chapters import chapter
from pages.parts.downloads import show_figure
from pages.parts.toy import redraw
from pages.parts.toy.maps import mark
from pages.parts.toy.pick import pick, readings
from pages.parts.toy.runs import asked, followed, runs, snippet, take_what_is_asked


@st.fragment(key=redraw.STORY)
def story(sequence: str, above: DeltaGenerator, beside: DeltaGenerator) -> None:
    """Who asks, what each head says (both in `above`), and one row: formula, bars `beside` it."""
    take_what_is_asked()
    before, after = runs(sequence)
    with above:
        pick(before, after)
        head, query = asked(before)
        readings(after, query)
    key, as_chosen = followed(after, head, query)
    # The pictures' marks are moved from here, because they need no new picture.
    st.html(mark(len(after.sequence), head, query, key))
    # The bars first: the picture need not wait for the formulas to be typeset.
    with beside:
        _bars(before, after, head, query, key)
    st.markdown("\n\n".join(_sums(after, head, query, key, as_chosen)))


def _sums(run: ToyRun, head: int, query: int, key: int, as_chosen: bool) -> list[str]:
    names, edits = labels(run.sequence), run.what_if
    parts = [f"### One row, number by number: {names[query]} in head {head + 1}"]
    if not as_chosen:
        hidden = names[st.session_state["t_k"] - 1]
        parts.append(f"The mask hides {hidden} from {names[query]}: following the strongest.")
    parts += [
        f"**{step.name}.** {step.words}\n\n$$\n{step.latex}\n$$"
        for step in formula_walk(run.steps[head], names, query, key, scale=edits.scale)
    ]
    hidden = int((~run.steps[head].may_attend[query]).sum())
    if hidden:
        parts.append(
            f"The mask hides {hidden} of {len(names)} residues from {names[query]}: whatever their "
            "score, their weight is 0."
        )
    if head in edits.muted:
        parts.append(f"Head {head + 1} is muted: zeros take the place of what it blends.")
    if edits != UNTOUCHED:
        parts.append("Orange dashes in the bars: the same row in the untouched model.")
    return parts


def _bars(before: ToyRun, after: ToyRun, head: int, query: int, key: int) -> None:
    names, steps = labels(after.sequence), after.steps[head]
    show_figure(
        row_bars(_panels(before, after, head, query), names, key),
        key="toy_row",
        alt=f"{reading(after.sequence, steps.weights, query)}; the score of {names[key]} is "
        f"{steps.scores[query, key]:.2f}, its weight {steps.weights[query, key]:.3f}.",
        table=_row_table(after, head, query),
        code=snippet(after, _row_code(head, query)),
        on_select=lambda: _clicked_bar(len(names)),
    )


def _clicked_bar(length: int) -> None:
    points = st.session_state["toy_row"]["selection"]["points"]
    position = int(points[0]["x"]) if points else -1
    if 0 <= position < length:
        st.session_state["t_k"] = position + 1


@chapter("The dot product as alignment: queries and keys on a plane", redraw.PLANE)
def plane(sequence: str) -> None:
    """The chosen head's queries and keys as points, the dot product as alignment."""
    before, after = runs(sequence)
    head, query = asked(before)
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


def _panels(before: ToyRun, after: ToyRun, head: int, query: int) -> list[Panel]:
    now, was = after.steps[head], before.steps[head]
    edited = after.what_if != UNTOUCHED
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
        name = f"weight × value {dimension + 1}: adds up to {typeset(parts[0].sum(), '.3f')}"
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
