import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.toy.attention import causal
from core.toy.heads import HEADS, attend_each, concatenate, multi_head, weight_matrix
from core.toy.jobs import job_targets, job_test, labels, reading
from core.toy.residue_vectors import residue_vectors
from core.written import percent

GOLDEN = json.loads((Path(__file__).parent.parent / "golden_numbers.json").read_text())["toy"]
SEQUENCE = GOLDEN["sequence"]
R6, E10 = 5, 9
X = residue_vectors(SEQUENCE)
STEPS = attend_each(X)


@pytest.mark.parametrize(
    ("field", "group"),
    [
        ("scores", "raw_scores_of_R6_head1"),
        ("scaled", "scaled_scores_of_R6_head1"),
        ("weights", "weights_of_R6_head1"),
    ],
)
def test_row_of_r6_in_head_1(field, group):
    expected, row = GOLDEN[group], getattr(STEPS[0], field)[R6]
    tolerance = expected.get("tol", 1e-12)
    assert row[E10] == pytest.approx(expected["to_E10"], abs=tolerance)
    assert row[R6] == pytest.approx(expected["to_R6"], abs=tolerance)
    others = np.delete(row, [R6, E10])
    # The scaled scores' file entry names the two charged residues only; the rest are 0.
    every_other = expected.get("to_every_other", 0.0)
    assert others == pytest.approx(np.full(11, every_other), abs=tolerance)


def test_blend_of_r6_in_head_1():
    expected = GOLDEN["blend_of_R6_head1"]
    assert STEPS[0].blended[R6] == pytest.approx(expected["value"], abs=expected["tol"])


def test_number_of_scores():
    assert STEPS[0].scores.size == GOLDEN["score_count_13_residues"]


def test_four_serines_after_the_heads():
    expected = GOLDEN["serine_after_four_heads_identity_Wo"]
    after = multi_head(X, HEADS, np.eye(8))
    for position in GOLDEN["serine_positions_1based"]:
        row = after[position - 1]
        assert row == pytest.approx(expected[str(position)], abs=expected["tol"])


def test_neighbour_heads_rotate_the_slow_wave():
    turned = X @ HEADS[2].w_q
    for position in range(1, len(SEQUENCE)):
        expected = [50 * math.sin((position - 1) / 3), 50 * math.cos((position - 1) / 3)]
        assert turned[position] == pytest.approx(expected)
    assert (X @ HEADS[3].w_q)[0] == pytest.approx([50 * math.sin(1 / 3), 50 * math.cos(1 / 3)])


def test_head_weights_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="read-only"):
        HEADS[0].w_q[0, 0] = 1


def test_weight_matrix_by_names():
    matrix = weight_matrix({("CHG", 0): 2.0, ("P2c", 1): -3.0})
    assert matrix[1, 0] == 2
    assert matrix[7, 1] == -3
    assert np.count_nonzero(matrix) == 2


def test_muting_leaves_zeros_in_the_heads_place():
    muted = concatenate(STEPS, frozenset({2}))
    assert not muted[:, 4:6].any()
    assert np.array_equal(
        np.delete(muted, [4, 5], axis=1), np.delete(concatenate(STEPS), [4, 5], 1)
    )


def test_wrong_output_mix_is_refused():
    with pytest.raises(ValueError, match="w_o"):
        multi_head(X, HEADS, np.ones((7, 8)))


@pytest.mark.parametrize(("head", "rows"), [(0, 9), (1, 6), (2, 12), (3, 12)])
def test_every_head_does_its_job(head, rows):
    test = job_test(head, SEQUENCE, STEPS[head].weights)
    assert (test.passed, test.of, test.failed) == (rows, rows, ())
    assert test.holds


def test_job_targets_by_hand():
    assert list(np.flatnonzero(job_targets(0, SEQUENCE)[R6])) == [E10]
    assert list(np.flatnonzero(job_targets(0, "RKDEA")[2])) == [0, 1]
    assert not job_targets(0, "RKA").any()
    assert list(np.flatnonzero(job_targets(1, "YWIAR")[0])) == [0, 1]
    assert list(np.flatnonzero(job_targets(1, "YWIAR")[2])) == [2, 3]
    assert list(np.flatnonzero(job_targets(2, "CAS")[1])) == [0]
    assert not job_targets(3, "CAS")[2].any()


def test_a_head_that_looks_everywhere_alike_fails_its_job():
    even = np.full((13, 13), 1 / 13)
    test = job_test(2, SEQUENCE, even)
    assert test.passed == 0
    assert not test.holds
    assert test.failed == tuple(range(2, 14))


def test_causal_mask_breaks_the_next_residue_head():
    hidden = attend_each(X, may_attend=causal(13))
    assert job_test(3, SEQUENCE, hidden[3].weights).passed == 0
    assert job_test(2, SEQUENCE, hidden[2].weights).holds


def test_no_partner_means_no_test():
    test = job_test(0, "RAA", attend_each(residue_vectors("RAA"))[0].weights)
    assert test.of == 0
    assert not test.holds


def test_readings():
    assert reading(SEQUENCE, STEPS[0].weights, R6) == f"R6 gives {percent(0.605)} to E10"
    assert reading(SEQUENCE, STEPS[2].weights, 0) == f"C1 gives {percent(0.996, 1)} to itself"
    assert reading(SEQUENCE, STEPS[1].weights, R6).endswith("to itself")
    assert "every residue the same" in reading(SEQUENCE, STEPS[0].weights, 0)
    assert "each of S3, S4, S7, S8 and 3 more" in reading(SEQUENCE, STEPS[0].weights, 2)


def test_labels_count_from_one():
    assert labels("CAS") == ["C1", "A2", "S3"]
