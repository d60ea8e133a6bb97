"""The toy's edits in this visit: kept as one WhatIf, mirrored in the URL, changed by the panel."""

from dataclasses import replace

import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.toy.compare import edit_list
from core.toy.heads import HEADS
from core.toy.jobs import label
from core.toy.model import ToyRun
from core.toy.residue_vectors import COLUMNS
from core.toy.what_if import (
    LARGEST_WEIGHT,
    MATRICES,
    UNTOUCHED,
    WeightEdit,
    WhatIf,
    decode,
    encode,
)

_EDITS, _WRITTEN, _ROUND = "_toy_edits", "_toy_edits_in_url", "_toy_editor_round"
_URL = "t_w"
_KINDS = ("Swap a residue", "Change a weight", "Switch something off")


def read_edits() -> WhatIf:
    """The edits of this visit; a link's edits are read when it is opened. Main script only."""
    in_url = st.query_params.get(_URL)
    if in_url is not None and in_url != st.session_state.get(_WRITTEN):
        edits, problem = decode(in_url)
        st.session_state[_EDITS] = edits
        if problem:
            st.warning(problem, icon=":material/link_off:")
    edits = current_edits()
    text = encode(edits)
    st.session_state[_WRITTEN] = text
    if text and in_url != text:
        st.query_params[_URL] = text
    elif not text and in_url is not None:
        del st.query_params[_URL]
    return edits


def current_edits() -> WhatIf:
    """The edits of this visit, none at first."""
    return st.session_state.get(_EDITS, UNTOUCHED)


def _keep(edits: WhatIf) -> None:
    """Remember, and run the whole page: every open chapter depends on the edits."""
    st.session_state[_EDITS] = edits
    st.rerun()


def restore() -> None:
    """One click back to the untouched model."""
    # A new key gives the weight table a fresh start; the old one would replay its edits.
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    _keep(UNTOUCHED)


def edit_panel(before: ToyRun, after: ToyRun, head: int, query: int) -> None:
    """Choose a kind of edit, make it; what is edited stands below with the way back."""
    kind = st.segmented_control(
        "Break it", _KINDS, key="t_e", bind="query-params", help="The ghost is the untouched model."
    )
    if kind == _KINDS[0]:
        _swap(before, after, query)
    elif kind == _KINDS[1]:
        _weights(after, head)
    elif kind == _KINDS[2]:
        _switches(after)
    edits = edit_list(before, after)
    if edits:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("Edited: " + "; ".join(edits) + ".")
            st.button("Restore", icon=":material/undo:", on_click=restore, key="toy_restore")


def _swap(before: ToyRun, after: ToyRun, query: int) -> None:
    st.session_state["toy_swap"] = after.sequence[query]

    def swapped() -> None:
        letter = st.session_state["toy_swap"] or before.sequence[query]
        _keep(current_edits().with_swap(query + 1, letter).fitted(before.sequence))

    st.pills(
        f"{label(before.sequence, query)} becomes",
        list(AMINO_ACIDS),
        key="toy_swap",
        on_change=swapped,
    )


def _weights(after: ToyRun, head: int) -> None:
    import pandas as pd  # here, not above: the page opens without it

    names = {f"W{m} {d + 1}": (m, d) for m in MATRICES for d in range(2)}
    table = pd.DataFrame(
        {
            name: getattr(after.heads[head], f"w_{matrix}")[:, column].round(3)
            for name, (matrix, column) in names.items()
        },
        index=list(COLUMNS),
    )
    key = f"toy_weights_{head}_{st.session_state.get(_ROUND, 0)}"

    def edited() -> None:
        changed = [
            WeightEdit(head, *(names[name][0], int(row), names[name][1]), _bounded(value))
            for row, cells in st.session_state[key]["edited_rows"].items()
            for name, value in cells.items()
            if name in names
        ]
        _keep(current_edits().with_weights(changed))

    st.caption(f"Head {head + 1}: any entry, from -{LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}.")
    st.data_editor(
        table,
        key=key,
        on_change=edited,
        disabled=["_index"],
        alt=f"The weights of head {head + 1}: Wq, Wk and Wv, eight rows and two columns each.",
        column_config={
            name: st.column_config.NumberColumn(
                min_value=-LARGEST_WEIGHT, max_value=LARGEST_WEIGHT, format="%.2f"
            )
            for name in names
        },
    )


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

    def switched() -> None:
        state = st.session_state
        _keep(
            replace(
                current_edits(),
                positions=state["toy_positions"],
                scale=state["toy_scale"],
                causal=state["toy_causal"],
                muted=frozenset(head - 1 for head in state["toy_muted"]),
            )
        )

    with st.container(horizontal=True):
        st.toggle("Positions", key="toy_positions", on_change=switched)
        st.toggle("Divide by √d_k", key="toy_scale", on_change=switched)
        st.toggle("Causal mask", key="toy_causal", on_change=switched)
        st.pills(
            "Mute heads",
            [1 + head for head in range(len(HEADS))],
            selection_mode="multi",
            key="toy_muted",
            on_change=switched,
        )
