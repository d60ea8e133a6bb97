"""Cross-attention: between a receptor and a peptide (untrained), and in a trained run."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.alphabet import BOS, RESIDUES, SequenceError, Vocabulary, clean_sequence
from core.figures.transformer_attention import cross_map
from core.runs.published import ANTIDIAGONAL_OF_LAST_LAYER
from core.transformer.shape import Sizes
from core.written import percent
from pages.parts.downloads import show_figure
from pages.parts.links import check_link
from pages.parts.trained import choose_trained, readable

KINDS = ("Receptor and peptide, untrained", "Trained run")
PEPTIDE = "GILGFVFTL"
LAYERS, HEADS = 2, 4
SEEDS = tuple(range(10))
CODE = """from core.alphabet import RESIDUES
from core.transformer.reading import cross_attention, untrained
from core.transformer.shape import ModelShape

model = untrained(ModelShape(23, 23, 64, {heads}, 256, {layers}), seed={seed})
weights = cross_attention(model, RESIDUES.encode({keys!r}), RESIDUES.encode({queries!r}))
print(weights[{layer}, {head}])
"""
TRAINED_CODE = """from pathlib import Path
from core.alphabet import BOS, Vocabulary
from core.training.checkpoint import load_model
from core.transformer.reading import cross_attention

model, recipe = load_model(Path({file!r}))
encode = Vocabulary(recipe.letters).encode
print(cross_attention(model, encode({sequence!r}), (BOS, *encode({output!r})))[{layer}, {head}])
"""


@st.cache_data(max_entries=64, show_spinner="Loading PyTorch …")
def untrained_weights(queries: str, keys: str, seed: int) -> np.ndarray:
    """(layers, h, n_query, n_key) of a model that has only been initialised."""
    from core.transformer.reading import cross_attention, untrained
    from core.transformer.shape import ModelShape

    shape = ModelShape(len(RESIDUES), len(RESIDUES), 64, HEADS, 256, LAYERS)
    return cross_attention(untrained(shape, seed), RESIDUES.encode(keys), RESIDUES.encode(queries))


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """One of the two maps."""
    check_link({"f_cross": KINDS, "f_seed": SEEDS}, f_cross="map", f_seed="seed")
    st.markdown(
        "Here the two halves meet: **queries** come from the output, **keys and values** from the "
        "source. Each row is one question and sums to 100\u00a0%."
    )
    kind = st.segmented_control(
        "Map",
        KINDS,
        default=KINDS[0],
        required=True,
        key="f_cross",
        bind="query-params",
        label_visibility="collapsed",
    )
    _trained(sequence) if kind == KINDS[1] else _untrained(sequence)


def _untrained(sequence: str) -> None:
    st.warning(
        "Illustration only. The weights are random, drawn from the seed below: this map says "
        "nothing about how the receptor binds the peptide.",
        icon=":material/science_off:",
    )
    left, *places = st.columns(3)
    with left:
        seed = st.select_slider("Seed", SEEDS, 0, key="f_seed", bind="query-params")
    layer, head = _layer_and_head(places, (LAYERS, HEADS), "f_")
    weights = untrained_weights(sequence, PEPTIDE, seed)[layer, head]
    words = strongest(weights, list(sequence), list(PEPTIDE))
    strings = {"keys": PEPTIDE, "queries": sequence}
    words += f"; even sharing would be {percent(1 / len(PEPTIDE), 1)}."
    show_figure(
        cross_map(weights, list(sequence), list(PEPTIDE), "CDR3 asks", "peptide answers"),
        key="f_untrained",
        alt=f"Untrained cross-attention from {sequence} to {PEPTIDE}. {words}",
        table=lambda: pd.DataFrame(weights, index=list(sequence), columns=list(PEPTIDE)),
        code=CODE.format(heads=HEADS, layers=LAYERS, seed=seed, layer=layer, head=head, **strings),
    )
    st.caption(
        f"{sequence} and {PEPTIDE} (influenza M1, on HLA-A*02:01). {words} Another seed gives "
        "another map: that is what untrained means."
    )


def _layer_and_head(
    places: list[DeltaGenerator], counts: tuple[int, int], key: str
) -> tuple[int, int]:
    """The two choices at their places, counted from 0."""
    with places[0]:
        layer = _pick("Layer", counts[0], f"{key}layer")
    with places[1]:
        return layer, _pick("Head", counts[1], f"{key}head")


def _pick(label: str, count: int, key: str) -> int:
    """A number from 1 on the screen, from 0 in the array."""
    options = tuple(range(1, count + 1))
    check_link({key: options}, **{key: label.lower()})
    chosen = st.segmented_control(
        label,
        options,
        default=count if label == "Layer" else 1,
        required=True,
        key=key,
        bind="query-params",
    )
    return (chosen if chosen in options else 1) - 1


def strongest(weights: np.ndarray, queries: list[str], keys: list[str]) -> str:
    """Which query gives how much to which key, places counted from 1."""
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    return (
        f"Strongest: {queries[row]} {row + 1} gives {percent(float(weights[row, column]), 1)} to "
        f"{keys[column]} {column + 1}"
    )


def _trained(sequence: str) -> None:
    chosen = choose_trained()
    if chosen is None:
        return
    try:
        weights, output = trained_weights(str(chosen[1]), chosen[1].stat().st_mtime, sequence)
    except (ValueError, SequenceError) as problem:
        st.error(str(problem), icon=":material/error:")
        return
    _written(weights, output, sequence, readable(chosen[1]))


def _written(weights: np.ndarray, output: str, sequence: str, file: str) -> None:
    from core.training.evaluate import antidiagonal_mean

    layer, head = _layer_and_head(st.columns(2), weights.shape[:2], "f_t")
    shown, asks = weights[layer, head], ["BOS", *output]
    words = strongest(shown, asks, list(sequence))
    means = [percent(antidiagonal_mean(each), 1) for each in weights]
    means_words = ", ".join(f"layer {n} {mean}" for n, mean in enumerate(means, 1))
    show_figure(
        cross_map(shown, asks, list(sequence), "output asks", "source answers"),
        key="f_trained",
        alt=f"Trained cross-attention while writing {output or 'nothing'} from {sequence}. "
        f"{words}. Mean on the anti-diagonal: {means_words}.",
        table=lambda: pd.DataFrame(shown, index=asks, columns=list(sequence)),
        code=TRAINED_CODE.format(
            file=file, output=output, sequence=sequence, layer=layer, head=head
        ),
    )
    st.caption(
        f"It writes **{output}**. To write the next letter, it looks at that letter in the source: "
        f"the anti-diagonal holds, over heads, {means_words}. Published for layer 2 of the paper "
        f"recipe: {percent(ANTIDIAGONAL_OF_LAST_LAYER)}."
    )


@st.cache_data(max_entries=64, show_spinner="Reading with the trained model …")
def trained_weights(file: str, changed: float, sequence: str) -> tuple[np.ndarray, str]:
    """Weights while the model writes its own output, and that output."""
    from core.training.checkpoint import load_model
    from core.training.evaluate import decode_string
    from core.transformer.reading import cross_attention

    model, recipe = load_model(Path(file))
    if len(sequence) > recipe.max_length:
        raise ValueError(
            f"{sequence} has {len(sequence)} letters; this run read at most {recipe.max_length}."
        )
    clean_sequence(sequence, letters=recipe.letters)
    vocabulary = Vocabulary(recipe.letters)
    output = decode_string(model, recipe, sequence)
    ids = vocabulary.encode(sequence), (BOS, *vocabulary.encode(output))
    return cross_attention(model, *ids), output
