import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.toy.block import (
    attention_weight_count,
    block,
    block_steps,
    block_weights,
    feed_forward_weight_count,
    gelu,
    layer_norm,
)
from core.toy.heads import HEADS, multi_head
from core.toy.residue_vectors import residue_vectors

GOLDEN = json.loads((Path(__file__).parent.parent / "golden_numbers.json").read_text())["toy"]
X = residue_vectors(GOLDEN["sequence"])


def test_shape_and_counts():
    assert list(block(X).shape) == GOLDEN["block_output_shape"]
    assert attention_weight_count() == GOLDEN["attention_weight_count_d8_h4"]
    assert feed_forward_weight_count() == GOLDEN["ffn_weight_count_d8_ff32"]


def test_weights_are_drawn_in_the_order_given():
    random = np.random.default_rng(0)
    weights = block_weights()
    assert np.array_equal(weights.w_o, random.normal(0, 0.3, (8, 8)))
    assert np.array_equal(weights.w_1, random.normal(0, 0.3, (8, 32)))
    assert np.array_equal(weights.w_2, random.normal(0, 0.3, (32, 8)))
    assert not weights.b_1.any()
    assert not weights.b_2.any()


def test_layer_norm_row_by_hand():
    row = layer_norm(np.array([[1.0, 2.0, 6.0]]))[0]
    deviation = math.sqrt((4 + 1 + 9) / 3 + 1e-5)
    assert row == pytest.approx([-2 / deviation, -1 / deviation, 3 / deviation])


def test_layer_norm_of_a_flat_row_is_zero():
    assert not layer_norm(np.full((1, 5), 3.0)).any()


def test_gelu_known_values():
    assert gelu(np.array([[0.0, 1.0, -1.0]]))[0] == pytest.approx(
        [0, 0.8413447460685429, -0.15865525393145707]
    )


def test_residual_stream_adds_up():
    steps = block_steps(X)
    assert np.array_equal(steps.after_attention, X + steps.attention)
    assert np.array_equal(steps.leaving, steps.after_attention + steps.feed_forward)
    assert np.array_equal(steps.leaving, block(X))


def test_stages_by_an_independent_calculation():
    steps, w = block_steps(X), block_weights()
    normed = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)
    between = X + multi_head(normed, HEADS, w.w_o)
    assert np.allclose(steps.after_attention, between, atol=1e-14)
    second = (between - between.mean(1, keepdims=True)) / np.sqrt(
        between.var(1, keepdims=True) + 1e-5
    )
    inner = second @ w.w_1
    hidden = inner * np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(inner)
    assert np.allclose(steps.leaving, between + hidden @ w.w_2, atol=1e-13)


def test_muting_every_head_leaves_the_stream_as_it_was():
    steps = block_steps(X, muted=frozenset(range(4)))
    assert np.array_equal(steps.after_attention, X)
