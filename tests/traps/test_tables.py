"""The measured column of the teaching tables, recomputed."""

import math
import re

import numpy as np
import pytest

from core.toy.attention import causal
from core.training.recipe import PAPER
from core.traps.families import families
from core.traps.parts import gradient_left, parts
from core.traps.tricks import signal_left, tricks
from tests.typed import typed


@pytest.fixture(scope="module")
def measured():
    return {line.name: typed(line.measured) for line in (*parts(), *tricks())}


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
    task = golden["reverse_task"]
    d_model, warmup = task["model"]["d_model"], task["optimiser"]["warmup"]
    rates = [
        f"{d_model**-0.5 * min(step**-0.5, step * warmup**-1.5):.1e} at step {step:,}"
        for step in (1, warmup, PAPER.steps)
    ]
    assert measured["Warm-up"] == ", ".join(rates)


def test_the_tricks_numbers_by_plain_arithmetic(measured):
    target = np.full(23, 0.1 / 23) + np.eye(23)[0] * 0.9
    floor = -(target * np.log(target)).sum()
    assert measured["Label smoothing 0.1"] == f"the loss cannot fall below {floor:.3f}"
    off = np.count_nonzero(np.random.default_rng(0).random(10_000) < 0.1) / 10_000
    mean = (1 - off) / 0.9
    assert measured["Dropout 0.1"] == f"one draw: {100 * off:.0f} % off, mean still {mean:.2f}"
    length = math.hypot(*np.random.default_rng(0).normal(size=64))
    assert measured["Gradient clipping"].startswith(f"length {length:.1f} becomes 1.0,")


def test_the_spread_of_a_signal_by_one_product_of_all_layers(measured):
    def spread(weights) -> float:
        random = np.random.default_rng(0)
        x = random.normal(size=(50, 64))
        return np.std(x @ np.linalg.multi_dot([weights(random) for _ in range(12)]))

    bound = math.sqrt(6 / (64 + 64))
    said = [
        f"{spread(lambda r: r.uniform(-1, 1, (64, 64)) * bound):.1f}",
        f"{spread(lambda r: r.normal(0, 0.02, (64, 64))):.0e} with weights of spread 0.02",
        f"{spread(lambda r: r.normal(0, 1, (64, 64))):.0e} with spread 1",
    ]
    assert measured["Xavier initialisation"] == (
        f"spread after 12 layers: {said[0]}; {said[1]}, {said[2]}"
    )


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
    looks = {family.name: looks for family, looks in families()}
    assert looks["encoder-only"] == "169"
    assert looks["decoder-only"] == str(causal(13).sum())
    assert looks["encoder-decoder"] == "169 + 91 + 169 across"
