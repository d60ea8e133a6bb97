"""Two experiments on the toy page: the division by sqrt(d_k), and the block against PyTorch."""

import math

import numpy as np
import streamlit as st

from core.figures.toy_sqrt import draw_bars, top_weight_histogram
from core.toy.model import run_toy
from core.toy.softmax_experiment import TopWeights, one_draw, top_weights
from core.written import percent, typeset
from pages.parts.chapters import chapter
from pages.parts.downloads import show_figure

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_KEYS, _DRAWS = 13, 1000


@st.cache_data(max_entries=len(WIDTHS), show_spinner=False)
def _many(d_k: int) -> TopWeights:
    return top_weights(d_k, _KEYS, _DRAWS)


def _redraw() -> None:
    st.session_state["t_d"] = (st.session_state.get("t_d", 0) + 1) % 10_000


@chapter("Why divide by √d_k? Draw and see", "t_c6")
def square_root(sequence: str) -> None:
    """Why divide by sqrt(d_k): one draw, a thousand draws, any d_k."""
    d_k = st.select_slider("d_k", WIDTHS, 64, key="t_n", bind="query-params", width=320)
    left, right = st.columns(2)
    with left:
        _one_draw(d_k)
    with right:
        _thousand_draws(d_k)
    st.caption("Published for one draw with d_k 64: 99.8\u00a0% raw and 33\u00a0% divided.")


@st.fragment
def _one_draw(d_k: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input("Draw number", 0, 9999, 0, key="t_d", bind="query-params", width=150)
        st.button("Redraw", icon=":material/casino:", on_click=_redraw, key="toy_redraw")
    seed = min(9999, max(0, int(seed)))
    draw = one_draw(d_k, _KEYS, seed)
    raw, divided = percent(draw.unscaled.max(), 1), percent(draw.scaled.max(), 1)
    st.markdown(
        f"One query and {_KEYS} keys: **{raw}** of the weight on one key with raw scores, "
        f"**{divided}** after dividing by √{d_k} = {math.sqrt(d_k):.2f}."
    )
    show_figure(
        draw_bars(draw.unscaled, draw.scaled),
        key="toy_draw",
        alt=f"One draw: largest weight {raw} raw, {divided} divided.",
        table={"score": draw.scores, "raw": draw.unscaled, "divided": draw.scaled},
        code="from core.toy.softmax_experiment import one_draw\n\n"
        f"draw = one_draw({d_k}, {_KEYS}, {seed})\n"
        "print(draw.unscaled.max(), draw.scaled.max())",
    )


def _thousand_draws(d_k: int) -> None:
    many = _many(d_k)
    raw, divided = (percent(np.median(v), 1) for v in (many.unscaled, many.scaled))
    st.markdown(
        f"**{_DRAWS:,} draws**: the middle values are **{raw}** and **{divided}**; raw scores "
        f"spread by ±{many.score_deviation:.1f} (one standard deviation)."
    )
    show_figure(
        top_weight_histogram(many.unscaled, many.scaled),
        key="toy_many",
        alt=f"Largest weight of {_DRAWS} draws: median {raw} raw, {divided} divided.",
        table={"raw": many.unscaled, "divided": many.scaled},
        code="from core.toy.softmax_experiment import top_weights\n\n"
        f"many = top_weights({d_k}, {_KEYS}, {_DRAWS})\n"
        "print(sorted(many.unscaled)[500], sorted(many.scaled)[500])",
    )


@chapter("Is it real? The same block in PyTorch, run now", "t_c8")
def against_pytorch(sequence: str) -> None:
    """The untouched block with its weights copied into PyTorch's layer, run here and now."""
    with st.spinner("Loading PyTorch, a few seconds the first time …"):
        # Only here: this page must open without waiting for torch.
        from core.parity import toy_block_difference

        single, double = (toy_block_difference(d, sequence) for d in ("float32", "float64"))
    left, right = st.columns(2)
    left.metric(
        "Largest difference, float32 (must be below 10⁻⁵)", typeset(single, ".1e"), border=True
    )
    right.metric(
        "Largest difference, float64 (must be below 10⁻¹²)", typeset(double, ".1e"), border=True
    )
    same = single < 1e-5 and double < 1e-12
    st.markdown(
        f"{':material/check_circle:' if same else ':material/cancel:'} "
        f"{run_toy(sequence).vectors.size} numbers from the hand-written block "
        f"{'agree' if same else 'do not agree'} with `torch.nn.TransformerEncoderLayer` holding "
        "the same weights (the untouched model, without your edits)."
    )
    with st.popover("See the code", icon=":material/code:", type="tertiary"):
        st.code(
            "from core.parity import toy_block_difference\n\n"
            f'print(toy_block_difference("float32", "{sequence}"))\n'
            f'print(toy_block_difference("float64", "{sequence}"))'
        )
