"""Ranks and rank correlation against hand-computed cases."""

import numpy as np
import pytest

from core.traps.ranking import Importance, rank_correlation, ranks, reading, residue_names


def importance(received, effect, names=("C1", "A2", "S3")):
    return Importance("m", names, ("Head 1",), np.array([received]), np.array(effect), "unit")


def test_the_largest_value_has_rank_1_and_ties_share_their_places():
    assert ranks(np.array([0.2, 0.9, 0.2, 0.5])).tolist() == [3.5, 1.0, 3.5, 2.0]


def test_rounding_noise_makes_no_rank():
    assert ranks(np.array([0.1 + 0.2, 0.3, 0.7])).tolist() == [2.5, 2.5, 1.0]


def test_correlation_of_a_hand_computed_case():
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24) = 0.8.
    a, b = np.array([5.0, 4, 3, 2, 1]), np.array([40.0, 50, 20, 30, 10])
    assert rank_correlation(a, b) == pytest.approx(0.8)


def test_correlation_sees_order_only():
    a = np.random.default_rng(3).normal(size=17)
    assert rank_correlation(a, np.exp(a)) == pytest.approx(1)
    assert rank_correlation(a, -(a**3)) == pytest.approx(-1)


def test_correlation_with_ties_is_pearsons_of_the_ranks():
    a, b = np.array([1.0, 1, 2, 3, 5]), np.array([2.0, 7, 1, 8, 2])
    expected = np.corrcoef(ranks(a), ranks(b))[0, 1]
    assert rank_correlation(a, b) == pytest.approx(expected)


def test_a_constant_side_has_no_correlation():
    assert np.isnan(rank_correlation(np.ones(5), np.arange(5.0)))
    assert np.isnan(rank_correlation(np.ones(1), np.ones(1)))


def test_lengths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 residues"):
        importance([0.1, 0.2, 0.3], [1.0, 2, 3], names=("C1", "A2"))


def test_a_head_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="choose 1 to 1"):
        importance([0.1, 0.2, 0.3], [1.0, 2, 3]).received(1)


@pytest.mark.parametrize(
    ("received", "effect", "said"),
    [
        ([0.5, 0.3, 0.2], [9.0, 1, 2], "C1 is the most attended residue, and the one that"),
        ([0.5, 0.3, 0.2], [1.0, 9, 2], "C1 receives most attention but comes 3rd of 3"),
        ([0.4, 0.4, 0.2], [1.0, 2, 9], "C1 and A2 share most attention but C1 comes 3rd of 3"),
        ([0.4, 0.4, 0.2], [1.0, 9, 2], "A2 is the most attended residue (with 1 other)"),
    ],
)
def test_the_reading_names_residues_and_places(received, effect, said):
    assert reading(importance(received, effect)).startswith(said)


def test_residues_are_named_from_1():
    assert residue_names("CAS") == ("C1", "A2", "S3")
