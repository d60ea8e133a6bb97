"""Masks and "shifted right" for the visitor's own strings."""

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.masks import mask_grid
from core.figures.toy_words import written
from core.transformer.shape import Sizes
from pages.parts.controls import sequence_box
from pages.parts.downloads import show_figure
from pages.parts.links import check_link

SECOND = "CASSLGF"
DRAWN_FOR = ("the first sequence", "the second")
SHORT = {"BOS": "▸", "PAD": "·"}
CODE = """import torch
from core.alphabet import BOS, RESIDUES
from core.transformer.masks import causal_mask, make_masks, padding_mask

rows = [[BOS, *RESIDUES.encode(s)] for s in {strings!r}]
longest = max(map(len, rows))
ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
print(padding_mask(ids), causal_mask(longest), make_masks(ids, ids)[1])
"""


@st.cache_data(max_entries=256, show_spinner="Loading PyTorch …")
def masks_of(strings: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Padding (B, L, L), causal (L, L) and both (B, L, L) of BOS + each string, padded."""
    import torch

    from core.alphabet import BOS, PAD, RESIDUES
    from core.transformer.masks import causal_mask, make_masks, padding_mask

    rows = [[BOS, *RESIDUES.encode(string)] for string in strings]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    padding = padding_mask(ids).expand(-1, longest, -1)
    return padding.numpy(), causal_mask(longest)[0].numpy(), make_masks(ids, ids)[1].numpy()


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Two strings in one batch: the shorter one is padded."""
    st.markdown(
        "Two different bans. **Padding**: nobody looks at filling. **Causal**: while learning, "
        "the decoder reads the whole right answer at once, so it must not look ahead. A pair is "
        "allowed if both allow it; a blocked score becomes −10⁹ before the softmax."
    )
    second = sequence_box("A second sequence in the same batch", key="f_two", default=SECOND)
    strings = (sequence, second.sequence)
    check_link({"f_drawn_for": DRAWN_FOR}, f_drawn_for="string")
    which = st.segmented_control(
        "Drawn for",
        DRAWN_FOR,
        default=DRAWN_FOR[1],
        required=True,
        key="f_drawn_for",
        bind="query-params",
    )
    _three(strings, DRAWN_FOR.index(which) if which in DRAWN_FOR else 1)
    _shifted(sequence)


def _three(strings: tuple[str, ...], which: int) -> None:
    """The masks of string number `which`."""
    padding, causal, both = masks_of(strings)
    longest = len(causal)
    letters = ["BOS", *strings[which]]
    letters += ["PAD"] * (longest - len(letters))
    shown = {"Padding": padding[which], "Causal": causal, "Both": both[which]}
    for column, (name, mask) in zip(st.columns(3), shown.items(), strict=True):
        with column:
            # The same for every string, so it is not drawn anew for another one.
            named = _letters(letters) if name != "Causal" else _positions(longest)
            _grid(name, mask, named, letters, strings)
    allowed = ", ".join(f"{name.lower()} {mask.sum()}" for name, mask in shown.items())
    st.caption(
        f"Rows ask, columns are looked at; ▸ is BOS, · is PAD. The causal mask asks for "
        f"positions alone. Of {longest**2} pairs are allowed: "
        f"{allowed}."
    )


def _letters(letters: list[str]) -> tuple[list[str], list[str]]:
    names = [f"{letter} (position {place})" for place, letter in enumerate(letters, 1)]
    return names, [SHORT.get(letter, letter) for letter in letters]


def _positions(length: int) -> tuple[list[str], list[str]]:
    names = [f"position {place}" for place in range(1, length + 1)]
    return names, [str(i + 1) if i in written(length) else "" for i in range(length)]


def _grid(
    name: str,
    mask: np.ndarray,
    named: tuple[list[str], list[str]],
    letters: list[str],
    strings: tuple[str, ...],
) -> None:
    show_figure(
        mask_grid(mask, *named, name),
        key=f"f_mask_{name}",
        alt=f"{name} mask, {len(letters)} by {len(letters)}: {mask.sum()} of {mask.size} pairs "
        "are allowed.",
        table=lambda: _table(mask, letters),
        code=CODE.format(strings=list(strings)),
    )


def _table(mask: np.ndarray, letters: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"query": f"{q} {i + 1}", "key": f"{k} {j + 1}", "may attend": bool(mask[i, j])}
            for i, q in enumerate(letters)
            for j, k in enumerate(letters)
        ]
    )


def _shifted(sequence: str) -> None:
    st.markdown(
        "**Shifted right.** The decoder reads the answer one place late and has to name the "
        "letter below. All columns are learned at once: the causal mask keeps each honest."
    )
    table = pd.DataFrame(
        [["BOS", *sequence], [*sequence, "EOS"]],
        index=["it reads", "it must name"],
        columns=[str(n) for n in range(1, len(sequence) + 2)],
    )
    st.table(table)
