"""What one box of the drawing does, in words, shapes and numbers."""

import streamlit as st

from core.transformer.parameters import decoder_layer_parameters, encoder_layer_parameters
from core.transformer.shape import Sizes
from core.transformer.tour import Box
from core.written import percent

AXES = {
    "B": "sequences at once",
    "n_src": "letters read",
    "n_tgt": "tokens written, BOS first",
    "d_model": "numbers per letter",
    "h": "heads",
    "d_k": "numbers per letter and head",
    "d_ff": "numbers between widen and narrow",
    "V_src": "different tokens to read",
    "V_tgt": "different tokens to write",
}


_A = {"encoder": "an encoder", "decoder": "a decoder"}


def panel(box: Box, sizes: Sizes) -> None:
    """What the box does, its formula, its arrays, its weights, and the class's own source."""
    part = box.part
    rows = [
        f"| {name} | ({', '.join(_escaped(axis) for axis in axes)}) | {numbers(sizes, axes)} |"
        for name, axes in part.flow
    ]
    table = "\n".join(["| array | axes | numbers |", "|---|---|---|", *rows])
    st.markdown(f"{part.does}\n\n$$\n{part.formula}\n$$\n\n{table}\n\n{_weights(box, sizes)}")
    used = dict.fromkeys(axis for _, axes in part.flow for axis in axes)
    st.caption("; ".join(f"**{_escaped(axis)}** {AXES[axis]}" for axis in used) + ".")
    source = st.expander("Source of what the app runs", icon=":material/code:", on_change="rerun")
    if source.open:
        with source:
            st.caption(f"`{part.code}`")
            st.code(part.source(), language="python")


def _escaped(axis: str) -> str:
    return axis.replace("_", r"\_")


def _weights(box: Box, sizes: Sizes) -> str:
    count, layers = box.part.count(sizes.shape), sizes.shape.num_layers
    if not count:
        return "**0** weights: nothing here is trained."
    if box.repeated:
        return (
            f"**{count:,}** weights in each of {layers} layers "
            f"({percent(count / _layer(box, sizes), 1)} of {_A[box.side]} layer), "
            f"{count * layers:,} in all."
        )
    return f"**{count:,}** weights."


def _layer(box: Box, sizes: Sizes) -> int:
    """Weights of one whole layer of the box's side."""
    whole = encoder_layer_parameters if box.side == "encoder" else decoder_layer_parameters
    return whole(sizes.shape.d_model, sizes.shape.d_ff)


def numbers(sizes: Sizes, axes: tuple[str, ...]) -> str:
    """An array's shape as it is now, such as `2 × 13 × 128`."""
    return "\u00a0×\u00a0".join(f"{n:,}" for n in sizes.of(axes))
