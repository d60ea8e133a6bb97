"""The parity table: our modules against torch.nn, run when the chapter is opened."""

import pandas as pd
import streamlit as st

from core.transformer.shape import Sizes
from core.written import typeset
from pages.parts.downloads import downloads
from pages.parts.links import say_what_is_damaged, whole_number

WORDS = {
    "layer_norm": "LayerNorm, formula written out",
    "multi_head_attention_causal": "Multi-head attention, causal mask",
    "fused_vs_explicit": "Our attention: fused kernel against formula",
    "encoder_layer": "Encoder layer, padding mask",
    "encoder_layer_pre_norm": "Encoder layer, pre-LN",
    "decoder_layer": "Decoder layer, causal and padding masks",
    "toy_block": "The toy's NumPy block",
}
MOST_SEEDS = 999
BOUNDS = {"float32": 1e-5, "float64": 1e-10}
CODE = """from core.parity import differences

for dtype in ("float32", "float64"):
    print(dtype, differences(dtype, seed={seed}))
"""


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Largest absolute differences, drawn anew for each seed."""
    st.markdown(
        "The same weights are copied into PyTorch's own layers, the same random input goes through "
        "both, and this is the largest difference of any number."
    )
    say_what_is_damaged({"f_pseed": ("seed", whole_number(0, MOST_SEEDS))})
    seed = st.number_input(
        "Seed of weights and input", 0, MOST_SEEDS, 0, key="f_pseed", bind="query-params", width=240
    )
    seed = min(max(int(seed), 0), MOST_SEEDS)
    with st.spinner("Comparing …"):
        from core.parity import differences

        found = {dtype: differences(dtype, seed) for dtype in BOUNDS}
    _table(found, seed)
    agree = sum(found[d][n] < BOUNDS[d] for d in BOUNDS for n in WORDS)
    bounds = " and ".join(f"{_power(bound)} in {dtype}" for dtype, bound in BOUNDS.items())
    st.markdown(
        f"**{agree} of {len(BOUNDS) * len(WORDS)}** are within rounding (below {bounds}). What the "
        "drawing explains is what PyTorch computes."
    )


def _power(bound: float) -> str:
    return typeset(bound, ".0e").removeprefix("1·")


def _table(found: dict[str, dict[str, float]], seed: int) -> None:
    table = pd.DataFrame(
        {"module": WORDS.values()}
        | {dtype: [found[dtype][name] for name in WORDS] for dtype in BOUNDS}
    )
    st.table(table.set_index("module").map(lambda difference: typeset(difference, ".1e")))
    downloads("f_parity_table", table=table, code=CODE.format(seed=seed))
