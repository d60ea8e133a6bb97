"""Trap 2: order comes from positional encoding alone; shuffle and see."""

import pandas as pd
import streamlit as st

from core.figures.traps_order import shuffle_differences
from core.traps.order_toy import Shuffle, shuffle_toy
from core.traps.question import ROUNDING
from core.written import typeset
from pages.parts.controls import sequence_box
from pages.parts.downloads import show_figure
from pages.parts.links import whole_number
from pages.parts.traps.words import check_link, myth

TOY, ENCODER = "Toy block", "PyTorch encoder"
MOST_SHUFFLES = 1000
CODE = """\
from core.traps.{module} import {function}

result = {function}({sequence!r}, seed={seed}, causal_mask={causal})
print(result.shuffled)
print("positions off:", result.without_positions.max())
print("positions on: ", result.with_positions.max())
"""


@st.fragment
def show() -> None:
    """The whole experiment; redrawn alone when one of its own controls changes."""
    myth(
        "A Transformer knows the order of a sequence.",
        "Only through positional encoding: without it, shuffling the input shuffles the output.",
    )
    check_link(
        {
            "x_order": ("model", lambda text: text in (TOY, ENCODER)),
            "x_seed": ("shuffle", whole_number(0, MOST_SHUFFLES)),
            "x_causal": ("mask", lambda text: text in ("true", "false")),
        }
    )
    left, middle, right, last = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    with left:
        sequence = sequence_box().sequence
    model = middle.selectbox("Model", [TOY, ENCODER], key="x_order", bind="query-params")
    seed = int(
        right.number_input("Shuffle", 0, MOST_SHUFFLES, 0, key="x_seed", bind="query-params") or 0
    )
    causal = last.toggle("Causal mask", key="x_causal", bind="query-params")
    seed = min(max(seed, 0), MOST_SHUFFLES)
    _picture(_shuffled(model or TOY, sequence, seed, causal), model or TOY, causal, sequence, seed)


def _shuffled(model: str, sequence: str, seed: int, causal: bool) -> Shuffle:
    if model == TOY:
        return shuffle_toy(sequence, seed, causal_mask=causal)
    from core.traps.order_encoder import shuffle_encoder

    return shuffle_encoder(sequence, seed, causal_mask=causal)


def _picture(result: Shuffle, model: str, causal: bool, sequence: str, seed: int) -> None:
    off, on = float(result.without_positions.max()), float(result.with_positions.max())
    number, words = f"{off:.2f}", "the causal mask tells the order: what is hidden depends on it"
    if off < ROUNDING:
        number = typeset(off, ".1e")
        words = "the outputs are the same vectors, shuffled (rounding only)"
    words = (
        f"{result.letters} → {result.shuffled}. With positions off {words}; with positions on "
        f"they differ by up to {on:.2f}."
    )
    st.markdown(f"#### {number} with positions off, {on:.2f} with positions on\n{words}")
    show_figure(
        shuffle_differences(result.names, result.without_positions, result.with_positions),
        key="traps_order",
        alt=f"{model}: difference between shuffling before and after the model. {words}",
        table=lambda: _table(result),
        code=CODE.format(
            module="order_toy" if model == TOY else "order_encoder",
            function="shuffle_toy" if model == TOY else "shuffle_encoder",
            sequence=sequence,
            seed=seed,
            causal=causal,
        ),
    )


def _table(result: Shuffle) -> pd.DataFrame:
    both = {"positions off": result.without_positions, "positions on": result.with_positions}
    frames = {name: pd.DataFrame(values, index=result.names) for name, values in both.items()}
    return pd.concat(frames, names=["positions", "residue"]).reset_index()
