import inspect
import math

import numpy as np
import pytest

from core.toy.attention import attend, causal, softmax

RANDOM = np.random.default_rng(7)
X, W_Q, W_K = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(3, 2))
W_V = RANDOM.normal(size=(3, 7))


def test_a_row_by_hand():
    assert softmax(np.array([[0.0, 1.0]]))[0] == pytest.approx(
        [1 / (1 + math.e), math.e / (1 + math.e)]
    )


def test_softmax_survives_huge_scores():
    assert softmax(np.array([[1e4, 0.0]]))[0] == pytest.approx([1, 0])


def test_every_step_follows_from_the_one_before():
    steps = attend(X, W_Q, W_K, W_V)
    for query in range(5):
        scores = [sum((X[query] @ W_Q) * (X[key] @ W_K)) for key in range(5)]
        powers = [math.exp(score / math.sqrt(2)) for score in scores]
        weights = [power / sum(powers) for power in powers]
        assert steps.scores[query] == pytest.approx(scores)
        assert steps.scaled[query] == pytest.approx([score / math.sqrt(2) for score in scores])
        assert steps.weights[query] == pytest.approx(weights)
        blend = sum(w * (X[key] @ W_V) for key, w in enumerate(weights))
        assert steps.blended[query] == pytest.approx(blend)
    assert steps.blended.shape == (5, 7)


def test_exponentials_give_the_weights_and_peak_at_one():
    steps = attend(X, W_Q, W_K, W_V)
    powers = steps.exponentials
    assert powers.max(axis=1) == pytest.approx(np.ones(5))
    assert np.allclose(powers / powers.sum(axis=1, keepdims=True), steps.weights)


def test_without_scaling_the_scores_go_straight_in():
    steps = attend(X, W_Q, W_K, W_V, scale=False)
    assert np.array_equal(steps.scaled, steps.scores)


def test_causal_mask_hides_the_future_exactly():
    steps = attend(X, W_Q, W_K, W_V, may_attend=causal(5))
    assert not steps.weights[~np.tri(5, dtype=bool)].any()
    assert not steps.exponentials[~np.tri(5, dtype=bool)].any()
    assert steps.weights.sum(axis=1) == pytest.approx(np.ones(5))


def test_the_future_changes_nothing_earlier():
    later = X.copy()
    later[4] += 11
    before, after = (attend(x, W_Q, W_K, W_V, may_attend=causal(5)) for x in (X, later))
    assert np.array_equal(before.blended[:4], after.blended[:4])
    assert not np.allclose(before.blended[4], after.blended[4])


def test_masking_a_key_equals_removing_it():
    hidden = np.ones((5, 5), dtype=bool)
    hidden[:, 2] = False
    masked = attend(X, W_Q, W_K, W_V, may_attend=hidden)
    kept = np.delete(X, 2, axis=0)
    assert np.allclose(np.delete(masked.blended, 2, axis=0), attend(kept, W_Q, W_K, W_V).blended)


def test_attention_commutes_with_shuffling():
    order = np.array([3, 0, 4, 1, 2])
    plain, mixed = attend(X, W_Q, W_K, W_V), attend(X[order], W_Q, W_K, W_V)
    assert np.allclose(mixed.blended, plain.blended[order], atol=1e-14)


def test_a_query_that_may_look_nowhere_is_refused():
    nowhere = np.ones((5, 5), dtype=bool)
    nowhere[1] = False
    with pytest.raises(ValueError, match="no weights"):
        attend(X, W_Q, W_K, W_V, may_attend=nowhere)


def test_widths_that_do_not_fit_are_refused_with_their_shapes():
    # Unwrapped: under pytest the named axes refuse it first.
    with pytest.raises(ValueError, match=r"\(5, 3\)"):
        inspect.unwrap(attend)(X, W_Q, np.zeros((3, 5)), W_V)
