"""Decoding step by step: what a trained run considered, and what it kept."""

import math
from pathlib import Path

import pandas as pd
import streamlit as st

from core.alphabet import BOS, EOS, PAD, SequenceError, Vocabulary, clean_sequence
from core.figures.transformer_decoding import candidate_bars
from core.transformer.shape import Sizes
from core.written import percent, typeset
from pages.parts.downloads import show_figure
from pages.parts.links import check_link
from pages.parts.trained import choose_trained, readable

WIDTHS = (1, 2, 3, 4, 5)
ALPHA = 0.6  # Wu et al. 2016, as in the paper
CODE = """from pathlib import Path
from core.alphabet import Vocabulary
from core.training.checkpoint import load_model
from core.transformer.walk import walk

model, recipe = load_model(Path({file!r}))
ids = Vocabulary(recipe.letters).encode({sequence!r})
for step in walk(model, ids, width={width}, alpha={alpha}):
    for candidate in step.candidates:
        print(step.number, candidate)
"""
NAMES = {PAD: "PAD", BOS: "BOS", EOS: "end"}


@st.cache_data(max_entries=64, show_spinner="Decoding …")
def steps_of(file: str, changed: float, sequence: str, width: int) -> tuple[list[list[dict]], str]:
    """Every step's candidates as rows, and the letters of the model's vocabulary."""
    from core.training.checkpoint import load_model
    from core.transformer.walk import walk

    model, recipe = load_model(Path(file))
    clean_sequence(sequence, letters=recipe.letters)
    steps = walk(model, Vocabulary(recipe.letters).encode(sequence), width, alpha=ALPHA)
    return [[vars(c) for c in step.candidates] for step in steps], recipe.letters


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Choose a run and a width, then walk."""
    st.markdown(
        "The decoder writes one letter at a time. **Greedy** keeps the most likely letter. **Beam "
        "search** keeps the k best beginnings and judges whole outputs by their score: the sum of "
        rf"log p, divided by $\left(\frac{{5 + \text{{length}}}}{{6}}\right)^{{{ALPHA}}}$ so that "
        "long outputs are not punished."
    )
    chosen = choose_trained()
    if chosen is None:
        return
    check_link({"f_beam": WIDTHS}, f_beam="number of beginnings")
    width = st.select_slider(
        "Beginnings kept, k (1 = greedy)", WIDTHS, 1, key="f_beam", bind="query-params"
    )
    try:
        steps, letters = steps_of(str(chosen[1]), chosen[1].stat().st_mtime, sequence, width)
    except (ValueError, SequenceError) as problem:
        st.error(str(problem), icon=":material/error:")
        return
    code = CODE.format(file=readable(chosen[1]), sequence=sequence, width=width, alpha=ALPHA)
    _step(steps, letters, _choose_step(len(steps)), code)
    _result(steps[-1], letters, sequence)


def _choose_step(last: int) -> int:
    if "f_step" in st.session_state:
        # Another sequence may need fewer steps than the one that was being walked.
        st.session_state["f_step"] = min(max(st.session_state["f_step"], 1), last)
    else:
        check_link({"f_step": range(1, last + 1)}, f_step="step")
    number = st.slider("Step", 1, last, key="f_step", bind="query-params")
    with st.container(horizontal=True):
        st.button("Back", key="f_back", on_click=_move, args=(-1,), disabled=number == 1)
        st.button(
            "Next letter", key="f_forward", on_click=_move, args=(1,), disabled=number == last
        )
    return number


def _move(by: int) -> None:
    st.session_state["f_step"] += by


def _step(steps: list[list[dict]], letters: str, number: int, code: str) -> None:
    candidates = steps[number - 1]
    labels = [_label(c, letters) for c in candidates]
    probabilities = [math.exp(c["log_p"]) for c in candidates]
    kept = [c["kept"] for c in candidates]
    score = typeset(candidates[0]["score"], ".3f")
    words = f"{labels[0]} with {percent(probabilities[0], 1)}, score {score}"
    st.markdown(f"Step {number} of {len(steps)}, best of {len(candidates)} shown: **{words}**.")
    left, right = st.columns(2)
    with left:
        show_figure(
            candidate_bars(labels, probabilities, [c["score"] for c in candidates], kept),
            key="f_candidates",
            alt=f"Step {number} of {len(steps)}: {len(candidates)} candidates, {sum(kept)} kept; "
            f"best: {words}.",
            table=lambda: _table(candidates, labels),
            code=code,
        )
    with right:
        st.dataframe(_printed(_table(candidates, labels)), hide_index=True)


def _name(token: int, letters: str) -> str:
    return NAMES.get(token) or Vocabulary(letters).decode([token])


def _label(candidate: dict, letters: str) -> str:
    begun = Vocabulary(letters).decode(list(candidate["beginning"])) or "BOS"
    if candidate["token"] is None:
        return f"{begun} (ended)"
    return f"{begun} + {_name(candidate['token'], letters)}"


def _table(candidates: list[dict], labels: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kept": [c["kept"] for c in candidates],
            "candidate": labels,
            "log p of the last": [round(c["log_p"], 4) for c in candidates],
            "sum of log p": [round(c["total"], 4) for c in candidates],
            "score": [round(c["score"], 4) for c in candidates],
        }
    )


def _printed(table: pd.DataFrame) -> pd.DataFrame:
    """The table as it is read, with minus signs before the logarithms."""
    return table.assign(**{n: [typeset(v, ".4f") for v in table[n]] for n in table.columns[2:]})


def _result(last: list[dict], letters: str, sequence: str) -> None:
    best = last[0]
    ids = [*best["beginning"], *([] if best["token"] is None else [best["token"]])]
    output = Vocabulary(letters).decode(ids)
    verdict = "exactly reversed" if output == sequence[::-1] else "not the reverse"
    ended = "" if EOS in ids else ", and it had not ended when the room ran out"
    st.markdown(f"At the end: **{sequence} → {output}**, {verdict}{ended}.")
