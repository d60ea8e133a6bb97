"""Muon against the singular value decomposition, and which weights it is given."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from core.training.learner import Learner
from core.training.model import build_model
from core.training.muon import Muon, orthogonal
from core.training.optimisers import Joined, clip_gradients, make_optimisers
from core.training.recipe import PAPER

TINY = replace(PAPER, d_model=12, num_heads=3, d_ff=20, batch=7, steps=5, optimiser="muon")


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(3, 7, 7), (2, 5, 11), (2, 11, 5)])
def test_orthogonal_keeps_directions_and_evens_out_lengths(shape):
    matrices = random(*shape)
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    along = u.mT @ orthogonal(matrices, 5) @ v.mT
    singular = along.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(along, torch.diag_embed(singular), atol=1e-4, rtol=0)
    assert 0.6 < singular.min() < singular.max() < 1.3


def test_the_first_step_is_along_the_gradient_and_as_long_as_said():
    weight = nn.Parameter(random(7, 5))
    before, gradient = weight.detach().clone(), random(7, 5, seed=1)
    weight.grad = gradient.clone()
    Muon([{"params": [weight]}], torch.tensor(0.5), factor=3.0).step()
    expected = -0.5 * 3.0 * 0.2 * 7**0.5 * orthogonal(gradient[None], 4)[0]
    torch.testing.assert_close(weight.detach() - before, expected, atol=1e-4, rtol=1e-3)


def test_blocks_move_as_if_they_were_separate():
    fused, parts = nn.Parameter(random(15, 5)), [nn.Parameter(m) for m in random(15, 5).chunk(3)]
    optimisers = [
        Muon([{"params": [fused], "blocks": 3}], torch.tensor(0.1)),
        Muon([{"params": parts}], torch.tensor(0.1)),
    ]
    for seed in (1, 2):
        fused.grad = random(15, 5, seed=seed)
        for part, gradient in zip(parts, fused.grad.chunk(3), strict=True):
            part.grad = gradient.clone()
        for optimiser in optimisers:
            optimiser.step()
    torch.testing.assert_close(fused.detach(), torch.cat([p.detach() for p in parts]))


def test_every_weight_has_one_optimiser_and_muon_has_the_matrices_of_the_layers():
    model = build_model(TINY)
    (muon, adam), joined = make_optimisers(model, TINY, torch.tensor(0.1))
    held = [[p for group in o.param_groups for p in group["params"]] for o in (muon, adam)]
    assert [id(p) for p in held[1]] == [id(joined.vector)]
    count = sum(p.numel() for p in (*held[0], *held[1]))
    assert count == sum(p.numel() for p in model.parameters())
    joined.vector.data.fill_(7.0)
    left = [p for p in model.parameters() if not (p == 7.0).all()]
    assert {id(p) for p in left} == {id(p) for p in held[0]}
    # 2 encoder layers with 1 attention, 2 decoder layers with 2, 4 feed-forwards, 2 each.
    assert len(held[0]) == 2 * (2 + 4 + 4)
    assert all(p.dim() == 2 for p in held[0])


def test_adam_of_the_joined_weights_is_adam_of_each():
    weights, theirs = ([nn.Parameter(random(n, 3, seed=n)) for n in (2, 5, 7)] for _ in range(2))
    joined, settings = Joined(weights), {"lr": 0.1, "betas": (0.9, 0.98)}
    optimisers = torch.optim.Adam([joined.vector], **settings), torch.optim.Adam(theirs, **settings)
    for seed in (1, 2):
        for mine, other in zip(weights[:2], theirs[:2], strict=True):  # the third has no gradient
            mine.grad = random(*mine.shape, seed=seed)
            other.grad = mine.grad.clone()
        joined.gather()
        for optimiser in optimisers:
            optimiser.step()
    for mine, other in zip(weights, theirs, strict=True):
        torch.testing.assert_close(mine.detach(), other.detach())


def test_a_state_with_one_momentum_for_each_weight_is_refused_in_words():
    learner = Learner(replace(TINY, optimiser="adam"), torch.device("cpu"))
    state = learner.state()
    state["optimisers"] = [torch.optim.Adam(learner.model.parameters()).state_dict()]
    with pytest.raises(ValueError, match="earlier version"):
        learner.restore(state)


def test_a_muon_run_goes_on_from_its_state():
    whole = Learner(TINY, torch.device("cpu"))
    for _ in range(5):
        whole.update()
    first, second = Learner(TINY, torch.device("cpu")), Learner(TINY, torch.device("cpu"))
    for _ in range(2):
        first.update()
    second.restore(first.state())
    for _ in range(3):
        second.update()
    assert (second.logs(3, 5) == whole.logs(3, 5)).all()


@pytest.mark.parametrize(("longest", "expected"), [(0.0, 5.0), (2.0, 2.0), (7.0, 5.0)])
def test_clipping_by_hand(longest, expected):
    layer = nn.Linear(2, 1)
    layer.weight.grad, layer.bias.grad = torch.tensor([[3.0, 0.0]]), torch.tensor([4.0])
    assert clip_gradients(list(layer.parameters()), longest).item() == pytest.approx(5.0)
    norm = torch.cat([layer.weight.grad.flatten(), layer.bias.grad]).norm().item()
    assert norm == pytest.approx(expected, rel=1e-5)


def test_scales_of_the_first_weights():
    plain, small = (
        build_model(TINY),
        build_model(replace(TINY, embedding_scale=0.25, branch_scale=0)),
    )
    torch.testing.assert_close(small.src_embedding.weight, 0.25 * plain.src_embedding.weight)
    layer = small.decoder.layers[1]
    for matrix in (layer.cross_attention.project_out, layer.feed_forward.narrow):
        assert matrix.weight.abs().max() == 0
    assert torch.equal(small.generator.weight, plain.generator.weight)
