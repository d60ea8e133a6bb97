"""Sizes of the model, and the count of its weights by formula and on the real classes."""

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.alphabet import RESIDUES
from core.figures.parameters import weight_treemap
from core.transformer.parameters import (
    Part,
    attention_parameters,
    decoder_layer_parameters,
    encoder_layer_parameters,
    feed_forward_parameters,
    norm_parameters,
    parts_by_formula,
    total_by_counting,
    total_by_formula,
)
from core.transformer.shape import ModelShape, Sizes
from core.written import percent
from pages.parts.downloads import show_figure
from pages.parts.links import check_link, say_what_is_damaged, whole_number

WIDTHS = (32, 64, 128, 256, 512, 768, 1024)
HEADS = (1, 2, 4, 8, 16)
HIDDEN = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
PLACEMENTS = ("post-LN", "pre-LN")
MOST_LAYERS, MOST_BATCH, MOST_VOCABULARY = 24, 128, 50_000
PAPER = {"f_d": 512, "f_h": 8, "f_ff": 2048, "f_n": 6, "f_sv": 10_000, "f_tv": 8_000}
REVERSE = {"f_d": 64, "f_h": 4, "f_ff": 256, "f_n": 2, "f_sv": len(RESIDUES), "f_tv": len(RESIDUES)}
CODE = """from core.transformer.parameters import parts_by_formula, total_by_counting
from core.transformer.shape import ModelShape

shape = ModelShape({shape})
for part in parts_by_formula(shape):
    print(part.path, part.count)
print(sum(part.count for part in parts_by_formula(shape)), total_by_counting(shape))
"""


def choose_placement() -> bool:
    """Whether each norm stands before its sublayer (pre-LN)."""
    check_link({"f_ln": PLACEMENTS}, f_ln="place of the norms")
    chosen = st.segmented_control(
        "Norms",
        PLACEMENTS,
        default=PLACEMENTS[0],
        required=True,
        key="f_ln",
        bind="query-params",
        help="After each addition, as in the paper, or before each sublayer, as in most models "
        "since. The chapter Depth measures what it changes.",
    )
    return chosen == PLACEMENTS[1]


def choose_sizes(sequence: str, *, pre_norm: bool, folded: bool) -> Sizes:
    """The sliders, in a popover when `folded`; every value is in the URL."""
    check_link(
        {
            "f_d": WIDTHS,
            "f_h": HEADS,
            "f_ff": HIDDEN,
            "f_n": range(1, MOST_LAYERS + 1),
            "f_b": range(1, MOST_BATCH + 1),
        },
        f_d="width",
        f_h="number of heads",
        f_ff="hidden width",
        f_n="number of layers",
        f_b="batch size",
    )
    vocabulary = ("vocabulary", whole_number(4, MOST_VOCABULARY))
    say_what_is_damaged({"f_sv": vocabulary, "f_tv": vocabulary})
    if folded:
        with st.popover("Sizes of this model", icon=":material/tune:", width="stretch"):
            batch, shape = _sliders(pre_norm)
    else:
        st.markdown("Move a slider: the count below and the drawing above follow.")
        batch, shape = _sliders(pre_norm)
    return Sizes(batch, len(sequence), len(sequence) + 1, shape)


def _sliders(pre_norm: bool) -> tuple[int, ModelShape]:
    with st.container(horizontal=True):
        st.button("Paper's base model", on_click=st.session_state.update, args=(PAPER,))
        st.button("Reverse task", on_click=st.session_state.update, args=(REVERSE,))
    first, second, third = st.columns(3)
    with first:
        width = _slider("d_model, width", WIDTHS, "f_d")
        heads = _slider("h, heads", HEADS, "f_h")
    with second:
        hidden = _slider("d_ff, hidden width", HIDDEN, "f_ff")
        layers = _slider("N, layers on each side", tuple(range(1, MOST_LAYERS + 1)), "f_n")
    with third:
        source = _number("V, source vocabulary", "f_sv")
        target = _number("V, output vocabulary", "f_tv")
    batch = _slider("B, sequences at once", tuple(range(1, MOST_BATCH + 1)), "f_b", 2)
    shape = ModelShape(source, target, width, heads, hidden, layers, pre_norm=pre_norm)
    return batch, shape


