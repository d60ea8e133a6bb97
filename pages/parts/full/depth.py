"""Pre-LN against post-LN, measured on random input at the depth that the visitor chooses."""

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.transformer_depth import norms_by_layer as draw
from core.transformer.shape import Sizes
from pages.parts.downloads import show_figure
from pages.parts.links import check_link

DEEPEST = 48
NAMES = ("post-LN (the paper)", "pre-LN (most models since)")
CODE = """from core.transformer.depth import norms_by_layer

for pre_norm in (False, True):
    norms = norms_by_layer({depth}, pre_norm)
    print(pre_norm, norms.stream, norms.gradient)
"""


@st.cache_data(max_entries=200, show_spinner="One pass forward and back through both …")
def measured(depth: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Stream and gradient norms by layer, each under its placement's name."""
    from core.transformer.depth import norms_by_layer

    both = {
        name: norms_by_layer(depth, pre) for name, pre in zip(NAMES, (False, True), strict=True)
    }
    streams = {name: norms.stream for name, norms in both.items()}
    return streams, {name: norms.gradient for name, norms in both.items()}


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Two figures: what flows up, what flows back."""
    check_link({"f_depth": range(1, DEEPEST + 1)}, f_depth="number of layers")
    st.markdown(
        "The paper normalises **after** each addition, almost everybody since **before** each "
        "sublayer. Same weights, same input, one pass up and one gradient back through N layers:"
    )
    left, right = st.columns(2)
    left.latex(r"\text{post-LN: } \text{LN}(x + \text{sublayer}(x))")
    right.latex(r"\text{pre-LN: } x + \text{sublayer}(\text{LN}(x))")
    depth = st.slider("Layers", 1, DEEPEST, 12, key="f_depth", bind="query-params")
    streams, gradients = measured(min(max(depth, 1), DEEPEST))
    left, right = st.columns(2)
    with left:
        _figure(streams, 0, "Length of a position's vector", "f_stream", depth)
    with right:
        _figure(gradients, 1, "Length of the gradient in a layer's weights", "f_gradient", depth)
    _compared(streams, gradients, depth)


def _compared(streams: dict[str, np.ndarray], gradients: dict[str, np.ndarray], depth: int) -> None:
    from core.transformer.depth import BATCH, D_FF, D_MODEL, HEADS, LENGTH

    post, pre = (streams[name] for name in NAMES)
    st.markdown(
        f"At {depth} layers the stream leaves post-LN with length **{post[-1]:.1f}** and pre-LN "
        f"with **{pre[-1]:.1f}** (in: {pre[0]:.1f}). The largest gradient of any layer is "
        f"**{_spread(gradients[NAMES[0]]):.1f}** times the smallest in post-LN, "
        f"**{_spread(gradients[NAMES[1]]):.1f}** times in pre-LN; in the last layer it is "
        f"**{gradients[NAMES[0]][-1]:.1f}** against **{gradients[NAMES[1]][-1]:.1f}**. Large "
        "gradients near the output are why post-LN needs a warm-up (Xiong et al. 2020)."
    )
    st.caption(
        f"Untrained encoders of width {D_MODEL}, {HEADS} heads, d_ff {D_FF}, no dropout, on "
        f"{BATCH} × {LENGTH} random vectors; the loss is a random linear reading of the output. In "
        "front of its reading, pre-LN normalises once more."
    )


def _spread(values: np.ndarray) -> float:
    return float(values.max() / values.min())


def _figure(norms: dict[str, np.ndarray], first: int, title: str, key: str, depth: int) -> None:
    words = "; ".join(f"{n}: {v[0]:.2f} to {v[-1]:.2f}" for n, v in norms.items())
    show_figure(
        draw(norms, first, title),
        key=key,
        alt=f"{title} by layer, {depth} layers, first and last: {words}.",
        table=lambda: pd.DataFrame(
            {"layer": range(first, first + len(next(iter(norms.values())))), **norms}
        ),
        code=CODE.format(depth=depth),
    )
