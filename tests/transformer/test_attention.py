"""Attention: by hand, by property, and the fused kernel against the formula."""

import math

import pytest
import torch

from core.transformer.attention import MultiHeadAttention, attend, attend_fused
from core.transformer.cache import KeyValueCache
from core.transformer.masks import causal_mask, padding_mask
from core.transformer.trace import Trace


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def attention(**settings: float) -> MultiHeadAttention:
    torch.manual_seed(3)
    return MultiHeadAttention(21, 7, **settings).double().eval()


def test_a_row_by_hand() -> None:
    q = torch.tensor([[0.0, math.sqrt(2)]])
    k, v = torch.eye(2), torch.tensor([[10.0], [20.0]])
    blended, weights = attend(q, k, v)
    expected = torch.tensor([[1.0, math.e]]) / (1 + math.e)  # scores 0 and sqrt(2) / sqrt(2)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(blended, (10 * expected[:, :1] + 20 * expected[:, 1:]))


def test_weights_are_probabilities_and_blocked_ones_are_zero() -> None:
    q, k, v = random(2, 3, 5, 7), random(2, 3, 11, 7, seed=1), random(2, 3, 11, 13, seed=2)
    may_attend = torch.ones(2, 1, 1, 11, dtype=torch.bool)
    may_attend[1, ..., 8:] = False
    _, weights = attend(q, k, v, may_attend)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))
    assert weights[1, ..., 8:].abs().max() == 0
    assert weights[0].min() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("masked", [False, True])
def test_fused_equals_formula(dtype: torch.dtype, masked: bool) -> None:
    q, k, v = (random(2, 3, 11, 7, seed=s).to(dtype) for s in range(3))
    may_attend = None
    if masked:
        padding = padding_mask(torch.tensor([[1] * 11, [1] * 6 + [0] * 5]))
        may_attend = (padding & causal_mask(11))[:, None].clone()
        may_attend[0, 0, 4] = False  # one row in which everything is blocked
    explicit, weights = attend(q, k, v, may_attend)
    tolerance = 1e-12 if dtype == torch.float64 else 1e-6
    torch.testing.assert_close(attend_fused(q, k, v, may_attend), explicit, rtol=0, atol=tolerance)
    if masked:
        torch.testing.assert_close(weights[0, :, 4], torch.full((3, 11), 1 / 11, dtype=dtype))


def test_masking_equals_removing() -> None:
    layer, x = attention(), random(1, 11, 21)
    keep = torch.tensor([True] * 5 + [False] + [True] * 5)
    masked = layer(x, may_attend=keep[None, None])[:, keep]
    torch.testing.assert_close(masked, layer(x[:, keep]), rtol=0, atol=1e-12)


def test_attention_commutes_with_shuffling() -> None:
    layer, x = attention(), random(2, 13, 21)
    order = torch.randperm(13, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order], rtol=0, atol=1e-12)


def test_heads_are_columns_of_the_projections() -> None:
    """The batched heads against a loop over heads with plain matrix products."""
    layer, x, memory = attention(), random(2, 5, 21), random(2, 11, 21, seed=1)
    w, b = layer.project_qkv.weight, layer.project_qkv.bias
    blended = []
    for head in range(7):
        rows = [slice(part * 21 + head * 3, part * 21 + (head + 1) * 3) for part in range(3)]
        q = x @ w[rows[0]].T + b[rows[0]]
        k, v = (memory @ w[r].T + b[r] for r in rows[1:])
        blended.append(torch.softmax(q @ k.mT / math.sqrt(3), -1) @ v)
    expected = layer.project_out(torch.cat(blended, -1))
    torch.testing.assert_close(layer(x, memory), expected, rtol=0, atol=1e-12)


def test_trace_collects_weights_and_changes_nothing() -> None:
    layer, x = attention(name="here"), random(2, 5, 21)
    trace = Trace()
    torch.testing.assert_close(layer(x, trace=trace), layer(x), rtol=0, atol=1e-12)
    assert trace.weights["here"].shape == (2, 7, 5, 5)
    assert not trace.weights["here"].requires_grad


def test_dropout_acts_on_the_weights_in_training_only() -> None:
    layer, x = attention(dropout=0.5), random(2, 5, 21)
    assert torch.equal(layer(x), layer(x))
    layer.train()
    assert not torch.equal(layer(x), layer(x))
    trace = Trace()
    layer(x, trace=trace)
    torch.testing.assert_close(
        trace.weights["attention"].sum(-1), torch.ones(2, 7, 5, dtype=torch.float64)
    )


def test_cached_positions_equal_the_causal_pass() -> None:
    layer, x, cache = attention(), random(2, 11, 21), KeyValueCache()
    at_once = layer(x, may_attend=causal_mask(11))
    one_by_one = torch.cat([layer(x[:, n : n + 1], cache=cache) for n in range(11)], 1)
    torch.testing.assert_close(one_by_one, at_once, rtol=0, atol=1e-12)
    assert cache.length == 11


def test_width_must_divide_among_heads() -> None:
    with pytest.raises(ValueError, match="d_model 21 cannot be divided among 5 heads"):
        MultiHeadAttention(21, 5)
