"""The CPU's way through the layers against the model's own code: outputs and all gradients."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from core.training.cpu_forward import CpuForward
from core.training.learner import Learner
from core.training.model import build_model
from core.training.packing import PackedForward, draw_packed
from core.training.random_bits import RandomBits
from core.training.recipe import PAPER
from core.transformer.model import Transformer

SMALL = replace(PAPER, d_model=12, num_heads=3, d_ff=20, min_length=2, max_length=5, dropout=0.0)


class MasksFrom(TorchFunctionMode):
    """Lets the model's own code drop what these bits say, in the order in which it asks."""

    def __init__(self, bits):
        super().__init__()
        self.bits = bits

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is F.dropout:
            p = kwargs["p"]
            return self.dropped(args[0], p) if p else args[0]
        if func is F.scaled_dot_product_attention:
            q, k, v, bias, p = args
            weights = (q @ k.mT / q.shape[-1] ** 0.5 + bias).softmax(-1)
            return (self.dropped(weights, p) if p else weights) @ v
        return func(*args, **(kwargs or {}))

    def dropped(self, x, p):
        mask = self.bits.mask(x.shape, p)
        return x * (mask.numbers > mask.limit) * mask.scale


def outputs_and_gradients(forward, batch):
    logits = forward(batch)
    reading = torch.randn(logits.shape, generator=torch.Generator().manual_seed(1)).double()
    parameters = list(forward.model.parameters())
    return logits, *torch.autograd.grad((logits * reading).sum(), parameters, allow_unused=True)


def shaken(recipe):
    """A float64 model in which no weight is at a special value (biases zero, gammas one)."""
    model, generator = build_model(recipe).double(), torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dropout": 0.3},
        {"causal_mask": False},
        {"positions": False, "dropout": 0.3},
        {"cross_attention": False},
        {"num_heads": 1, "num_layers": 1},
    ],
    ids=str,
)
def test_it_is_the_model(settings):
    recipe = replace(SMALL, **settings)
    model, batch = shaken(recipe), draw_packed(recipe, 14, torch.Generator().manual_seed(0))
    mine = outputs_and_gradients(CpuForward(model, RandomBits(3)), batch)
    with MasksFrom(RandomBits(3)):
        theirs = outputs_and_gradients(PackedForward(model), batch)
    for one, other in zip(mine, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


def test_evaluation_drops_nothing_and_draws_nothing():
    recipe, bits = replace(SMALL, dropout=0.3), RandomBits(0)
    model, batch = build_model(recipe), draw_packed(recipe, 6, torch.Generator().manual_seed(0))
    forward = CpuForward(model, bits).eval()
    torch.testing.assert_close(forward(batch), PackedForward(model)(batch), atol=1e-5, rtol=1e-4)
    assert bits.state() == RandomBits(0).state()


def test_the_cpu_learns_with_it():
    learner = Learner(replace(SMALL, steps=1), torch.device("cpu"))
    assert isinstance(learner._forward, CpuForward)
    learner.update()
    assert (learner.logs(1, 1) > 0).all()


def test_a_model_with_its_norms_in_front_is_refused():
    model = Transformer(23, 23, 12, 3, 20, 1, 0.0, 7, pre_norm=True)
    with pytest.raises(ValueError, match="norms before its sublayers"):
        CpuForward(model, RandomBits(0))
