"""Entropy, surprise, log-odds, temperature and the two origins, by hand."""

import numpy as np
import pytest

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain
from core.protein.guess import Guess, guess
from core.protein.readout import (
    at_temperature,
    by_origin,
    entropy_bits,
    log_odds,
    p_true,
    pseudo_perplexity,
    surprise,
)
from core.protein.scan import scan
from core.protein.table import COLUMNS, scan_csv, scan_rows
from core.protein.yardstick import GENES_GIVEN, yardsticks

RNG = np.random.default_rng(7)


def rows(n):
    return RNG.dirichlet(np.ones(20), size=n)


def test_entropy_of_sure_and_of_no_idea():
    sure = np.eye(20)[[3]]
    assert entropy_bits(sure)[0] == 0
    assert entropy_bits(np.full((1, 20), 0.05))[0] == pytest.approx(np.log2(20))
    half = np.zeros((1, 20))
    half[0, :2] = 0.5
    assert entropy_bits(half)[0] == pytest.approx(1)


def test_surprise_and_pseudo_perplexity_by_hand():
    chain = Chain("AC")
    table = np.full((2, 20), 0.5 / 18)
    table[0, :2] = (0.25, 0.25)
    table[1, :2] = (0.0, 0.5)
    assert p_true(table, chain) == pytest.approx([0.25, 0.5])
    assert surprise(table, chain) == pytest.approx([np.log(4), np.log(2)])
    assert pseudo_perplexity(table, chain) == pytest.approx(8**0.5)


def test_log_odds_are_zero_at_the_true_letter():
    chain = Chain("MKTAYIA")
    table = rows(7)
    odds = log_odds(table, chain)
    for i, letter in enumerate(chain.sequence):
        assert odds[i, AMINO_ACIDS.index(letter)] == pytest.approx(0)
        ratio = table[i, 4] / table[i, AMINO_ACIDS.index(letter)]
        assert odds[i, 4] == pytest.approx(np.log(ratio))
        assert (odds[i] > 0).tolist() == (table[i] > p_true(table, chain)[i]).tolist()


def test_temperature_is_that_of_the_logits():
    logits = RNG.normal(size=(5, 20))

    def softmax(x):
        return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

    for temperature in (0.1, 0.5, 1.0, 2.0, 10.0):
        assert at_temperature(softmax(logits), temperature) == pytest.approx(
            softmax(logits / temperature)
        )
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="above 0"):
            at_temperature(softmax(logits), wrong)


def test_temperature_never_calls_the_model(tiny, published, monkeypatch):
    one = guess(tiny, published, 9)
    monkeypatch.setattr(type(tiny), "guess_hidden", None)
    assert one.at_temperature(2.0).entropy_bits > one.entropy_bits
    assert one.at_temperature(1.0).probabilities == pytest.approx(one.probabilities)


def test_a_guess_reads_itself():
    table = np.full(20, 0.01)
    table[AMINO_ACIDS.index("S")], table[AMINO_ACIDS.index("L")] = 0.5, 0.32
    one = Guess("a model", 3, "L", table, 0.0)
    assert one.top(2) == (("S", 0.5), ("L", 0.32))
    assert one.rank == 2
    assert one.surprise == pytest.approx(-np.log(0.32))
    unknown = Guess("a model", 3, "X", table, 0.0)
    assert np.isnan(unknown.p_true)
    assert unknown.rank == 0


def test_origins_count_the_letters(mini_table, published):
    table = mini_table
    v, junction, j = by_origin(table, published)
    assert [s.origin for s in (v, junction, j)] == ["V germline", "junction", "J germline"]
    assert (v.count, junction.count, j.count) == (131 - 19 - 2 - 6 - 9, 2, 15)
    assert v.mean_p_true > 0.9 > junction.mean_p_true
    assert junction.mean_surprise > 1 > j.mean_surprise
    inside = by_origin(table, published, within="CDR3")
    assert [s.count for s in inside] == [5, 2, 6]
    assert by_origin(rows(7), Chain("MKTAYIA")) == ()


def test_csv_has_the_columns_of_the_contract(mini, published):
    table = scan(mini, published, positions=[110, 115])
    header, c104, r109 = scan_csv(published, table).splitlines()
    assert header.split(",") == [
        "position",
        "residue",
        "region",
        "p_true",
        "entropy_bits",
        *AMINO_ACIDS,
    ]
    assert c104.startswith("110,C,CDR3,")
    values = dict(zip(COLUMNS, r109.split(","), strict=True))
    assert (
        float(values["p_true"])
        == float(values["R"])
        == pytest.approx(table[114, AMINO_ACIDS.index("R")], abs=1e-6)
    )
    assert len(list(scan_rows(published, table))) == 2


def test_the_yardstick_is_close_to_what_trb_mini_learnt(mini_table, published):
    """TRB-mini was trained on this recombination model: it should have learnt its junction."""
    sharp, broad = yardsticks(published)
    assert sharp.given == GENES_GIVEN
    assert sharp.cdr3 == broad.cdr3 == published.cdr3_sequence
    assert sharp.probabilities.sum(1) == pytest.approx(1)
    assert sharp.pgen < broad.pgen < 1e-6
    model = mini_table[109:122]
    assert np.abs(model - sharp.probabilities)[5:7].max() < 0.03
    assert sharp.p_true[5:7] == pytest.approx([0.119, 0.078], abs=0.001)
    assert yardsticks(published.mutated(115, "W")) == ()
