"""What the toy's reader chooses, and what each head says about it."""

from functools import lru_cache

import streamlit as st

from core.toy.heads import HEADS
from core.toy.jobs import JobTest, job_test, label, reading
from core.toy.model import ToyRun
from core.toy.slow_wave import limit_sentence
from core.toy.what_if import UNTOUCHED
from pages.parts.toy import redraw
from pages.parts.toy.runs import most_decided

_PILLS_UP_TO = 16


def pick(before: ToyRun, after: ToyRun) -> None:
    """A head, a residue and a key, for hands that do not click on maps."""
    edits = after.what_if != UNTOUCHED
    st.segmented_control(
        "Head",
        [1, 2, 3, 4],
        default=1,
        key="t_h",
        bind="query-params",
        required=True,
        on_change=redraw.asked,
        kwargs={"head": True, "edits": edits},
    )
    _pick_residue(before, after)
    st.selectbox(
        "Residue that answers (the key)",
        range(len(after.sequence) + 1),
        format_func=lambda key: label(after.sequence, key - 1) if key else "strongest",
        key="t_k",
        bind="query-params",
        width=200,
    )


def _pick_residue(before: ToyRun, after: ToyRun) -> None:
    """A pill for each residue, or one slider where pills would be a wall of five lines."""
    positions = range(1, len(after.sequence) + 1)
    shared = {
        "label": "Residue that asks (the query)",
        "options": positions,
        "format_func": lambda position: label(after.sequence, position - 1),
        "key": "t_r",
        "bind": "query-params",
        "on_change": redraw.asked,
        "kwargs": {"head": False, "edits": after.what_if != UNTOUCHED},
    }
    first = most_decided(before) + 1
    if len(positions) <= _PILLS_UP_TO:
        st.pills(default=first, required=True, wrap=True, **shared)
    else:
        st.select_slider(value=first, **shared)


def readings(after: ToyRun, query: int) -> None:
    """What each head says about the chosen residue, and whether it does its job."""
    lines = []
    for head, (steps, verdict) in enumerate(zip(after.steps, _verdicts(after), strict=True)):
        muted = " It is muted." if head in after.what_if.muted else ""
        row = reading(after.sequence, steps.weights, query)
        lines.append(f"- **Head {head + 1}** {row}.{muted}  \n  {verdict}")
    jobs = "\n".join(f"- Head {number}: {head.job}" for number, head in enumerate(HEADS, 1))
    st.markdown(
        "\n".join(lines),
        help=f"{jobs}\n\nTested: each row's largest weight is where the job says.",
    )
    limit = limit_sentence(after)
    if limit:
        st.info(limit, icon=":material/waves:")


@lru_cache(maxsize=64)
def _verdicts(run: ToyRun) -> list[str]:
    """Per head, whether it does its job: the same whichever row is looked at."""
    tests = [job_test(head, run.sequence, step.weights) for head, step in enumerate(run.steps)]
    return [_verdict(run.sequence, test) for test in tests]


def _verdict(sequence: str, test: JobTest) -> str:
    if test.of == 0:
        return ":material/remove: No row here can test its job."
    icon = ":material/check_circle:" if test.holds else ":material/cancel:"
    where = ", ".join(label(sequence, row - 1) for row in test.failed[:4])
    more = " …" if len(test.failed) > 4 else ""
    failed = f"; not {where}{more}" if where else ""
    rows = "row does" if test.of == 1 else "rows do"
    return f"{icon} {test.passed} of {test.of} {rows} its job{failed}"
