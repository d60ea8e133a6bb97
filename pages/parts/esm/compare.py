"""Side by side: a mutation, another receptor, or another model."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.figures.protein_tracks import residue_track, two_tracks
from core.protein import readout
from core.protein.chain import Chain
from core.protein.receptors import one_receptor
from core.written import typeset
from pages.parts.downloads import show_figure
from pages.parts.esm import words
from pages.parts.esm.jobs import tables
from pages.parts.esm.weights import model_or_offer
from pages.parts.links import plain

if TYPE_CHECKING:
    from core.protein.model import LanguageModel

_MOST = 8


def compare_section(chain: Chain, model: "LanguageModel") -> None:
    """Choose what to compare with, then both scans and what differs."""
    with_what = st.segmented_control(
        "Compare with",
        list(KINDS),
        default="a mutation",
        key="e_with",
        bind="query-params",
        required=True,
    )
    KINDS.get(with_what, _mutation)(chain, model)


def _mutation(chain: Chain, model: "LanguageModel") -> None:
    at = min(int(st.session_state.get("e_at") or 1), len(chain))
    place, letter = st.columns([1, 3], vertical_alignment="bottom")
    position = int(
        place.number_input("Position", 1, len(chain), value=at, key="e_mp", bind="query-params")
    )
    options = [a for a in AMINO_ACIDS if a != chain.sequence[position - 1]]
    new = letter.pills(
        f"{chain.sequence[position - 1]}{position} becomes", options, default=options[0],
        key="e_ml", bind="query-params", required=True, wrap=True,
    )  # fmt: skip
    mutant = chain.mutated(position, new if new in options else options[0])
    found = tables(
        [(model, chain), (model, mutant)], key="mutation", label="Scan the chain and its mutant"
    )
    if found is None:
        return
    names = (
        f"{chain.sequence[position - 1]}{position}",
        f"{mutant.sequence[position - 1]}{position}",
    )
    truth = [readout.p_true(t, c) for t, c in zip(found, (chain, mutant), strict=True)]
    totals = [-float(np.nansum(readout.surprise(t, c)))
              for t, c in zip(found, (chain, mutant), strict=True)]  # fmt: skip
    st.markdown(
        f"The sum of log p(true) goes from {typeset(totals[0], '.2f')} to "
        f"{typeset(totals[1], '.2f')} (**{typeset(totals[1] - totals[0], '+.2f')}**) when "
        f"{names[0]} becomes {names[1]}."
    )
    code = words.compare_code((model.name, chain), (model.name, mutant))
    _show_pair(chain, list(zip(names, truth, strict=True)), code, changed=[position])


def _other_model(chain: Chain, model: "LanguageModel") -> None:
    names = [name for name in words.MODEL_LABELS if name != model.name]
    chosen = st.selectbox(
        "Model", names, format_func=words.MODEL_LABELS.__getitem__, key="e_model2",
        bind="query-params",
    )  # fmt: skip
    other = model_or_offer(chosen, key="compare")
    if other is None:
        return
    found = tables([(model, chain), (other, chain)], key="models", label="Scan with both models")
    if found is None:
        return
    truth = [readout.p_true(table, chain) for table in found]
    perplexity = [words.perplexity(table, chain) for table in found]
    st.markdown(
        f"Pseudo-perplexity: **{model.label}** {perplexity[0]}, **{other.label}** {perplexity[1]}."
    )
    code = words.compare_code((model.name, chain), (other.name, chain))
    _show_pair(chain, [(model.label, truth[0]), (other.label, truth[1])], code)


def _other_receptor(chain: Chain, model: "LanguageModel") -> None:
    text = st.text_input(
        "The other receptor: V CDR3 J, or a chain",
        "TRBV9 CASSVAGTEAFF TRBJ1-1",
        key="e_other",
        bind="query-params",
        max_chars=words.MOST_PASTED,
    )
    try:
        other = one_receptor(words.check_whole(text or ""))
    except ValueError as problem:
        st.error(plain(str(problem)), icon=":material/error:")
        return
    if other.notes:
        st.caption(plain(" ".join(other.notes)))
    both = tables([(model, chain), (model, other)], key="receptors", label="Scan both chains")
    if both is None:
        return
    for i, (one, table) in enumerate(zip((chain, other), both, strict=True)):
        _show_one(one, table, f"e_receptor_{i}", words.scan_code(one, model.name))


def _show_one(chain: Chain, table: np.ndarray, key: str, code: str) -> None:
    truth, names = readout.p_true(table, chain), words.residue_names(chain)
    st.markdown(
        f"**{plain(chain.name)}**: {len(chain)} residues, mean p(true) "
        f"{np.nanmean(truth):.3f}, pseudo-perplexity {words.perplexity(table, chain)}."
    )
    show_figure(
        residue_track(
            chain.sequence, truth, words.regions(chain), what="p(true)", hover=names,
            low_is_marked_below=0.5, height=220,
        ),
        key=key,
        alt=f"p(true) along {chain.name}; mean {np.nanmean(truth):.3f}.",
        table=lambda: pd.DataFrame({"residue": names, "p_true": truth}),
        code=code,
    )  # fmt: skip


def _show_pair(
    chain: Chain,
    series: list[tuple[str, np.ndarray]],
    code: str,
    changed: list[int] | None = None,
) -> None:
    names, regions = words.residue_names(chain), words.regions(chain)
    (first, before), (second, after) = series
    change = after - before
    order = np.argsort(-np.abs(np.nan_to_num(change)))[:_MOST]
    table = pd.DataFrame({"residue": names, **dict(series), "change": change})
    biggest = "; ".join(f"{names[i]} {typeset(change[i], '+.3f')}" for i in order[:3])
    show_figure(
        two_tracks(series, regions, what="p(true)", hover=names, changed=changed or []),
        key="e_pair",
        alt=f"p(true) of {first} and {second} along the chain. Largest changes: {biggest}.",
        table=table,
        code=code,
    )
    show_figure(
        residue_track(chain.sequence, change, regions, what="change", hover=names, height=200),
        key="e_change",
        alt=f"Change of p(true) from {first} to {second}. Largest: {biggest}.",
        table=table,
        code=code,
    )
    st.dataframe(
        table.iloc[order].round(3),
        hide_index=True,
        alt=f"The {_MOST} largest changes of p(true): {biggest}.",
    )


KINDS: dict[str, Callable[[Chain, "LanguageModel"], None]] = {
    "a mutation": _mutation,
    "another receptor": _other_receptor,
    "another model": _other_model,
}
