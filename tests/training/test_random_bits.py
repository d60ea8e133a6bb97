"""The CPU's dropout masks: rate, scale, independence, going on from a state."""

import pytest
import torch

from core.training.random_bits import RandomBits


def factors(bits, shape, p):
    """What dropout multiplies by: 0 or the scale."""
    mask = bits.mask(shape, p)
    return mask.of(torch.ones(shape)) * mask.scale


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_scale(p):
    bits, size, masks = RandomBits(0), 10_007, 400
    kept = 0.0
    for _ in range(masks):
        mask = factors(bits, (size,), p)
        alive = mask[mask > 0]
        assert alive.unique().numel() == 1
        # Unbiased: what is kept is scaled by the chance that is really used, n / 256.
        used = 1 - 1 / alive[0].item()
        assert used * 256 == pytest.approx(round(used * 256), abs=1e-3)
        assert abs(used - p) < 1 / 256
        kept += len(alive) / (size * masks)
    # The rounding is drawn too: its deviation is at most half of 1 / 256 per mask.
    deviation = (p * (1 - p) / (size * masks) + (0.5 / 256) ** 2 / masks) ** 0.5
    assert abs(1 - kept - p) < 5 * deviation


def test_neighbours_and_masks_are_independent():
    # Lags 1 to 8 share a 64-bit number; the larger ones cross draws and rows.
    bits, p, size = RandomBits(0), 0.1, 1_000_003
    first, second = (factors(bits, (size,), p).double().sub(1) for _ in range(2))
    variance = first.square().mean()
    for lag in (*range(1, 9), 64, 257, 2**16):
        correlation = (first[lag:] * first[:-lag]).mean() / variance
        assert abs(correlation.item()) < 5 / size**0.5
    assert abs(((first * second).mean() / variance).item()) < 5 / size**0.5


def test_every_byte_of_a_draw_decides_alike():
    kept = factors(RandomBits(0), (8_000_000,), 0.5).view(-1, 8).gt(0).double().mean(0)
    assert (kept - 0.5).abs().max().item() < 5 * 0.5 / 1000


def test_the_shape_is_the_one_asked_for():
    assert RandomBits(0).mask((3, 5, 7), 0.1).bits.shape == (3, 5, 7)


def test_in_place_it_drops_the_same_and_a_chance_of_zero_drops_nothing():
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0)).double()
    mask = RandomBits(0).mask((3, 5, 7), 0.5)
    kept = mask.of(x)
    assert 0 < (kept == 0).sum() < x.numel()
    assert torch.equal(mask.of_(x.clone().view(15, 7)).view_as(x), kept)
    assert torch.equal(RandomBits(0).mask((3, 5, 7), 0.0).of(x), x)


def test_masks_go_on_from_a_state():
    bits = RandomBits(5)
    bits.mask((11,), 0.3)
    state = bits.state()
    after, fresh = factors(bits, (1_003,), 0.3), RandomBits(6)
    fresh.mask((7,), 0.3)
    fresh.restore(state)
    assert torch.equal(after, factors(fresh, (1_003,), 0.3))


@pytest.mark.parametrize(
    "state", ["", "nonsense", "[1]", "3", "null", "{}", '{"bit_generator": 1}']
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError, match="not the state"):
        RandomBits(5).restore(state)
