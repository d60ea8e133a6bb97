import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.toy.formula_walk import formula_walk, number
from core.toy.jobs import labels
from core.toy.model import run_toy
from core.toy.shuffle import shuffle_proof
from core.toy.slow_wave import limit_sentence, look_alike
from core.toy.softmax_experiment import one_draw, top_weights
from core.toy.what_if import WhatIf, decode

GOLDEN = json.loads((Path(__file__).parent.parent / "golden_numbers.json").read_text())["toy"]
SEQUENCE = GOLDEN["sequence"]


def test_the_walk_of_r6_to_e10_has_the_published_numbers():
    walk = formula_walk(run_toy(SEQUENCE).steps[0], labels(SEQUENCE), 5, 9)
    assert [step.name for step in walk] == [
        "Query and key", "Score", "Scaled", "Exponential", "Weight", "Blend",
    ]  # fmt: skip
    assert r"q_{R6} &= x_{R6} W_q = (2,\,0)" in walk[0].latex
    assert r"v_{E10} &= x_{E10} W_v = (-1,\,0)" in walk[0].latex
    assert walk[1].latex.endswith("= 4")
    assert walk[2].latex == r"\frac{4}{\sqrt{2}} = 2.83"
    assert walk[4].latex.endswith("= 0.605")
    assert walk[5].latex.endswith(r"&= \begin{pmatrix}-0.603\\0.25\end{pmatrix}\end{aligned}")


@pytest.mark.parametrize("head", range(4))
@pytest.mark.parametrize("query", [0, 5, 12])
def test_every_walk_ends_in_the_runs_own_numbers(head, query):
    steps = run_toy(SEQUENCE).steps[head]
    key = int(steps.weights[query].argmax())
    walk = formula_walk(steps, labels(SEQUENCE), query, key)
    last = [float(step.latex.rpartition("=")[2]) for step in walk[1:5]]
    expected = [
        getattr(steps, field)[query, key]
        for field in ("scores", "scaled", "exponentials", "weights")
    ]
    assert last == pytest.approx(expected, rel=0.006, abs=1e-9)


def test_the_blend_of_the_walk_adds_up():
    steps = run_toy("CAS").steps[1]
    latex = formula_walk(steps, labels("CAS"), 0, 0)[5].latex
    terms, total = latex.rsplit("=", 1)
    pair = r"([-\d.]*)\\?,?\\begin\{pmatrix\}(.*?)\\\\(.*?)\\end"
    added = np.zeros(2)
    for factor, first, second in re.findall(pair, terms):
        added += float(factor or 1) * np.array([float(first), float(second)])
    first, second = re.search(r"pmatrix\}(.*?)\\\\(.*?)\\end", total).groups()
    assert added == pytest.approx([float(first), float(second)], abs=0.003)


def test_a_hidden_key_cannot_be_followed():
    hidden = run_toy(SEQUENCE, WhatIf(causal=True)).steps[0]
    with pytest.raises(ValueError, match="mask hides it"):
        formula_walk(hidden, labels(SEQUENCE), 2, 7)


def test_a_row_that_sums_to_little_more_than_its_largest_says_how_much():
    powers = run_toy(SEQUENCE).steps[2].exponentials[0]
    walk = formula_walk(run_toy(SEQUENCE).steps[2], labels(SEQUENCE), 0, 0)
    assert number(powers.sum()) == "1"
    assert rf"\frac{{1}}{{{powers.sum():.4f}}} = 0.996" in walk[4].latex


def test_the_blend_counts_only_residues_that_are_not_hidden():
    hidden = run_toy(SEQUENCE, WhatIf(causal=True)).steps[3]
    words = [formula_walk(hidden, labels(SEQUENCE), row, 0)[5].words for row in range(4)]
    assert words[0].startswith("Values of C1, each")
    assert words[1].startswith(("Values of C1 and A2, each", "Values of A2 and C1, each"))
    assert " and 1 other, each" in words[2]
    assert " and 2 others, each" in words[3]


