"""The sinusoids as pictures: the table, its waves and periods, similarity, and the rotation."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.positions import encoding_heatmap, period_curve, similarity_curve, waves
from core.transformer.waves import (
    cosine_by_distance,
    frequencies,
    periods,
    shift_rotation_error,
    sinusoidal_table,
)
from core.written import typeset
from pages.parts.downloads import show_figure
from pages.parts.links import check_link

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
LENGTHS = (10, 20, 50, 100, 200)
SHIFTS = tuple(range(1, 51))
_IMPORT = "from core.transformer.waves import *\n"


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
    key = f"f_dims_{width}"
    check_link({key: range(width)}, **{key: "dimension"})
    pairs = np.unique(np.linspace(0, width // 2 - 1, 3).astype(int))
    dimensions = st.multiselect(
        "Dimensions",
        list(range(width)),
        [int(2 * pair) for pair in pairs],
        max_selections=6,
        key=key,
        bind="query-params",
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
    words = ", ".join(f"{d} apart {typeset(cosine[d], '.4f')}" for d in (1, far))
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
        f"#### Largest difference: {typeset(error, '.1e')}\n"
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


PICTURES: dict[str, Callable[[str], None]] = {
    "Table": _table,
    "Waves": _waves,
    "Periods": _periods,
    "Similarity": _similarity,
    "Rotation": _rotation,
}
