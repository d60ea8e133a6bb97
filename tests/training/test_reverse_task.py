"""Batches: what the source, the decoder input and the labels are."""

from dataclasses import replace

import pytest
import torch

from core.alphabet import BOS, EOS, PAD, RESIDUES
from core.training.recipe import PAPER
from core.training.reverse_task import draw_batch, encode_strings


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_special_tokens_are_the_published_ones(golden):
    assert golden["reverse_task"]["specials"] == {"PAD": PAD, "BOS": BOS, "EOS": EOS}
    assert len(RESIDUES) == golden["reverse_task"]["vocabulary"]
    assert RESIDUES.encode("A") == (golden["reverse_task"]["first_letter_id"],)


def test_two_strings_by_hand():
    batch = encode_strings(["CAF", "DE"], "ACDEF")  # A 3, C 4, D 5, E 6, F 7
    assert batch.src.tolist() == [[4, 3, 7], [5, 6, 0]]
    assert batch.tgt.tolist() == [[1, 7, 3, 4], [1, 6, 5, 0]]
    assert batch.labels.tolist() == [[7, 3, 4, 2], [6, 5, 2, 0]]


def test_random_batches_reverse_row_by_row():
    recipe = replace(PAPER, min_length=2, max_length=7)
    batch = draw_batch(recipe, 101, generator())
    assert batch.src.shape == (101, 7)
    assert batch.tgt.shape == batch.labels.shape == (101, 8)
    for src, tgt, labels in zip(batch.src, batch.tgt, batch.labels, strict=True):
        letters = src[src != PAD].tolist()
        padding = [PAD] * (7 - len(letters))
        assert src.tolist() == letters + padding
        assert tgt.tolist() == [BOS, *reversed(letters), *padding]
        assert labels.tolist() == [*reversed(letters), EOS, *padding]


def test_lengths_and_letters_are_uniform():
    batch = draw_batch(PAPER, 20_000, generator())
    lengths = (batch.src != PAD).sum(1)
    for counts in (
        torch.bincount(lengths, minlength=17)[8:],
        torch.bincount(batch.src[batch.src != PAD], minlength=23)[3:],
    ):
        expected = counts.sum() / len(counts)
        chi_square = ((counts - expected) ** 2 / expected).sum().item()
        # Mean k - 1, deviation sqrt(2 (k - 1)); five deviations never happen by chance.
        freedom = len(counts) - 1
        assert chi_square < freedom + 5 * (2 * freedom) ** 0.5


def test_the_generator_decides_and_nothing_else():
    torch.manual_seed(1)
    one = draw_batch(PAPER, 5, generator(3))
    torch.manual_seed(2)
    same, other = draw_batch(PAPER, 5, generator(3)), draw_batch(PAPER, 5, generator(4))
    assert torch.equal(one.src, same.src)
    assert not torch.equal(one.src, other.src)


@pytest.mark.parametrize("strings", [[], [""], ["A", ""]])
def test_nothing_to_reverse_is_refused(strings):
    with pytest.raises(ValueError, match="no string"):
        encode_strings(strings, "ACDEF")
