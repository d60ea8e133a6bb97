"""The first letter's influence against Jacobians multiplied by hand."""

import pytest
import torch
from torch import nn

from core.alphabet import BOS
from core.transformer.model import Transformer
from core.traps.influence import ATTENTION, NETWORKS, WIDTH, influence_profile, measure
from core.traps.influence_trained import source_gradients, trained_shares


def test_gradients_of_an_rnn_are_the_product_of_its_steps():
    torch.manual_seed(5)
    network = nn.RNN(WIDTH, WIDTH, batch_first=True).double()
    length, draws, seed = 7, 3, 2
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(draws, length, WIDTH, generator=generator, dtype=torch.float64)
    direction = torch.randn(draws, WIDTH, generator=generator, dtype=torch.float64)
    hidden = network(x)[0].detach()
    w_x, w_h = network.weight_ih_l0.detach(), network.weight_hh_l0.detach()
    expected = torch.empty(draws, length, dtype=torch.float64)
    for draw in range(draws):
        back = direction[draw]
        for step in reversed(range(length)):
            back = back * (1 - hidden[draw, step] ** 2)
            expected[draw, step] = (back @ w_x).norm()
            back = back @ w_h
    found = influence_profile(network, length, draws=draws, seed=seed)
    assert torch.allclose(found, expected, atol=1e-12)


@pytest.fixture(scope="module")
def shares():
    return {(i.network, i.length): i.share for i in measure([2, 5, 17], draws=5)}


def test_attention_keeps_nearly_an_equal_share_and_recurrent_networks_do_not(shares):
    assert 0.3 < shares[ATTENTION, 17] * 17 < 3
    for name in NETWORKS:
        if name != ATTENTION:
            assert shares[name, 17] * 17 < 0.1


def test_shares_fall_with_length(shares):
    for name in NETWORKS:
        assert 1 > shares[name, 2] > shares[name, 5] > shares[name, 17] > 0


def test_measuring_is_repeatable():
    assert list(measure([3], draws=2, seed=9)) == list(measure([3], draws=2, seed=9))


def test_steps_in_a_row_are_the_length_or_one():
    found = {item.network: item.steps_in_a_row for item in measure([11], draws=1)}
    assert found.pop(ATTENTION) == 1
    assert set(found.values()) == {11}


@pytest.mark.parametrize("length", [1, 401])
def test_lengths_beyond_the_limits_are_refused(length):
    with pytest.raises(ValueError, match="outside the 2 to 400"):
        next(iter(measure([length])))


def test_the_trained_share_is_the_gradient_through_the_whole_model():
    """Again with the model's own forward, the gradient caught where the embedding leaves."""
    torch.manual_seed(3)
    model = Transformer(11, 11, 16, 2, 29, 2, max_len=13).eval()
    src = torch.tensor([[3, 7, 5, 10, 4]])
    kept: list[torch.Tensor] = []
    handle = model.src_embedding.register_forward_hook(lambda m, i, out: kept.append(out))
    score = model(src, torch.tensor([[BOS, 4, 10, 5, 7]]))[0, -1, 3]
    handle.remove()
    # Times sqrt(d_model) on the way to the sum with the positions, which source_gradients asks for.
    expected = torch.autograd.grad(score, kept[0])[0].norm(dim=-1) / 4
    assert torch.allclose(source_gradients(model, src), expected, atol=1e-6)
    share = trained_shares(model, [5], draws=7)[5]
    assert 0 < share < 1
    with pytest.raises(ValueError, match="outside the 2 to 11"):
        trained_shares(model, [12])
