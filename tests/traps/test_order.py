"""Shuffling: nothing but rounding without positions, a real difference with them."""

import numpy as np
import pytest

from core.alphabet import SequenceError
from core.toy.block import block
from core.toy.residue_vectors import residue_vectors
from core.traps.order_encoder import shuffle_encoder
from core.traps.order_toy import new_order, shuffle_toy

SHUFFLES = [shuffle_toy, shuffle_encoder]


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_without_positions_the_output_is_only_shuffled(shuffle, seed):
    result = shuffle("CASSIRSSYEQYF", seed)
    assert result.without_positions.max() < 1e-12
    assert result.with_positions.max() > 0.1


@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_a_causal_mask_tells_the_order_without_positions(shuffle):
    assert shuffle("CASSIRSSYEQYF", causal_mask=True).without_positions.max() > 0.1


def test_the_differences_are_those_of_the_arrays():
    result = shuffle_toy("CASSIRS", seed=5)
    after, before = block(residue_vectors(result.shuffled)), block(residue_vectors("CASSIRS"))
    expected = np.stack([np.abs(after[i] - before[old]) for i, old in enumerate(result.order)])
    assert result.with_positions == pytest.approx(expected, abs=1e-12)


def test_the_shuffled_letters_are_the_same_letters():
    result = shuffle_toy("CASSIRSSYEQYF", seed=3)
    assert sorted(result.shuffled) == sorted("CASSIRSSYEQYF")
    assert "".join(name[0] for name in result.names) == result.shuffled
    assert [int(name[1:]) - 1 for name in result.names] == result.order.tolist()


@pytest.mark.parametrize("length", [2, 3, 13])
def test_the_new_order_is_a_permutation_and_never_the_old_one(length):
    for seed in range(30):
        order = new_order(length, seed)
        assert sorted(order) == list(range(length))
        assert order.tolist() != list(range(length))


def test_the_same_seed_gives_the_same_shuffle():
    assert new_order(13, 4).tolist() == new_order(13, 4).tolist()


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("text", ["", "C", "CASJ", "A" * 61])
def test_what_is_no_sequence_is_refused(shuffle, text):
    with pytest.raises(SequenceError):
        shuffle(text)
