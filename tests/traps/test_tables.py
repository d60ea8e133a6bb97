"""The measured column of the teaching tables, recomputed."""

import re

import numpy as np
import pytest

from core.toy.attention import causal
from core.traps.families import families
from core.traps.parts import gradient_left, parts
from core.traps.tricks import signal_left, tricks


@pytest.fixture(scope="module")
def measured():
    return {line.name: line.measured.replace("\u00a0", " ") for line in (*parts(), *tricks())}


def test_every_line_has_a_number(measured):
    assert all(re.search(r"\d", said) for said in measured.values())


def test_published_numbers_appear_as_they_are_published(measured, golden):
    toy = golden["toy"]
    share = toy["weights_of_R6_head1"]["to_E10"]
    assert f"{100 * share:.0f} % to E10" in measured["Attention"]
    assert (
        f"{toy['ffn_weight_count_d8_ff32']} of the block's 768" in measured["Feed-forward network"]
    )
    assert f"of {toy['score_count_13_residues']} looks" in measured["Masks"]
    hydropathy = toy["hydropathy_scaled"]["R"]
    assert measured["Embedding"].startswith(f"R6 → ({hydropathy:g}, 1, 0, 0)")
    task = golden["reverse_task"]
    assert (
        f"{task['model']['d_model']} numbers become {task['vocabulary']}" in measured["Output head"]
    )


def test_the_learning_rate_is_the_papers(measured, golden):
    optimiser, d_model = (
        golden["reverse_task"]["optimiser"],
        golden["reverse_task"]["model"]["d_model"],
    )
    peak = d_model**-0.5 * optimiser["warmup"] ** -0.5
    assert f"{peak:.1e} at step {optimiser['warmup']}" in measured["Warm-up"]


def test_gradients_fade_without_the_shortcut_only():
    assert gradient_left(shortcut=False) < 0.3 < 1 < gradient_left(shortcut=True)


def test_signals_keep_their_size_with_xavier_only():
    assert 0.3 < signal_left("xavier") < 3
    # Each plain layer multiplies the spread by sqrt(64) times the weights' own.
    assert np.log10(signal_left("small")) == pytest.approx(12 * np.log10(8 * 0.02), abs=0.5)
    assert np.log10(signal_left("large")) == pytest.approx(12 * np.log10(8), abs=0.5)


def test_beam_search_beats_greedy_on_the_table(measured):
    # 0.6 * 0.55 = 0.33 against 0.4 * 0.95 = 0.38.
    assert "greedy ends at 33 %, a beam of 2 at 38 %" in measured["Beam search"]


def test_looks_of_each_family_are_counted_from_its_masks():
    both, back, across = (family.looks for family in families())
    assert (both, back) == ("169", str(causal(13).sum()))
    assert across == "169 + 91 + 169 across"
