"""The numbers that really leave a box, in a trained run that reads the visitor's sequence."""

from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import BOS, RESIDUES, SequenceError, Vocabulary, clean_sequence
from core.figures.transformer_attention import cross_map
from core.figures.transformer_flow import flowing
from core.transformer.tour import Box
from core.written import percent, typeset
from pages.parts.downloads import show_figure
from pages.parts.full.cross import strongest
from pages.parts.links import check_link
from pages.parts.trained import RECORDED, readable

T = TypeVar("T", int, str)
LAYERS = (1, 2)
PICTURES = ("Output", "1", "2", "3", "4")
_NAMES = {
    "Self-attention": "encoder.{}.self",
    "Causal self-attention": "decoder.{}.self",
    "Cross-attention": "decoder.{}.cross",
}
LOOKS_CODE = """from pathlib import Path
from core.alphabet import BOS, Vocabulary
from core.training.checkpoint import load_model
from core.transformer.reading import all_attention

model, recipe = load_model(Path({file!r}))
encode = Vocabulary(recipe.letters).encode
weights = all_attention(model, encode({sequence!r}), (BOS, *encode({output!r})))
print(weights[{name!r}][{head} - 1])
"""
CODE = """from pathlib import Path
from core.alphabet import BOS, Vocabulary
from core.training.checkpoint import load_model
from core.transformer.flow import arrays_by_box

model, recipe = load_model(Path({file!r}))
encode = Vocabulary(recipe.letters).encode
arrays = arrays_by_box(model, encode({sequence!r}), (BOS, *encode({output!r})), layer={layer})
print(arrays[{title!r}])
"""


@st.cache_data(max_entries=64, show_spinner="Reading with the recorded run …")
def arrays(file: str, changed: float, sequence: str, layer: int) -> dict[str, np.ndarray]:
    """By box title, and attention weights by name; the decoder reads the right answer."""
    from core.training.checkpoint import load_model
    from core.transformer.flow import arrays_by_box
    from core.transformer.reading import all_attention

    model, recipe = load_model(Path(file))
    clean_sequence(sequence, letters=recipe.letters)
    if len(sequence) > recipe.max_length:
        raise ValueError(
            f"{sequence} has {len(sequence)} letters; this run read at most {recipe.max_length}."
        )
    encode = Vocabulary(recipe.letters).encode
    ids = encode(sequence), (BOS, *encode(sequence[::-1]))
    return arrays_by_box(model, *ids, layer) | all_attention(model, *ids)


def show(box: Box, sequence: str) -> None:
    """A switch, and behind it the heat map of what leaves `box`, or of whom it looks at."""
    if not RECORDED.is_file() or box.title in ("Source tokens", "Output so far"):
        return
    check_link({"f_flow": ("true", "false")}, f_flow="switch")
    if not st.toggle(
        "Show what leaves this box in the recorded run", key="f_flow", bind="query-params"
    ):
        return
    layer = _choose("Layer", LAYERS, LAYERS[-1], "f_fl") if box.repeated else LAYERS[-1]
    head = _head() if box.title in _NAMES else PICTURES[0]
    try:
        values = arrays(str(RECORDED), RECORDED.stat().st_mtime, sequence, layer)
    except (ValueError, SequenceError) as problem:
        st.error(str(problem), icon=":material/error:")
        return
    if head == PICTURES[0]:
        _picture(box, sequence, layer, values[box.title])
    else:
        _looks(box, sequence, layer, PICTURES.index(head), values)


def _head() -> str:
    return _choose("Output, or one head's weights", PICTURES, PICTURES[0], "f_fh")


def _choose(label: str, options: tuple[T, ...], default: T, key: str) -> T:
    check_link({key: options}, **{key: label.lower()})
    chosen = st.segmented_control(
        label, options, default=default, required=True, key=key, bind="query-params"
    )
    return chosen if chosen in options else default


def _looks(box: Box, sequence: str, layer: int, head: int, values: dict[str, np.ndarray]) -> None:
    """Who looks at whom in one head, counted from 1."""
    source, output = list(sequence), ["BOS", *sequence[::-1]]
    asks = source if box.side == "encoder" else output
    answers = output if box.title == "Causal self-attention" else source
    name = _NAMES[box.title].format(layer)
    weights = values[name][head - 1]
    words = f"{strongest(weights, asks, answers)}."
    if asks is answers is output:
        ahead = percent(float(np.triu(weights, 1).sum() / weights.sum()), 1)
        words += f" {ahead} goes to letters still to come: the causal mask forbids it. ▸ is BOS."
    show_figure(
        cross_map(weights, asks, answers, "asks", "answers"),
        key="f_flow_head",
        alt=f"Attention weights of {box.title}, layer {layer}, head {head} of the recorded run. "
        f"{words}",
        table=lambda: pd.DataFrame(weights, index=asks, columns=answers),
        code=LOOKS_CODE.format(
            file=readable(RECORDED), sequence=sequence, output=sequence[::-1], name=name, head=head
        ),
    )
    st.caption(words)


def _picture(box: Box, sequence: str, layer: int, values: np.ndarray) -> None:
    letters = list(sequence) if box.side == "encoder" else ["BOS", *sequence[::-1]]
    tokens = box.title in ("Generator", "Next letter")
    columns = ["PAD", "BOS", "EOS", *RESIDUES.letters] if tokens else None
    words = _largest(values, letters, columns)
    show_figure(
        flowing(values, letters, columns),
        key="f_flow_map",
        alt=f"What leaves {box.title} in the recorded run, {values.shape[0]} letters by "
        f"{values.shape[1]} numbers. {words}",
        table=lambda: pd.DataFrame(values, columns=columns),
        code=CODE.format(
            file=readable(RECORDED),
            sequence=sequence,
            output=sequence[::-1],
            layer=layer,
            title=box.title,
        ),
    )
    reads = "" if box.side == "encoder" else "The decoder has read BOS and the reversed letters. "
    st.caption(
        f"{words} {reads}The recorded run is smaller than the sizes above may say: rows are "
        f"{values.shape[1]} wide."
    )


def _largest(values: np.ndarray, letters: list[str], columns: list[str] | None) -> str:
    row, column = np.unravel_index(np.abs(values).argmax(), values.shape)
    where = columns[column] if columns else f"dimension {column}"
    return f"Largest: {typeset(values[row, column], '.2f')} at {letters[row]} {row + 1}, {where}."
