"""Why Transformers, and what they cost: forgetting and cost, both measured on the spot."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.alphabet import DEFAULT_SEQUENCE
from core.figures.traps_growth import SMALLEST_SHARE, cost, fading
from core.traps import cost as cost_of_attention
from core.written import percent, typeset
from pages.parts.downloads import show_figure
from pages.parts.trained import RECORDED
from pages.parts.traps.words import check_link

if TYPE_CHECKING:
    from core.traps.influence import Influence

PROTEIN = 1000  # residues of a longish protein
_RECURRENT = ("RNN", "RNN, orthogonal start", "GRU")
TRAINED_LENGTHS = (8, 10, 13, 16)  # what the recorded run was trained on
FORGETTING_CODE = """\
from core.traps.influence import measure

for found in measure():
    print(found.network, found.length, found.share)

# And in the trained reverse model:
from core.settings import ASSETS
from core.training.checkpoint import load_model
from core.traps.influence_trained import trained_shares

print(trained_shares(load_model(ASSETS / "recorded_paper_run.pt")[0], {lengths}))
"""
COST_CODE = """\
from core.traps.cost import growth, measure

measurements = measure()
for m in measurements:
    print(m.length, m.pairs, m.seconds, m.megabytes)
print("per doubling of length:", growth(measurements))
"""


@st.fragment
def show_forgetting() -> None:
    """Recurrent networks against attention: the first letter's share at the end."""
    st.markdown(
        "A recurrent network reads one letter at a time and passes a memory on: step 13 waits "
        "for step 12. Attention connects every letter to every other at once."
    )
    if "_traps_influence" not in st.session_state:
        st.session_state["_traps_influence"] = _measure_influence()
    found: list[Influence] = st.session_state["_traps_influence"]
    lengths = sorted({item.length for item in found})
    check_link({"x_length": ("length", lambda text: text in map(str, lengths))})
    chosen = st.select_slider("Length", lengths, 13, key="x_length", bind="query-params")
    length = chosen if chosen in lengths else 13
    _faded(found, lengths, length)
    _how_measured(found, length)


def _faded(found: "list[Influence]", lengths: list[int], length: int) -> None:
    shares: dict[str, dict[int, float]] = {}
    for item in found:
        shares.setdefault(item.network, {})[item.length] = item.share
    words = _before_training({name: line[length] for name, line in shares.items()}, length)
    trained = _trained_shares()
    if trained:
        learnt = (
            f"After training, the recorded reverse model gives its first letter, with which it "
            f"has to end, {percent(min(trained.values()))} to {percent(max(trained.values()))} "
            f"at {min(trained)} to {max(trained)} letters."
        )
        st.markdown(learnt)
        shares["Attention, trained to reverse"], words = trained, f"{words} {learnt}"
    rows = [(name, at, share) for name, line in shares.items() for at, share in line.items()]
    show_figure(
        fading(lengths, shares, length),
        key="traps_forgetting",
        alt=f"Share of the first letter against length, {lengths[0]} to {lengths[-1]}. {words}",
        table=lambda: pd.DataFrame(rows, columns=["network", "length", "share"]),
        code=FORGETTING_CODE.format(lengths=TRAINED_LENGTHS),
    )


def _before_training(shares: dict[str, float], length: int) -> str:
    """Say it, and hand back the sentences below the headline."""
    attention = percent(shares["Attention"], 1)
    others = ", ".join(f"{name}: {_tiny(shares[name])}" for name in _RECURRENT)
    words = (
        f"Before training, the first of {length} letters makes {attention} of all influence on the "
        f"last output with attention (an equal share would be {percent(1 / length, 1)}). {others}."
    )
    st.markdown(f"#### {attention} against {_tiny(shares['RNN'])} in an RNN\n{words}")
    return words


