"""The numbers that really leave a box, in a trained run that reads the visitor's sequence."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import BOS, RESIDUES, SequenceError, Vocabulary, clean_sequence
from core.figures.transformer_flow import flowing
from core.transformer.tour import Box
from core.written import typeset
from pages.parts.downloads import show_figure
from pages.parts.links import check_link
from pages.parts.trained import RECORDED, readable

LAYERS = (1, 2)
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
    """By box title; the decoder reads the right answer, BOS first."""
    from core.training.checkpoint import load_model
    from core.transformer.flow import arrays_by_box

    model, recipe = load_model(Path(file))
    clean_sequence(sequence, letters=recipe.letters)
    if len(sequence) > recipe.max_length:
        raise ValueError(
            f"{sequence} has {len(sequence)} letters; this run read at most {recipe.max_length}."
        )
    encode = Vocabulary(recipe.letters).encode
    return arrays_by_box(model, encode(sequence), (BOS, *encode(sequence[::-1])), layer)


def show(box: Box, sequence: str) -> None:
    """A switch, and behind it the heat map of what leaves `box`."""
    if not RECORDED.is_file() or box.title in ("Source tokens", "Output so far"):
        return
    check_link({"f_flow": ("true", "false"), "f_fl": LAYERS}, f_flow="switch", f_fl="layer")
    if not st.toggle(
        "Show what leaves this box in the recorded run", key="f_flow", bind="query-params"
    ):
        return
    layer = LAYERS[-1]
    if box.repeated:
        chosen = st.segmented_control(
            "Layer", LAYERS, default=LAYERS[-1], required=True, key="f_fl", bind="query-params"
        )
        layer = chosen if chosen in LAYERS else LAYERS[-1]
    try:
        values = arrays(str(RECORDED), RECORDED.stat().st_mtime, sequence, layer)[box.title]
    except (ValueError, SequenceError) as problem:
        st.error(str(problem), icon=":material/error:")
        return
    _picture(box, sequence, layer, values)


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
