"""The CPU's dropout and attention: rate, scale, independence, and the formula."""

import pytest
import torch
import torch.nn.functional as F

from core.training.cpu_calls import CpuCalls, RandomBits


def cheap(seed=0):
    return CpuCalls(RandomBits(seed))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_scale(p):
    count = 1_000_003
    mask = cheap().mask((count,), p)
    kept = mask > 0
    deviation = (p * (1 - p) / count) ** 0.5
    assert abs((~kept).double().mean().item() - p) < 5 * deviation + 2**-17
    assert mask[kept].unique().numel() == 1
    # Unbiased: what is kept is scaled by the chance that is really used.
    used = round(p * 2**16) / 2**16
    assert mask.max().item() == pytest.approx(1 / (1 - used))


def test_neighbours_draws_and_calls_are_independent():
    # Lags 1 to 4 share a 64-bit number; the larger ones cross draws, rows and calls.
    dropout, p, size = cheap(), 0.1, 1_000_003
    first, second = (dropout.mask((size,), p).double().sub(1) for _ in range(2))
    variance = first.square().mean()
    for lag in (1, 2, 3, 4, 64, 257, 2**16):
        correlation = (first[lag:] * first[:-lag]).mean() / variance
        assert abs(correlation.item()) < 5 / size**0.5
    assert abs(((first * second).mean() / variance).item()) < 5 / size**0.5


def test_all_16_bits_are_used():
    # Were the sign bit stuck, as with torch's default range, p = 0.5 would keep 5 of 8.
    fractions = cheap().mask((4_000_000,), 0.5).view(-1, 4).gt(0).double().mean(0)
    assert (fractions - 0.5).abs().max().item() < 5 * 0.5 / 1000


def test_dropout_of_torch_is_answered_and_its_gradient_is_the_mask():
    x = torch.randn(3, 5, 7, requires_grad=True, generator=torch.Generator().manual_seed(1))
    with cheap(2):
        y = torch.nn.Dropout(0.5)(x)
    y.sum().backward()
    mask = cheap(2).mask(x.shape, 0.5)
    torch.testing.assert_close(y, x * mask)
    torch.testing.assert_close(x.grad, mask)
    assert 0 < (mask == 0).sum() < mask.numel()


def test_evaluation_and_rate_zero_change_nothing():
    x, bits = torch.randn(3, 5), RandomBits(0)
    with CpuCalls(bits):
        assert torch.equal(torch.nn.Dropout(0.5).eval()(x), x)
        assert torch.equal(F.dropout(x, 0.0), x)
    assert bits.state() == RandomBits(0).state()


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_the_formula_with_dropped_weights(masked):
    generator = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, 3, 5, 7, generator=generator) for _ in range(3))
    bias = torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -1e9)
    bias = bias if masked else None
    with cheap(4):
        blended = F.scaled_dot_product_attention(q, k, v, bias, 0.3)
        whole = F.scaled_dot_product_attention(q, k, v, bias, 0.0)
    scores = q @ k.transpose(-2, -1) / 7**0.5 + (0 if bias is None else bias)
    weights = scores.softmax(-1)
    torch.testing.assert_close(whole, weights @ v)
    torch.testing.assert_close(blended, (weights * cheap(4).mask(weights.shape, 0.3)) @ v)


def test_bits_go_on_from_their_state():
    bits = RandomBits(5)
    bits.take(11)
    state = bits.state()
    bits.forget_leftovers()
    after, fresh = bits.take(1_000_003), RandomBits(6)
    fresh.take(7)
    fresh.restore(state)
    assert torch.equal(after, fresh.take(1_000_003))
    assert after.min() == -(2**15)
    assert after.max() == 2**15 - 1