def _how_measured(found: "list[Influence]", length: int) -> None:
    from core.traps.influence import DRAWS, NETWORKS, REPEATS, WIDTH

    seconds = {item.network: item.seconds for item in found if item.length == length}
    st.caption(
        f"One sequence of {length} letters takes {1000 * seconds['RNN']:.2f} ms in the RNN, "
        f"{length} steps one after the other, and {1000 * seconds['Attention']:.2f} ms with "
        f"attention, one step (best of {REPEATS}, here and now). Influence: gradient of the last "
        f"output on each letter's vector, geometric mean of {DRAWS} random inputs; shares below "
        f"{_tiny(SMALLEST_SHARE)} are drawn at the floor. The {len(NETWORKS)} networks of width "
        f"{WIDTH} have their first weights: nothing was trained, this is what training has to "
        "start from."
    )


@st.cache_data(show_spinner="Asking the recorded run …")
def _trained_shares() -> dict[int, float]:
    """Empty when this installation has no recorded run."""
    from core.training.checkpoint import load_model
    from core.traps.influence_trained import trained_shares

    return trained_shares(load_model(RECORDED)[0], TRAINED_LENGTHS) if RECORDED.is_file() else {}


def _measure_influence() -> "list[Influence]":
    bar, found = st.progress(0.0, "Loading PyTorch …"), []
    from core.traps.influence import LENGTHS, NETWORKS, measure

    expected = len(LENGTHS) * len(NETWORKS)
    for item in measure():
        found.append(item)
        bar.progress(len(found) / expected, f"{item.network}, {item.length} letters")
    bar.empty()
    return found


def _tiny(share: float) -> str:
    return percent(share, 1) if share >= 1e-3 else typeset(share, ".0e")


@st.fragment
def show_cost() -> None:
    """Time and memory of one attention head against length."""
    st.markdown(
        "The price of connecting everything: the number of pairs grows with the square of the "
        f"length. This is one head of width {cost_of_attention.WIDTH}, run on this machine as you "
        "opened the page."
    )
    again = st.button("Measure again", icon=":material/refresh:")
    if again or "_traps_cost" not in st.session_state:
        with st.spinner("Measuring …"):
            st.session_state["_traps_cost"] = cost_of_attention.measure()
    _growth(st.session_state["_traps_cost"])


def _growth(measured: list[cost_of_attention.Measurement]) -> None:
    longest, cdr3 = measured[-1], len(DEFAULT_SEQUENCE)
    words = (
        f"{longest.length:,} letters make {longest.pairs:,} pairs, {1000 * longest.seconds:.0f} ms "
        f"and {longest.megabytes:.0f} MB per head. The {cdr3} letters of a CDR3 make {cdr3**2} "
        f"pairs, a protein of {PROTEIN:,} residues {PROTEIN**2:,}, in every head of every layer."
    )
    st.markdown(f"{cost_heading(*cost_of_attention.growth(measured))}\n{words}")
    lengths = [m.length for m in measured]
    seconds, megabytes = [m.seconds for m in measured], [m.megabytes for m in measured]
    curve = np.geomspace(lengths[0], lengths[-1], 30).tolist()
    quadratic = cost_of_attention.quadratic(measured, curve)
    show_figure(
        cost(lengths, seconds, megabytes, curve, quadratic),
        key="traps_cost",
        alt=f"Time and memory of attention against length, with a quadratic. {words}",
        table=lambda: pd.DataFrame(measured),
        code=COST_CODE,
    )


def cost_heading(time_factor: float, memory_factor: float) -> str:
    """What twice the length costs; a time that hardly grew is no result, and is said to be none."""
    memory = f"{memory_factor:.1f} times the memory"
    if time_factor >= cost_of_attention.LINEAR:
        return f"#### Twice the length: {time_factor:.1f} times the time, {memory}"
    return (
        f"#### Twice the length: {memory}\n"
        f"The time grew {time_factor:.1f} times, less than it would for reading alone: other "
        "programs kept this machine busy meanwhile. Measure again.\n"
    )