@pytest.mark.parametrize(
    ("value", "text"),
    [(4.0, "4"), (2.8284, "2.83"), (0.60536, "0.605"), (0.00211, "0.00211"), (-0.25, "-0.25"),
     (0.0, "0"), (-0.0, "0"), (123.4, "123"), (1e-12, "1.0e-12"), (1e-17, "0")],
)  # fmt: skip
def test_numbers_as_a_person_writes_them(value, text):
    assert number(value) == text


@pytest.mark.parametrize("seed", range(7))
def test_shuffling_without_positions_only_shuffles_the_output(seed):
    proof = shuffle_proof(SEQUENCE, seed)
    assert sorted(proof.shuffled) == sorted(SEQUENCE)
    assert proof.without_positions < 1e-13
    assert proof.with_positions > 0.1


def test_shuffle_proof_keeps_the_edits():
    assert shuffle_proof(SEQUENCE, 3, decode("m1234")[0]).with_positions == 0
    assert shuffle_proof(SEQUENCE, 3, decode("w3q1a5_noscale")[0]).without_positions < 1e-13


def test_short_sequences_have_no_look_alike():
    assert look_alike(run_toy(SEQUENCE)) is None
    assert limit_sentence(run_toy("C" * 19)) is None


def test_long_sequences_are_told_what_the_slow_wave_does():
    run = run_toy(SEQUENCE * 2)
    fooled = look_alike(run)
    assert abs(fooled.look_alike - fooled.target) == 19
    row = run.steps[fooled.head].weights[fooled.query]
    assert fooled.look_alike_weight == row[fooled.look_alike] > 0.3
    sentence = limit_sentence(run)
    assert "18.85" in sentence
    assert "26" in sentence
    assert "many frequencies" in sentence
    assert ("residues after it" in sentence) == (fooled.look_alike > fooled.target)
    assert "residues before it" in limit_sentence(run_toy((SEQUENCE * 5)[:60]))


def test_weight_is_shared_in_the_ratio_that_the_wave_predicts():
    # Scores of target and look-alike differ by 50 (1 - cos(19/3)), divided by sqrt 2.
    row = run_toy("A" * 29).steps[2].weights[24]
    expected = np.exp(-50 * (1 - np.cos(19 / 3)) / np.sqrt(2))
    assert row[4] / row[23] == pytest.approx(expected)


def test_divided_scores_keep_the_weight_spread_out():
    demo = GOLDEN["sqrt_dk_demo"]
    many = top_weights(demo["d_k"], demo["keys"], draws=1000, seed=0)
    assert many.score_deviation == pytest.approx(8, rel=0.05)
    assert np.median(many.unscaled) > 0.9
    assert 0.15 < np.median(many.scaled) < demo["published_top_weight_scaled"] + 0.05
    # The published draw is an ordinary one: both values lie inside the distributions.
    low, high = np.quantile(many.unscaled, [0.01, 0.99])
    assert low < demo["published_top_weight_unscaled"] < high
    low, high = np.quantile(many.scaled, [0.01, 0.99])
    assert low < demo["published_top_weight_scaled"] < high


def test_one_draw_is_repeatable_and_different_from_the_next():
    first, again, other = one_draw(64, 13, 5), one_draw(64, 13, 5), one_draw(64, 13, 6)
    assert np.array_equal(first.scores, again.scores)
    assert not np.array_equal(first.scores, other.scores)
    assert first.unscaled.sum() == pytest.approx(1)
    assert first.scaled.sum() == pytest.approx(1)
    assert first.unscaled.argmax() == first.scaled.argmax() == first.scores.argmax()


@pytest.mark.parametrize("d_k", [0, 513])
def test_d_k_has_bounds(d_k):
    with pytest.raises(ValueError, match="d_k"):
        one_draw(d_k)


def test_the_toy_never_loads_torch():
    modules = sorted(p.stem for p in Path("core/toy").glob("*.py") if p.stem != "__init__")
    code = "import sys\n" + "".join(f"import core.toy.{name}\n" for name in modules)
    done = subprocess.run(
        [sys.executable, "-c", code + "print('torch' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"