def _slider(label: str, options: tuple[int, ...], key: str, default: int | None = None) -> int:
    start = PAPER[key] if default is None else default
    chosen = st.select_slider(label, options, start, key=key, bind="query-params")
    return chosen if chosen in options else start


def _number(label: str, key: str) -> int:
    chosen = st.number_input(label, 4, MOST_VOCABULARY, PAPER[key], 1, key=key, bind="query-params")
    return min(max(int(chosen), 4), MOST_VOCABULARY)


@st.cache_data(max_entries=256, show_spinner="Building the model without memory …")
def _counted(shape: ModelShape) -> int:
    return total_by_counting(shape)


def show(sizes: Sizes, sequence: str) -> None:
    """Both counts, what they are made of, and the treemap."""
    shape = sizes.shape
    formula, counted = total_by_formula(shape), _counted(shape)
    with st.container(horizontal=True):
        st.metric("By formula", f"{formula:,}")
        st.metric("Counted on the real model", f"{counted:,}")
        st.metric("Difference", f"{formula - counted:,}")
    _shares(shape, formula)
    _formulas(shape)


def _shares(shape: ModelShape, total: int) -> None:
    parts = parts_by_formula(shape)
    attention = sum(p.count for p in parts if p.name.endswith("-attention"))
    hidden = sum(p.count for p in parts if p.name == "Feed-forward")
    layers = sum(p.count for p in parts if p.inside)
    st.markdown(
        f"**{percent(hidden / layers, 1)}** of the layers' weights are feed-forward (green), "
        f"**{percent(attention / layers, 1)}** attention (orange); "
        f"**{percent(1 - layers / total, 1)}** of all weights are embeddings (purple) and "
        "generator (blue). The number of heads changes nothing: they share one width."
    )
    show_figure(
        weight_treemap(_places(parts, shape), [p.count for p in parts], "All weights"),
        key="f_treemap",
        alt=f"Treemap of {total:,} weights: feed-forward {hidden:,}, attention {attention:,}, "
        f"embeddings and generator {total - layers:,}.",
        table=lambda: pd.DataFrame([{"part": p.path, "weights": p.count} for p in parts]),
        code=CODE.format(
            shape=f"{shape.src_vocab}, {shape.tgt_vocab}, {shape.d_model}, {shape.num_heads}, "
            f"{shape.d_ff}, {shape.num_layers}, pre_norm={shape.pre_norm}"
        ),
    )


def _places(parts: Sequence[Part], shape: ModelShape) -> list[str]:
    """Where each part is drawn: equal layers are one box, so that its numbers can be read."""
    layers = f"{shape.num_layers} layer{'s' * (shape.num_layers > 1)}"
    return [re.sub(r"/Layer \d+", f", {layers}", part.path) for part in parts]


def _formulas(shape: ModelShape) -> None:
    d, f = shape.d_model, shape.d_ff
    attention, hidden = attention_parameters(d), feed_forward_parameters(d, f)
    norm, encoder, decoder = (
        norm_parameters(d),
        encoder_layer_parameters(d, f),
        decoder_layer_parameters(d, f),
    )
    st.latex(
        r"\begin{aligned}"
        rf"A = 4d^2 + 4d &= {_tex(attention)} \\"
        rf"F = 2\,d\,d_{{ff}} + d_{{ff}} + d &= {_tex(hidden)} \\"
        rf"N = 2d &= {_tex(norm)} \\"
        rf"\text{{encoder layer}} = A + F + 2N &= {_tex(encoder)} \\"
        rf"\text{{decoder layer}} = 2A + F + 3N &= {_tex(decoder)}"
        r"\end{aligned}"
    )
    st.caption(
        "A attention, F feed-forward, N norm. “Counted” builds the app's own Transformer class on "
        "torch's meta device, where arrays have a shape and no memory, and adds up its parameters."
    )


def _tex(count: int) -> str:
    return f"{count:,}".replace(",", "{,}")
