"""Positions: one picture at a time, of the sinusoids, of the toy's waves, of rotary positions."""

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.positions import score_map, waves
from core.toy.residue_vectors import residue_vectors, wave_speeds
from core.transformer.rotary import relative_error, rotary_scores
from core.transformer.shape import Sizes
from core.transformer.waves import sinusoidal_table
from core.written import typeset
from pages.parts.downloads import show_figure
from pages.parts.full import sinusoids
from pages.parts.links import check_link


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """One picture at a time, with its one or two sliders."""
    check_link(
        {
            "f_pic": _PICTURES,
            "f_pd": sinusoids.WIDTHS,
            "f_pl": sinusoids.LENGTHS,
            "f_shift": sinusoids.SHIFTS,
            "f_rd": sinusoids.WIDTHS,
        },
        f_pic="picture",
        f_pd="width",
        f_pl="number of positions",
        f_shift="shift",
        f_rd="width",
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
    _PICTURES[chosen if chosen in _PICTURES else "Table"](sequence)


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


_THREE_WAYS = """\
| | sinusoidal (here) | learned (BERT, GPT-2) | rotary, RoPE (ESM-2, Llama) |
|---|---|---|---|
| what | fixed waves, added once | a trained vector per position, added once | queries and keys \
turned by position × speed, in every layer |
| trained weights | 0 | longest length × d_model | 0 |
| longer than trained | defined | impossible | defined |
| a score depends on | both positions | both positions | content and distance alone |
"""


def _rotary(sequence: str) -> None:
    st.markdown(_THREE_WAYS)
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
        f"**{typeset(relative_error(scores), '.1e')}**, with added sinusoids by "
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


_PICTURES = {**sinusoids.PICTURES, "Toy": _toy, "Learned and rotary": _rotary}
