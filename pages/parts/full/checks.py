"""The parity table: our modules against torch.nn, run when the chapter is opened."""

import pandas as pd
import streamlit as st

from core.transformer.shape import Sizes
from pages.parts.downloads import downloads

WORDS = {
    "layer_norm": "LayerNorm, formula written out",
    "multi_head_attention_causal": "Multi-head attention, causal mask",
    "fused_vs_explicit": "Our attention: fused kernel against formula",
    "encoder_layer": "Encoder layer, padding mask",
    "encoder_layer_pre_norm": "Encoder layer, pre-LN",
    "decoder_layer": "Decoder layer, causal and padding masks",
    "toy_block": "The toy's NumPy block",
}
BOUNDS = {"float32": 1e-5, "float64": 1e-10}
CODE = """from core.parity import differences

for dtype in ("float32", "float64"):
    print(dtype, differences(dtype, seed={seed}))
"""


def _again() -> None:
    st.session_state["_f_parity"] += 1


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Largest absolute differences, drawn anew at each click."""
    st.markdown(
        "The same weights are copied into PyTorch's own layers, the same random input goes through "
        "both, and this is the largest difference of any number."
    )
    seed = st.session_state.setdefault("_f_parity", 0)
    st.button("Again, with other weights and input", icon=":material/casino:", on_click=_again)
    with st.spinner("Comparing …"):
        from core.parity import differences

        found = {dtype: differences(dtype, seed) for dtype in BOUNDS}
    _table(found, seed)
    agree = sum(found[d][n] < BOUNDS[d] for d in BOUNDS for n in WORDS)
    bounds = " and ".join(f"{b:.0e} in {dtype}" for dtype, b in BOUNDS.items()).replace("-0", "-")
    st.markdown(
        f"**{agree} of {len(BOUNDS) * len(WORDS)}** are within rounding (below {bounds}). What the "
        "drawing explains is what PyTorch computes."
    )


def _table(found: dict[str, dict[str, float]], seed: int) -> None:
    table = pd.DataFrame(
        {"module": WORDS.values()}
        | {dtype: [found[dtype][name] for name in WORDS] for dtype in BOUNDS}
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={d: st.column_config.NumberColumn(d, format="%.1e") for d in BOUNDS},
    )
    downloads("f_parity_table", table=table, code=CODE.format(seed=seed))
