"""Trap 1: attention received against the effect of ablation, on three models."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.alphabet import DEFAULT_SEQUENCE, SequenceError, Vocabulary
from core.figures.traps_rankings import head_agreement, two_rankings
from core.traps.importance_toy import toy_importance
from core.traps.ranking import Importance, ranks, reading
from pages.parts.controls import sequence_box
from pages.parts.downloads import show_figure
from pages.parts.links import plain
from pages.parts.trained import RECORDED_RUN, choose_trained, readable
from pages.parts.traps.importance_words import (
    ALL_HEADS,
    CODE,
    MEANING,
    PRINT,
    PROTEIN,
    REVERSE,
    TOY,
    agreement,
    spread,
    summary,
)
from pages.parts.traps.words import check_link, myth

_RUN = "_traps_run_read"


@st.fragment
def show() -> None:
    """The whole experiment; redrawn alone when one of its own controls changes."""
    myth(
        "Attention weights show which residues matter.",
        "They show where one head gathered from. What matters shows when a residue is taken away.",
    )
    check_link(
        {
            "x_model": ("model", lambda text: text in CODE),
            "x_all": ("table", lambda text: text in ("true", "false")),
        }
    )
    left, middle, right = st.columns([2, 2, 2])
    with left:
        sequence = sequence_box().sequence
    chosen = middle.selectbox("Model", [*CODE], key="x_model", bind="query-params")
    model = chosen if chosen in CODE else TOY
    hidden = _hidden_place(sequence) if model == PROTEIN else min(6, len(sequence))
    run = _choose_run(model)
    _experiment(model, sequence, hidden, run, right)
    with st.expander(
        "The same on all three models", on_change="rerun", key="x_all", bind="query-params"
    ) as table:
        if table.open:
            _all_models(sequence, hidden, run)


def _choose_run(model: str) -> tuple[str, Path]:
    """Which run is read stays chosen while another model is looked at."""
    trained = choose_trained("x_weights") if model == REVERSE else None
    run: tuple[str, Path] = trained or st.session_state.get(_RUN, RECORDED_RUN)
    st.session_state[_RUN] = run
    return run


def _experiment(
    model: str, sequence: str, hidden: int, run: tuple[str, Path], place: DeltaGenerator
) -> None:
    """Its pictures; at `place` a head is chosen. What cannot be measured gives way to the toy."""
    try:
        result = _measured(model, sequence, hidden, run)
    except (SequenceError, ValueError, OSError) as problem:
        st.info(f"{problem} Showing the toy and {DEFAULT_SEQUENCE}.")
        model, sequence = TOY, DEFAULT_SEQUENCE
        result = toy_importance(sequence)
    with place:
        head = _choose_head(result)
    code = CODE[model].format(sequence=sequence, hidden=hidden, file=readable(run[1]))
    _picture(result, head, code + PRINT.format(head=head if head is not None else ""))
    source = f"Weights: {plain(run[0])}. " if model == REVERSE else ""
    st.caption(
        f"{source}{MEANING[model]} Numbers on the bars are ranks (the first five where the "
        "sequence is long). Rank correlation: 1 = same order, 0 = unrelated, −1 = opposite order "
        "(Spearman)."
    )
    _all_heads(result)


def _hidden_place(sequence: str) -> int:
    places = [f"{letter}{place}" for place, letter in enumerate(sequence, 1)]
    check_link({"x_hide": ("hidden residue", lambda text: text in places)})
    chosen = st.segmented_control(
        "Residue that the model has to guess",
        places,
        default=places[min(6, len(places)) - 1],
        required=True,
        key="x_hide",
        bind="query-params",
    )
    return places.index(chosen) + 1 if chosen in places else min(6, len(places))


def _choose_head(result: Importance) -> int | None:
    options = [ALL_HEADS, *result.heads]
    check_link({"x_head": ("head", lambda text: text in options)})
    chosen = st.selectbox("Whose attention", options, key="x_head", bind="query-params")
    return None if chosen not in result.heads else result.heads.index(chosen)


def _measured(model: str, sequence: str, hidden: int, run: tuple[str, Path]) -> Importance:
    if model == REVERSE:
        title, file = run
        if not file.is_file():
            raise ValueError("There is no trained reverse model here.")
        return _reverse(title, str(file), file.stat().st_mtime, sequence)
    return _protein(sequence, hidden) if model == PROTEIN else toy_importance(sequence)


@st.cache_data(max_entries=64, show_spinner="Taking away one letter after the other …")
def _reverse(title: str, file: str, changed: float, sequence: str) -> Importance:
    from core.training.checkpoint import load_model
    from core.traps.importance_reverse import reverse_importance

    model, recipe = load_model(Path(file))
    return reverse_importance(model, sequence, Vocabulary(recipe.letters), title)


@st.cache_data(max_entries=64, show_spinner="Hiding one residue after the other …")
def _protein(sequence: str, hidden: int) -> Importance:
    from core.traps.importance_protein import protein_importance
    from pages.parts.loaded_models import protein_model

    return protein_importance(protein_model("trb-mini"), sequence, hidden)


def _picture(result: Importance, head: int | None, code: str) -> None:
    agreed, words = agreement(result, head), reading(result, head)
    st.markdown(f"#### Rank correlation {agreed}\n{words}")
    received = result.received(head)
    places = ranks(received), ranks(result.effect)
    title = f"Effect ({result.effect_unit})"
    show_figure(
        two_rankings(result.names, received, result.effect, *places, effect_title=title),
        key="traps_importance",
        alt=f"{result.model}: attention received and effect of ablation for "
        f"{len(result.names)} residues. {words} Rank correlation {agreed}.",
        table={
            "residue": result.names,
            "attention_received": received,
            "rank_by_attention": places[0],
            "effect": result.effect,
            "rank_by_effect": places[1],
        },
        code=code,
    )


def _all_heads(result: Importance) -> None:
    each = result.head_correlations()
    known = each[~np.isnan(each)]
    if not len(known):
        return
    best = result.heads[int(np.nanargmax(each))]
    words = (
        f"Single heads of this model: from {spread(known)} "
        f"({(known < 0).sum()} of {len(known)} point the wrong way). Which head would you have "
        f"shown? The best here is {best}: nothing but the ablation told you so."
    )
    st.markdown(words)
    show_figure(
        head_agreement(result.heads, each),
        key="traps_heads",
        alt=words,
        table=lambda: pd.DataFrame({"head": result.heads, "rank_correlation": each}),
    )


def _all_models(sequence: str, hidden: int, run: tuple[str, Path]) -> None:
    rows = []
    for model in CODE:
        try:
            rows.append(summary(_measured(model, sequence, hidden, run)))
        except (SequenceError, ValueError, OSError) as problem:
            st.caption(f"{model}: {problem}")
    st.table(pd.DataFrame(rows).set_index("Model").T)
