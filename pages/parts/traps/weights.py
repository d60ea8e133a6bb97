"""Trap 3: where the weights are, counted on four models."""

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.figures.traps_weights import weight_shares
from core.written import percent
from pages.parts.downloads import show_figure
from pages.parts.traps.words import myth

if TYPE_CHECKING:
    from core.traps.weights import Count

CODE = """\
from core.traps.weights import ROLES, count_all

print("model", *ROLES, sep="\\t")
for count in count_all():
    print(count.model, *count.by_role, sep="\\t")
"""


@st.fragment
def show() -> None:
    """Counted at once: the models are built on the meta device, without memory."""
    myth(
        "Most of the weights are in attention.",
        "About two thirds of a block's weights sit in its feed-forward network: 8 d² against 4 d².",
    )
    counts, roles = _counts()
    low, high = min(c.block_share for c in counts), max(c.block_share for c in counts)
    shares = " to ".join(dict.fromkeys(percent(share, 1) for share in (low, high)))
    least = min(counts, key=lambda c: c.feed_forward_share)
    st.markdown(
        f"#### {shares} of a block's matrices are feed-forward, in all {len(counts)} models\n"
        f"Over the whole {least.model} it is {percent(least.feed_forward_share)}, because each "
        "decoder layer has a second attention; embeddings are counted apart."
    )
    table = _table(counts, roles)
    _picture(counts, roles, table)
    numbers = st.column_config.NumberColumn(format="localized")
    short = table.rename(columns={"Embeddings and output": "Ends"})
    st.dataframe(short, hide_index=True, column_config=dict.fromkeys(short.columns[4:], numbers))
    st.caption(
        "Attention / d² and Feed-forward / d²: the matrices of the first block, biases left out. "
        "Ends: embeddings and output."
    )


@st.cache_data(show_spinner="Building the models without memory and counting …")
def _counts() -> "tuple[tuple[Count, ...], tuple[str, ...]]":
    from core.traps.weights import ROLES, count_all

    return count_all(), ROLES


def _table(counts: "tuple[Count, ...]", roles: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Model": [count.model for count in counts],
            "d": [count.d_model for count in counts],
            "Attention / d²": [count.block_attention / count.d_model**2 for count in counts],
            "Feed-forward / d²": [count.block_feed_forward / count.d_model**2 for count in counts],
            **{role: [c.by_role[i] for c in counts] for i, role in enumerate(roles)},
            "Total": [count.total for count in counts],
        }
    )


def _picture(counts: "tuple[Count, ...]", roles: tuple[str, ...], table: pd.DataFrame) -> None:
    show_figure(
        weight_shares(
            [f"{count.model}, {_short(count.total)}" for count in counts],
            {role: [count.by_role[i] for count in counts] for i, role in enumerate(roles)},
        ),
        key="traps_weights",
        alt="; ".join(
            f"{count.model}: {count.total:,} weights, of these "
            + ", ".join(f"{n:,} {r}" for r, n in zip(roles, count.by_role, strict=True))
            for count in counts
        ),
        table=table,
        code=CODE,
    )


def _short(number: int) -> str:
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,}"
