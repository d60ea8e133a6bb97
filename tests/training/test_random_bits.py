"""The CPU's dropout masks: rate, scale, independence, going on from a state."""

from itertools import combinations

import pytest
import torch

from core.training.random_bits import RandomBits


def factors(bits, shape, p):
    """What dropout multiplies by: 0 or the scale."""
    mask = bits.mask(shape, p)
    return mask.apply(torch.ones(shape), torch.empty(shape)) * mask.scale


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_scale(p):
    bits, size, masks = RandomBits(0), 10_007, 400
    kept = 0.0
    for _ in range(masks):
        mask = factors(bits, (size,), p)
        alive = mask[mask > 0]
        assert alive.unique().numel() == 1
        # Unbiased: what is kept is scaled by the chance that is really used, n / 128.
        used = 1 - 1 / alive[0].item()
        assert used * 128 == pytest.approx(round(used * 128), abs=1e-3)
        assert abs(used - p) < 1 / 128
        kept += len(alive) / (size * masks)
    # The rounding is drawn too: its deviation is at most half of 1 / 128 per mask.
    deviation = (p * (1 - p) / (size * masks) + (0.5 / 128) ** 2 / masks) ** 0.5
    assert abs(1 - kept - p) < 5 * deviation


def test_neighbours_and_masks_are_independent():
    # Four masks in turn are bytes of the same numbers.
    bits, p, size = RandomBits(0), 0.1, 1_000_003
    masks = [factors(bits, (size,), p).double().sub(1) for _ in range(4)]
    first, variance = masks[0], masks[0].square().mean()
    for lag in (1, 2, 64, 257, 2**16):
        correlation = (first[lag:] * first[:-lag]).mean() / variance
        assert abs(correlation.item()) < 5 / size**0.5
    for one, other in combinations(masks, 2):
        for a, b in ((one, other), (one[1:], other[:-1]), (one[:-1], other[1:])):
            assert abs(((a * b).mean() / variance).item()) < 5 / size**0.5


def test_every_byte_of_a_draw_decides_alike():
    bits = RandomBits(0)
    for _ in range(4):
        kept = factors(bits, (1_000_000,), 0.5).view(-1, 2).gt(0).double().mean(0)
        assert (kept - 0.5).abs().max().item() < 5 * 0.5 / 700


def test_the_shape_is_the_one_asked_for():
    assert RandomBits(0).mask((3, 5, 7), 0.1).numbers.shape == (3, 5, 7)


def test_in_place_it_drops_the_same_and_a_chance_of_zero_drops_nothing():
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0)).double()
    mask = RandomBits(0).mask((3, 5, 7), 0.5)
    kept = mask.apply(x, torch.empty_like(x))
    assert 0 < (kept == 0).sum() < x.numel()
    again = x.clone().view(15, 7)
    assert torch.equal(mask.apply(again, again).view_as(x), kept)
    assert torch.equal(again.view_as(x), kept)
    assert torch.equal(RandomBits(0).mask((3, 5, 7), 0.0).apply(x, torch.empty_like(x)), x)


@pytest.mark.parametrize("before", [(), (11,), (11, 2**20), (3_000_001, 11)])
def test_masks_go_on_from_a_state(before):
    bits = RandomBits(5)
    for count in before:
        bits.mask((count,), 0.3)
    state, fresh = bits.state(), RandomBits(6)
    fresh.mask((7,), 0.3)
    fresh.restore(state)
    for count in (1_003, 2**20):
        assert torch.equal(factors(bits, (count,), 0.3), factors(fresh, (count,), 0.3))


@pytest.mark.parametrize(
    "state", ["", "nonsense", "[1]", "3", "null", "{}", '{"bit_generator": 1}']
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError, match="not the state"):
        RandomBits(5).restore(state)
