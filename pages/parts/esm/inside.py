"""Inside the model: who attends to whom, and one letter at several places, layer by layer."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.protein_maps import attention_map
from core.figures.protein_origin import similarity_by_layer
from core.figures.protein_tracks import residue_track
from core.protein.chain import Chain
from pages.parts.downloads import show_figure
from pages.parts.esm import words

if TYPE_CHECKING:
    from core.protein.model import LanguageModel


@st.fragment
def attention_section(chain: Chain, model: "LanguageModel") -> None:
    """The map of one head, what it does most, and the row of one residue."""
    layer, head, position = _choices(chain, model)
    whole = _attention(model, chain, model.fingerprint, chain.sequence, layer)[head - 1]
    inside = whole[chain.residue_tokens, chain.residue_tokens]
    habit = _habit(inside)
    st.markdown(
        f"Layer {layer}, head {head} of **{model.label}**. {habit} On average "
        f"{1 - inside.sum(axis=1).mean():.3f} of a residue's attention goes to the start and end "
        "tokens."
    )
    code = _attention_code(chain, model.name, layer, head, f"range(1, {len(chain)} + 1)")
    show_figure(
        attention_map(inside, words.residue_names(chain), words.regions(chain)),
        key="e_attention",
        alt=f"Attention of layer {layer}, head {head}, {len(chain)} residues by {len(chain)}. "
        f"{habit}",
        table=lambda: pd.DataFrame(inside, columns=list(range(1, len(chain) + 1))),
        code=code,
    )
    code = _attention_code(chain, model.name, layer, head, f"[{position}]")
    _row(chain, inside[position - 1], position, code)
    st.caption(
        "Attention shows where information went in one head, not which residue matters: the "
        "page “Four traps” tests that."
    )


def _choices(chain: Chain, model: "LanguageModel") -> tuple[int, int, int]:
    """Layer, head and residue, each from 1."""
    columns = st.columns(3)
    layer = columns[0].slider(
        "Layer", 1, model.num_layers, model.num_layers, key="e_layer", bind="query-params"
    )
    head = columns[1].slider("Head", 1, model.num_heads, 1, key="e_head", bind="query-params")
    at = min(int(st.session_state.get("e_at") or 1), len(chain))
    position = columns[2].number_input(
        "Looking from residue", 1, len(chain), value=at, key="e_from", bind="query-params"
    )
    return min(layer, model.num_layers), min(head, model.num_heads), int(position)


@st.cache_data(max_entries=24, show_spinner=False)
def _attention(
    _model: "LanguageModel", _chain: Chain, fingerprint: str, letters: str, layer: int
) -> np.ndarray:
    """(h, n_query, n_key) of one layer, computed once: another head is another slice of it."""
    from core.protein.embeddings import attention

    return attention(_model, _chain, layer)


def _row(chain: Chain, row: np.ndarray, position: int, code: str) -> None:
    names = words.residue_names(chain)
    top = [f"{names[i]} ({row[i]:.3f})" for i in np.argsort(-row)[:3]]
    st.markdown(f"**{names[position - 1]}** looks most at {'; '.join(top)}.")
    show_figure(
        residue_track(
            chain.sequence,
            row,
            words.regions(chain),
            what="weight",
            hover=names,
            chosen=position,
            height=220,
        ),
        key="e_attention_row",
        alt=f"Attention from {names[position - 1]}: most to {'; '.join(top)}.",
        table=lambda: pd.DataFrame({"to": names, "weight": row}),
        code=code,
    )


def _habit(weights: np.ndarray) -> str:
    """At which distance this head looks most, on average over the chain."""
    reach = max(1, len(weights) // 2)
    means = {
        offset: float(np.diagonal(weights, offset).mean()) for offset in range(1 - reach, reach)
    }
    best = max(means, key=means.__getitem__)
    places = f"{abs(best)} place{'s' if abs(best) > 1 else ''} {'after' if best > 0 else 'before'}"
    whom = "at itself" if best == 0 else f"{places} itself"
    return f"On average a residue looks most {whom} (weight {means[best]:.3f})."


def _attention_code(chain: Chain, model_name: str, layer: int, head: int, rows: str) -> str:
    return f"""{words.RUN_IT}from core.protein.chain import Chain
from core.protein.embeddings import attention
from core.protein.weights import load

{words.chain_code(chain)}
weights = attention(load({model_name!r}), chain, {layer})[{head - 1}]
for position in {rows}:
    row = weights[chain.token_index(position), chain.residue_tokens]
    print(chain.sequence[position - 1], position, *(f"{{weight:.4f}}" for weight in row))
"""


@st.fragment
def same_letter_section(chain: Chain, model: "LanguageModel") -> None:
    """The same letter at its places: identical going in, different coming out."""
    from core.protein.embeddings import same_letter

    stretch = chain.cdr3_sequence or chain.sequence
    letters = sorted({letter for letter in stretch if stretch.count(letter) > 1})
    if not letters:
        st.info("No letter stands twice here, so there is nothing to compare.")
        return
    usual = "S" if "S" in letters else letters[0]
    letter = st.segmented_control(
        "Letter", letters, default=usual, key="e_letter", bind="query-params", required=True
    )
    found = same_letter(model, chain, letter if letter in letters else usual)
    rows, columns = np.triu_indices(len(found.positions), k=1)
    pairs = [_pair(chain, found.positions[i], found.positions[j])
             for i, j in zip(rows, columns, strict=True)]  # fmt: skip
    cosines, mean = found.cosines[:, rows, columns], found.mean_by_layer
    st.markdown(
        f"**{found.letter}** stands at {len(found.positions)} places. Going in, its vectors have "
        f"a mean cosine similarity of **{mean[0]:.3f}**; after the last layer ({len(mean) - 1}) "
        f"it is **{mean[-1]:.3f}**, and the lowest, after layer {int(mean.argmin())}, is "
        f"**{mean.min():.3f}**. Only the surroundings made the difference."
    )
    show_figure(
        similarity_by_layer(pairs, cosines),
        key="e_same",
        alt=f"Mean cosine similarity of {found.letter} at its {len(found.positions)} places by "
        f"layer: {', '.join(f'{value:.2f}' for value in mean)}.",
        table=lambda: pd.DataFrame(cosines, columns=pairs).rename_axis("layer").reset_index(),
        code=_same_letter_code(chain, model.name, found.letter),
    )


def _pair(chain: Chain, first: int, second: int) -> str:
    names = [chain.numbers(position).cdr3 or position for position in (first, second)]
    letter = chain.sequence[first - 1]
    return f"{letter}{names[0]} and {letter}{names[1]}"


def _same_letter_code(chain: Chain, model_name: str, letter: str) -> str:
    return f"""{words.RUN_IT}from core.protein.chain import Chain
from core.protein.embeddings import same_letter
from core.protein.weights import load

{words.chain_code(chain)}
found = same_letter(load({model_name!r}), chain, {letter!r})
print("places", *found.positions)
for layer, (mean, cosines) in enumerate(zip(found.mean_by_layer, found.cosines)):
    print("layer", layer, "mean", mean, "every pair", cosines.round(4).tolist())
"""
