"""Two strings per row: the same strings, the same logits, no padding."""

from dataclasses import replace

import pytest
import torch

from core.alphabet import BOS, EOS, PAD
from core.training.model import build_model
from core.training.packing import PackedForward, draw_packed, pack_pairs
from core.training.recipe import PAPER
from core.training.reverse_task import reversed_batch
from core.transformer.model import evaluating

SMALL = replace(PAPER, d_model=12, num_heads=3, d_ff=20, min_length=2, max_length=5)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_two_rows_by_hand():
    packed = pack_pairs(torch.tensor([[3, 4, 5, 6, 7], [3, 4, 5, 6, 7]]), torch.tensor([[2], [4]]))
    assert packed.labels.tolist() == [[4, 3, EOS, 7, 6, 5, EOS], [6, 5, 4, 3, EOS, 7, EOS]]
    assert packed.tgt.tolist() == [[BOS, 4, 3, BOS, 7, 6, 5], [BOS, 6, 5, 4, 3, BOS, 7]]
    assert packed.src_places.tolist() == [[0, 1, 0, 1, 2], [0, 1, 2, 3, 0]]
    assert packed.tgt_places.tolist() == [[0, 1, 2, 0, 1, 2, 3], [0, 1, 2, 3, 4, 0, 1]]
    assert packed.src_is_second.tolist() == [[False] * 2 + [True] * 3, [False] * 4 + [True]]
    assert packed.tgt_is_second.tolist() == [[False] * 3 + [True] * 4, [False] * 5 + [True] * 2]


@pytest.mark.parametrize("switches", [{}, {"causal_mask": False}, {"positions": False}])
def test_every_string_gets_the_logits_it_would_get_alone(switches):
    recipe = replace(SMALL, **switches)
    model, packed = build_model(recipe), draw_packed(recipe, 22, generator())
    with evaluating(model):
        together = PackedForward(model)(packed)
        for row in range(11):
            for second in (False, True):
                letters = packed.src[row][packed.src_is_second[row] == second][None]
                alone = reversed_batch(letters, torch.tensor([[letters.shape[1]]]))
                mine = packed.tgt_is_second[row] == second
                assert torch.equal(packed.tgt[row][mine], alone.tgt[0])
                assert torch.equal(packed.labels[row][mine], alone.labels[0])
                torch.testing.assert_close(
                    together[row][mine], model(alone.src, alone.tgt)[0], atol=1e-5, rtol=1e-4
                )


def test_lengths_and_letters_are_uniform():
    packed = draw_packed(PAPER, 20_000, generator())
    second = packed.src_is_second.sum(1)
    lengths = torch.cat([second, packed.src.shape[1] - second])
    for counts in (
        torch.bincount(lengths, minlength=17)[8:],
        torch.bincount(packed.src.flatten(), minlength=23)[3:],
    ):
        expected = counts.sum() / len(counts)
        chi_square = ((counts - expected) ** 2 / expected).sum().item()
        # Pairs that add up make counts twice as far from their mean, squared, as single draws.
        freedom = 2 * (len(counts) - 1)
        assert chi_square < freedom + 5 * (2 * freedom) ** 0.5


def test_nothing_is_padding_unless_the_number_is_odd():
    even, odd = draw_packed(SMALL, 8, generator()), draw_packed(SMALL, 7, generator())
    assert PAD not in even.labels
    assert (odd.labels == PAD).nonzero()[:, 0].unique().tolist() == [3]
    assert int((odd.labels == EOS).sum()) == 7


def test_the_generator_decides_and_nothing_else():
    torch.manual_seed(1)
    one = draw_packed(SMALL, 6, generator(3))
    torch.manual_seed(2)
    same, other = draw_packed(SMALL, 6, generator(3)), draw_packed(SMALL, 6, generator(4))
    assert torch.equal(one.src, same.src)
    assert torch.equal(one.tgt_is_second, same.tgt_is_second)
    assert not torch.equal(one.src, other.src)


def test_shares_of_a_batch_make_up_the_batch():
    packed = draw_packed(SMALL, 14, generator())
    shares = [packed.rows(rank, 3) for rank in range(3)]
    assert [len(share.src) for share in shares] == [3, 2, 2]
    assert sorted(torch.cat([s.labels for s in shares]).tolist()) == sorted(packed.labels.tolist())
