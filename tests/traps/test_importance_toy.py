"""The toy's importance, recomputed from raw arrays by really removing a residue."""

import numpy as np
import pytest

from core.alphabet import SequenceError
from core.toy.heads import HEADS
from core.toy.residue_vectors import residue_vectors
from core.traps.importance_toy import received_from_others, toy_importance, without

SEQUENCES = ["CASSIRSSYEQYF", "AC", "KDERWYF"]


def heads_of(x):
    """Weights and blends of every head, written out without the toy's own attention."""
    weights, blends = [], []
    for head in HEADS:
        scores = (x @ head.w_q) @ (x @ head.w_k).T / np.sqrt(2)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights.append(powers / powers.sum(axis=1, keepdims=True))
        blends.append(weights[-1] @ (x @ head.w_v))
    return weights, np.hstack(blends)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_the_effect_is_that_of_leaving_the_residue_out(sequence):
    x = residue_vectors(sequence)
    _, before = heads_of(x)
    expected = []
    for j in range(len(x)):
        _, after = heads_of(np.delete(x, j, axis=0))
        expected.append(np.linalg.norm(after - np.delete(before, j, axis=0), axis=1).mean())
    assert toy_importance(sequence).effect == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_attention_received_leaves_a_residues_own_out(sequence):
    weights, _ = heads_of(residue_vectors(sequence))
    for head, w in enumerate(weights):
        columns = [np.delete(w[:, j], j).mean() for j in range(len(w))]
        assert toy_importance(sequence).received(head) == pytest.approx(np.array(columns))


def test_attention_received_of_a_hand_made_map():
    w = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.6, 0.4, 0.0]])
    assert received_from_others(w) == pytest.approx(np.array([0.35, 0.45, 0.55]))


def test_nobody_looks_at_the_residue_but_itself():
    allowed = without(5, 2)
    assert allowed[:, 2].tolist() == [False, False, True, False, False]
    assert np.delete(allowed, 2, axis=1).all()


def test_the_heads_of_the_toy_disagree_about_importance():
    result = toy_importance("CASSIRSSYEQYF")
    each = result.head_correlations()
    assert each.min() < 0 < each.max()
    assert result.names[int(np.argmax(result.effect))] == "R6"


@pytest.mark.parametrize("text", ["", "A", "CASX", "A" * 61])
def test_what_is_no_sequence_is_refused(text):
    with pytest.raises(SequenceError):
        toy_importance(text)
