"""The pictures of a finished scan: of the chain, the model's name, the table and its script."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import AMINO_ACIDS
from core.figures.protein_guess import yardstick
from core.figures.protein_logo import sequence_logo
from core.figures.protein_maps import log_odds_map
from core.figures.protein_origin import origin_plot
from core.figures.protein_tracks import residue_track
from core.protein import readout
from core.protein.chain import Chain
from core.protein.yardstick import GENES_GIVEN, SOURCE, yardsticks
from core.written import typeset
from pages.parts.downloads import show_figure
from pages.parts.esm import words

_ORIGINS = ("V germline", "junction", "J germline")


def pictures_for(chain: Chain) -> list[str]:
    """The pictures that this chain allows."""
    without = set() if chain.cdr3 else {"CDR3 logo"}
    if not any(chain.origin(position) == "junction" for position in range(1, len(chain) + 1)):
        without.add("Germline or junction")
    if not yardsticks(chain):
        without.add("Chance alone")
    return [name for name in PICTURES if name not in without]


def _track(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    truth = readout.p_true(table, chain)
    low = [words.residue_name(chain, int(i) + 1) for i in np.argsort(truth)[:3]]
    _show_track(
        chain,
        truth,
        code,
        what="p(true)",
        marked=0.5,
        alt=f"p(true) of {len(chain)} residues; mean {np.nanmean(truth):.3f}. Lowest: "
        f"{', '.join(low)}.",
    )


def _entropy(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    bits = readout.entropy_bits(table)
    high = [words.residue_name(chain, int(i) + 1) for i in np.argsort(-bits)[:3]]
    _show_track(
        chain,
        bits,
        code,
        what="entropy, bits",
        marked=None,
        alt=f"Entropy of {len(chain)} guesses; mean {bits.mean():.2f} bits of "
        f"{np.log2(20):.2f}. Highest: {', '.join(high)}.",
    )


def _show_track(
    chain: Chain, values: np.ndarray, code: str, *, what: str, marked: float | None, alt: str
) -> None:
    names = words.residue_names(chain)
    show_figure(
        residue_track(
            chain.sequence,
            values,
            words.regions(chain),
            what=what,
            hover=names,
            low_is_marked_below=marked,
        ),
        key="e_track",
        alt=alt,
        table=lambda: pd.DataFrame({"residue": names, what: values}),
        code=code,
        on_select=_clicked,
    )
    st.caption("Click a bar to hide that residue above.")


def _clicked() -> None:
    points = st.session_state["e_track"].selection.points
    if points:
        st.session_state["e_at"] = int(points[0]["x"])
        st.rerun("e_guess")


def _log_odds(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    odds = readout.log_odds(table, chain)
    best = np.unravel_index(int(np.nanargmax(odds)), odds.shape)
    show_figure(
        log_odds_map(
            chain.sequence,
            list(AMINO_ACIDS),
            np.nan_to_num(odds.T),
            words.regions(chain),
            hover=words.residue_names(chain),
            unit="log p(letter) / p(true)",
        ),
        key="e_odds",
        alt=f"20 letters at {len(chain)} positions: log p(letter) minus log p(true), in nats. "
        f"The letter most preferred over the true one is {AMINO_ACIDS[best[1]]} instead of "
        f"{words.residue_name(chain, int(best[0]) + 1)}, {typeset(odds[best], '.2f')}.",
        table=lambda: pd.DataFrame(odds, columns=list(AMINO_ACIDS)).assign(
            position=range(1, len(chain) + 1), residue=list(chain.sequence)
        ),
        code=code,
    )
    st.caption(
        "0 is the true letter (dot). Above 0: the model would rather see another one. This is "
        "the masked-marginal score of a mutation (Meier et al., 2021), in nats."
    )


def _logo(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    rows = [position - 1 for position in chain.cdr3_positions]
    labels = [f"{chain.sequence[row]}<br>{i}" for i, row in enumerate(rows, 1)]
    part = table[rows]
    best = "".join(AMINO_ACIDS[i] for i in part.argmax(axis=1))
    show_figure(
        sequence_logo(labels, list(AMINO_ACIDS), part, chain.cdr3_sequence),
        key="e_logo",
        alt=f"Sequence logo of the guesses for {chain.cdr3_sequence}; first choices {best}. "
        f"Information per position: "
        f"{', '.join(f'{np.log2(20) - b:.1f}' for b in readout.entropy_bits(part))} bits.",
        table=lambda: pd.DataFrame(part, columns=list(AMINO_ACIDS)).assign(
            position=list(chain.cdr3_positions), residue=list(chain.cdr3_sequence)
        ),
        code=code,
    )
    st.caption("Each stack is as tall as the model is sure (log2 20 − entropy).")


def _origin(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    truth = readout.p_true(table, chain)
    groups = []
    for origin in _ORIGINS:
        here = [p for p in chain.cdr3_positions if chain.origin(p) == origin]
        if here:
            labels = [f"{chain.sequence[p - 1]}{chain.numbers(p).cdr3}" for p in here]
            groups.append((origin, labels, truth[[p - 1 for p in here]]))
    inside = readout.by_origin(table, chain, within="CDR3")
    rows = [(s.origin, s.count, s.guessed_first, s.mean_p_true, s.mean_surprise) for s in inside]
    columns = ["can come from", "residues", "guessed first", "mean p(true)", "mean −log p"]
    told = pd.DataFrame(rows, columns=columns)
    show_figure(
        origin_plot(groups),
        key="e_origin",
        alt="p(true) inside the CDR3 by what can have written the letter: "
        + "; ".join(f"{s.origin}, {s.count} residues, mean {s.mean_p_true:.3f}" for s in inside),
        table=told,
        code=code,
    )
    st.dataframe(told.round(3), hide_index=True, alt="Counts and means of the groups above.")
    st.caption(
        "Germline-encodable: V or J can have written the letter. Amino acids cannot prove "
        "that they did; a trimmed codon can be rebuilt by chance."
    )


def _chance(chain: Chain, model_name: str, table: np.ndarray, code: str) -> None:
    rows = [position - 1 for position in chain.cdr3_positions]
    labels = [f"{chain.sequence[row]}<br>{i}" for i, row in enumerate(rows, 1)]
    series = [(words.MODEL_LABELS[model_name], readout.p_true(table, chain)[rows])]
    for known in yardsticks(chain):
        told = "V and J known" if known.given == GENES_GIVEN else "only the CDR3 known"
        series.append((f"recombination alone, {told}", known.p_true))
    apart = float(np.abs(series[0][1] - series[1][1]).mean())
    show_figure(
        yardstick(labels, series, [chain.origin(row + 1) == "junction" for row in rows]),
        key="e_chance",
        alt="p(true) of each CDR3 residue. "
        + " ".join(
            f"{name}: {', '.join(f'{value:.2f}' for value in values)}." for name, values in series
        ),
        table=lambda: pd.DataFrame({"residue": list(chain.cdr3_sequence), **dict(series)}),
        code=code,
    )
    st.caption(
        f"Yardstick: the exact probability of each letter given all others under V(D)J "
        f"recombination alone, from {SOURCE}, computed outside the app and shipped as a table. "
        f"The model differs from it by {apart:.3f} on average. Shaded: the letters that neither "
        "V nor J can encode. Nobody who knows only how receptors are made can guess those better."
    )


PICTURES: dict[str, Callable[[Chain, str, np.ndarray, str], None]] = {
    "p(true)": _track,
    "Entropy": _entropy,
    "Log-odds": _log_odds,
    "CDR3 logo": _logo,
    "Germline or junction": _origin,
    "Chance alone": _chance,
}
