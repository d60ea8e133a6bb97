"""Positions: the waves, what they make possible, and two other ways to say where a letter is."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.positions import (
    encoding_heatmap,
    period_curve,
    score_map,
    similarity_curve,
    waves,
)
from core.toy.residue_vectors import residue_vectors, wave_speeds
from core.transformer.rotary import relative_error, rotary_scores
from core.transformer.shape import Sizes
from core.transformer.waves import (
    cosine_by_distance,
    frequencies,
    periods,
    shift_rotation_error,
    sinusoidal_table,
)
from pages.parts.downloads import show_figure
from pages.parts.links import check_link

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
LENGTHS = (10, 20, 50, 100, 200)
SHIFTS = tuple(range(1, 51))
_IMPORT = "from core.transformer.waves import *\n"


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """One picture at a time, with its one or two sliders."""
    check_link(
        {"f_pic": _PICTURES, "f_pd": WIDTHS, "f_pl": LENGTHS, "f_shift": SHIFTS, "f_rd": WIDTHS}
    )
    st.markdown(
        "Attention sees a bag of letters. So every vector is stamped with its position: a clock "
        "with many hands, each pair of dimensions turning slower than the one before."
    )
    chosen = st.segmented_control(
        "Picture",
        list(_PICTURES),
        default="Table",
        required=True,
        key="f_pic",
        bind="query-params",
        label_visibility="collapsed",
    )
    _PICTURES.get(chosen or "", _table)(sequence)


def _choice(label: str, options: tuple[int, ...], default: int, key: str) -> int:
    chosen = st.select_slider(label, options, default, key=key, bind="query-params")
    return chosen if chosen in options else default


def _width_and_length(length: int = 50) -> tuple[int, int]:
    left, right = st.columns(2)
    with left:
        width = _choice("Dimensions, d_model", WIDTHS, 16, "f_pd")
    with right:
        return width, _choice("Positions", LENGTHS, length, "f_pl")


def _table(sequence: str) -> None:
    width, length = _width_and_length()
    table = sinusoidal_table(length, width)
    row = ", ".join(f"{value:.3f}" for value in table[1, :4])
    show_figure(
        encoding_heatmap(table),
        key="f_table",
        alt=f"Positions 0 to {length - 1} by {width} dimensions, values {table.min():.2f} to "
        f"{table.max():.2f}. Position 1 begins {row}.",
        table=lambda: pd.DataFrame(table),
        code=f"{_IMPORT}print(sinusoidal_table({length}, {width}))",
    )
    st.caption(f"Position 1 begins {row}. Position 0 is 0, 1, 0, 1, … at every width.")


def _waves(sequence: str) -> None:
    width, length = _width_and_length()
    pairs = np.unique(np.linspace(0, width // 2 - 1, 3).astype(int))
    dimensions = st.multiselect(
        "Dimensions",
        list(range(width)),
        [int(2 * pair) for pair in pairs],
        max_selections=6,
        key=f"f_dims_{width}",
    )
    positions = np.linspace(0, length - 1, 10 * (length - 1) + 1).round(6)
    curves = [_wave(d, positions, width) for d in dimensions]
    period = periods(width)
    words = "; ".join(f"dimension {d} repeats after {period[d // 2]:,.1f}" for d in dimensions)
    show_figure(
        waves(positions, curves, [f"dimension {d}" for d in dimensions], length),
        key="f_waves",
        alt=f"{len(dimensions)} waves over {length} positions: {words}.",
        table=lambda: pd.DataFrame(
            {"position": positions, **dict(zip(dimensions, curves, strict=True))}
        ),
        code=f"{_IMPORT}print(sinusoidal_table({length}, {width})[:, {dimensions}])",
    )
    st.caption(f"{words}. Dots are what the model adds at whole positions.")


def _wave(dimension: int, positions: np.ndarray, width: int) -> np.ndarray:
    angles = positions * frequencies(width)[dimension // 2]
    return np.cos(angles) if dimension % 2 else np.sin(angles)


def _periods(sequence: str) -> None:
    width = _choice("Dimensions, d_model", WIDTHS, 512, "f_rd")
    turns = periods(width)
    show_figure(
        period_curve(range(0, width, 2), turns),
        key="f_periods",
        alt=f"{len(turns)} pairs: the first repeats after {turns[0]:,.1f} positions, the last "
        f"after {turns[-1]:,.1f}.",
        table=lambda: pd.DataFrame({"dimension": range(0, width, 2), "period": turns}),
        code=f"{_IMPORT}print(periods({width}))",
    )
    st.caption(
        f"From {turns[0]:,.1f} positions (every model: 2π) to {turns[-1]:,.1f}: fast hands tell "
        "neighbours apart, slow ones tell the beginning from the end."
    )


def _similarity(sequence: str) -> None:
    width = _choice("Dimensions, d_model", WIDTHS, 512, "f_rd")
    length = _choice("Positions", LENGTHS, 50, "f_pl")
    cosine = cosine_by_distance(length, width)
    far = min(10, length - 1)
    words = f"1 apart {cosine[1]:.4f}, {far} apart {cosine[far]:.4f}"
    show_figure(
        similarity_curve(cosine),
        key="f_similarity",
        alt=f"Cosine similarity against distance, {width} dimensions: {words}.",
        table=lambda: pd.DataFrame({"distance": range(length), "cosine": cosine}),
        code=f"{_IMPORT}print(cosine_by_distance({length}, {width}))",
    )
    st.caption(f"Nearer is more similar, though not at every step: {words}.")


def _rotation(sequence: str) -> None:
    width, length = _width_and_length()
    shift = _choice("Shift", SHIFTS, 3, "f_shift")
    error = shift_rotation_error(shift, length, width)
    table = sinusoidal_table(shift + 1, width)
    st.markdown(
        f"#### Largest difference: {error:.1e}\n"
        f"One fixed matrix R turns the code of any position into the code {shift} further on: "
        f"every pair of dimensions is turned by its own angle, {_angles(shift, width)}. "
        f"Checked at {length} positions in {width} dimensions. So “{shift} to the left” is the "
        "same linear step everywhere, and a head can learn it."
    )
    st.latex(r"PE_{p+k} = R_k\, PE_p")
    st.latex(
        r"R_k = \begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega"
        r"\end{pmatrix} \text{ for each pair}"
    )
    show_figure(
        encoding_heatmap(table),
        key="f_rotation",
        alt=f"Codes of positions 0 to {shift}; R takes row 0 to row {shift} with largest "
        f"difference {error:.1e}.",
        table=lambda: pd.DataFrame(table),
        code=f"{_IMPORT}print(shift_rotation_error({shift}, {length}, {width}))",
    )


def _angles(shift: int, width: int) -> str:
    degrees = np.degrees(shift * frequencies(width)) % 360
    first = f"{degrees[0]:.1f}°"
    return first if len(degrees) == 1 else f"from {first} down to {degrees[-1]:.2g}°"


def _toy(sequence: str) -> None:
    vectors, speeds = residue_vectors(sequence), wave_speeds()
    positions = np.linspace(0, len(sequence) - 1, 10 * (len(sequence) - 1) + 1).round(6)
    names = [f"{f} of position × {speed:.3g}" for speed in speeds for f in ("sin", "cos")]
    curves = [f(positions * speed) for speed in speeds for f in (np.sin, np.cos)]
    turns = ", ".join(f"{2 * np.pi / speed:.2f}" for speed in speeds)
    last = ", ".join(f"{value:.3f}" for value in vectors[-1, -len(names) :])
    show_figure(
        waves(positions, curves, names, len(sequence)),
        key="f_toy_waves",
        alt=f"The toy's {len(names)} position columns over {len(sequence)} residues; periods "
        f"{turns}. The last residue holds {last}.",
        table=lambda: pd.DataFrame(vectors[:, -len(names) :], columns=names),
        code="from core.toy.residue_vectors import residue_vectors\n"
        f"print(residue_vectors({sequence!r})[:, 4:])",
    )
    st.caption(
        f"The toy has two hands only, with periods of {turns} residues: longer than the second "
        "one, it cannot tell positions apart. It puts them beside the chemistry; real models add."
    )


def _rotary(sequence: str) -> None:
    st.markdown(
        "| | sinusoidal (here) | learned (BERT, GPT-2) | rotary, RoPE (ESM-2, Llama) |\n"
        "|---|---|---|---|\n"
        "| what | fixed waves, added once | a trained vector per position, added once | queries "
        "and keys turned by position × speed, in every layer |\n"
        "| trained weights | 0 | longest length × d_model | 0 |\n"
        "| longer than trained | defined | impossible | defined |\n"
        "| a score depends on | both positions | both positions | content and distance alone |"
    )
    random = np.random.default_rng(0)
    query, key = random.normal(size=(2, 32))
    length = len(sequence)
    scores = rotary_scores(query, key, length)
    stamped = sinusoidal_table(length, 32)
    added = (query + stamped) @ (key + stamped).T
    left, right = st.columns(2)
    with left:
        _scores(scores, "Rotary", "f_rope")
    with right:
        _scores(added, "Sinusoids added", "f_added")
    st.markdown(
        "The same query and the same key, placed at every pair of positions. Along a diagonal "
        f"the distance is constant: with RoPE scores differ there by at most "
        f"**{relative_error(scores):.1e}**, with added sinusoids by "
        f"**{relative_error(added):.2f}**."
    )


def _scores(scores: np.ndarray, title: str, key: str) -> None:
    show_figure(
        score_map(scores, title),
        key=key,
        alt=f"{title}: scores {scores.min():.2f} to {scores.max():.2f}; largest spread along a "
        f"diagonal {relative_error(scores):.1e}.",
        table=lambda: pd.DataFrame(scores),
        code="import numpy as np\nfrom core.transformer.rotary import rotary_scores\n"
        "query, key = np.random.default_rng(0).normal(size=(2, 32))\n"
        f"print(rotary_scores(query, key, {len(scores)}))",
    )


_PICTURES: dict[str, Callable[[str], None]] = {
    "Table": _table,
    "Waves": _waves,
    "Periods": _periods,
    "Similarity": _similarity,
    "Rotation": _rotation,
    "Toy": _toy,
    "Learned and rotary": _rotary,
}
