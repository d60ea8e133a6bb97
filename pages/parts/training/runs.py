"""The table of all runs: choose some to compare, rename or delete one."""

import pandas as pd
import streamlit as st

from core.runs import history, store
from core.runs.run import Run
from core.runs.supervisor import Supervisor
from core.training.recipe import LONGEST_NAME
from core.written import percent
from pages.parts.training.compare import compare
from pages.parts.training.controls import once
from pages.parts.visitor import key_for, visitor_key

MOST_COMPARED = 5
_ASKED, _TICKED = "_asked_to_delete", "r_runs"


def runs_table(supervisor: Supervisor) -> None:
    """All runs, newest first; ticked ones are compared, a single one can be changed."""
    with supervisor.reading() as db:
        runs = store.newest(db)
        table = pd.DataFrame([_row(db, run) for run in runs])
    if not runs:
        st.info("No run has been started here yet.")
        return
    chosen = _ticked(runs, table)
    st.caption(f"Tick up to {MOST_COMPARED} runs to compare them, one to rename or delete it.")
    if len(chosen) == 1:
        _change(supervisor, chosen[0])
    if chosen:
        compare(supervisor, chosen[:MOST_COMPARED])
    with st.popover("My key", icon=":material/key:"):
        st.caption("Whoever has this key may stop, rename and delete the runs you start.")
        st.code(visitor_key(), language=None)


def _ticked(runs: list[Run], table: pd.DataFrame) -> list[Run]:
    """The table, and the runs that are ticked in it.

    It knows rows by their number, so it is a new one when runs come or go, with the same ticked.
    """
    asked = [number for number in st.query_params.get(_TICKED, "").split(",") if number]
    known = {str(run.id): at for at, run in enumerate(runs)}
    if not known.keys() >= set(asked):
        st.warning("The link compares runs that are not here (any more).")
    event = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={
            "selection": {"rows": sorted({known[number] for number in asked if number in known})}
        },
        key=f"runs_table_{runs[0].id}_{len(runs)}",
        alt=f"Table of {len(runs)} runs, newest first.",
    )
    chosen = [runs[at] for at in event.selection.rows]
    numbers = [str(run.id) for run in chosen]
    if set(numbers) != set(asked) & known.keys():
        st.query_params.pop(_TICKED, None)
        if numbers:
            st.query_params[_TICKED] = ",".join(numbers)
    return chosen


def _row(db: "object", run: Run) -> dict[str, object]:
    found = history.evaluations_after(db, run.id, -1)
    best = max((event.exact / event.of for event in found), default=None)
    return {
        "run": run.id,
        "name": run.name,
        "state": run.state,
        "steps": f"{history.last_step(db, run.id):,} of {run.recipe.steps:,}",
        "best exact": None if best is None else percent(best, 1),
        "seed": run.recipe.seed,
        "device": run.about.get("device"),
        "started": pd.Timestamp(run.created, unit="s").strftime("%Y-%m-%d %H:%M"),
        "rows lost": run.dropped,
        "why it ended": run.error,
    }


def _change(supervisor: Supervisor, run: Run) -> None:
    key = key_for(supervisor, run)
    if not supervisor.may_change(run, key):
        st.caption("Only whoever started this run may rename or delete it.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        box = f"name_of_{run.id}"
        st.text_input("Name", run.name, max_chars=LONGEST_NAME, width=260, key=box)
        st.button(
            "Rename",
            key="rename_run",
            on_click=lambda: once(
                "rename", lambda: supervisor.rename(run.id, st.session_state[box], key)
            ),
        )
        st.button(
            "Delete",
            key="delete_run",
            icon=":material/delete:",
            on_click=_ask_about,
            args=(run.id,),
        )
    # Kept in the session, because a redraw would otherwise close the question.
    if st.session_state.get(_ASKED) == run.id:
        _confirm_deletion(supervisor, run, key)


def _ask_about(run_id: int | None = None) -> None:
    st.session_state[_ASKED] = run_id


@st.dialog("Delete this run?", on_dismiss=_ask_about)
def _confirm_deletion(supervisor: Supervisor, run: Run, key: str) -> None:
    st.markdown(f"Run {run.id} with its curves, maps and checkpoints. There is no way back.")
    if st.button("Delete it", key="really_delete"):
        _ask_about(None)
        once("delete", lambda: supervisor.delete(run.id, key))
        st.query_params.pop(_TICKED, None)
        st.rerun()
