"""The toy's edits as widgets: swap a residue, change any weight, switch parts off."""

from dataclasses import replace

import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.toy.heads import HEADS
from core.toy.jobs import label
from core.toy.model import ToyRun
from core.toy.residue_vectors import COLUMNS
from core.toy.what_if import LARGEST_WEIGHT, MATRICES, WeightEdit
from pages.parts.toy import redraw
from pages.parts.toy.edits import current_edits, editor_round, keep
from pages.parts.toy.runs import asked, runs

_COLUMNS = {f"W{m} {d + 1}": (m, d) for m in MATRICES for d in range(2)}
KINDS = (redraw.SWAP, redraw.WEIGHT, redraw.SWITCH)


@st.fragment(key=redraw.PANEL)
def edit_panel(sequence: str) -> None:
    """Choose a kind of edit, make it."""
    before, after = runs(sequence)
    head, query = asked(before)
    kind = st.segmented_control(
        "Break it", KINDS, key="t_e", bind="query-params", help="The ghost is the untouched model."
    )
    if kind == redraw.SWAP:
        _swap(before, after, query)
    elif kind == redraw.WEIGHT:
        _weights(after, head)
    elif kind == redraw.SWITCH:
        _switches(after)


def _swap(before: ToyRun, after: ToyRun, query: int) -> None:
    st.session_state["toy_swap"] = after.sequence[query]

    def swapped() -> None:
        edits = current_edits().with_swap(query + 1, st.session_state["toy_swap"])
        keep(edits.fitted(before.sequence))

    st.pills(
        f"{label(before.sequence, query)} becomes",
        list(AMINO_ACIDS),
        key="toy_swap",
        required=True,
        on_change=swapped,
    )


def _weights(after: ToyRun, head: int) -> None:
    import pandas as pd  # here, not above: the page opens without it

    key = f"toy_weights_{head}_{editor_round()}"
    columns = {
        name: getattr(after.heads[head], f"w_{matrix}")[:, column].round(3)
        for name, (matrix, column) in _COLUMNS.items()
    }
    st.caption(f"Head {head + 1}: any entry, from −{LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}.")
    st.data_editor(
        pd.DataFrame(columns, index=list(COLUMNS)),
        key=key,
        on_change=lambda: keep(current_edits().with_weights(_edited_weights(key, head))),
        disabled=["_index"],
        alt=f"The weights of head {head + 1}: Wq, Wk and Wv, eight rows and two columns each.",
        column_config=dict.fromkeys(
            _COLUMNS,
            st.column_config.NumberColumn(
                min_value=-LARGEST_WEIGHT, max_value=LARGEST_WEIGHT, format="%.2f"
            ),
        ),
    )


def _edited_weights(key: str, head: int) -> list[WeightEdit]:
    """What was typed into the table; a column that is not ours came from no widget."""
    return [
        WeightEdit(head, _COLUMNS[name][0], int(row), _COLUMNS[name][1], _bounded(value))
        for row, cells in st.session_state[key]["edited_rows"].items()
        for name, value in cells.items()
        if name in _COLUMNS
    ]


def _bounded(value: float | None) -> float:
    """An emptied cell is 0; the browser's own limits are not trusted."""
    return max(-LARGEST_WEIGHT, min(LARGEST_WEIGHT, float(value or 0)))


def _switches(after: ToyRun) -> None:
    edits = after.what_if
    st.session_state.update(
        toy_positions=edits.positions,
        toy_scale=edits.scale,
        toy_causal=edits.causal,
        toy_muted=[head + 1 for head in sorted(edits.muted)],
    )
    with st.container(horizontal=True):
        st.toggle("Positions", key="toy_positions", on_change=_switched)
        st.toggle("Divide by √d_k", key="toy_scale", on_change=_switched)
        st.toggle("Causal mask", key="toy_causal", on_change=_switched)
        st.pills(
            "Mute heads",
            [1 + head for head in range(len(HEADS))],
            selection_mode="multi",
            key="toy_muted",
            on_change=_switched,
        )


def _switched() -> None:
    state = st.session_state
    keep(
        replace(
            current_edits(),
            positions=state["toy_positions"],
            scale=state["toy_scale"],
            causal=state["toy_causal"],
            muted=frozenset(head - 1 for head in state["toy_muted"]),
        )
    )
