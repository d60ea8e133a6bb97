"""Steps of decoding, maps of attention and norms by depth, as the pages show them."""

import math

import numpy as np
import pytest
import torch

from core.alphabet import BOS, EOS
from core.transformer.decoding import beam_search, greedy_decode
from core.transformer.depth import norms_by_layer
from core.transformer.model import Transformer
from core.transformer.reading import cross_attention, untrained
from core.transformer.shape import ModelShape
from core.transformer.walk import walk

SOURCE = (3, 7, 5, 5, 10, 4, 8)


def model(seed: int = 0, **settings: bool) -> Transformer:
    return untrained(ModelShape(11, 13, 14, 7, 17, 2, 0.1, 19, **settings), seed)


def final(steps: tuple) -> list[int]:
    best = steps[-1].kept[0]
    return [*best.beginning, *([] if best.token is None else [best.token])]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [{}, {"causal": False}])
def test_a_walk_of_width_one_is_greedy(seed: int, settings: dict[str, bool]) -> None:
    net = model(seed, **settings)
    steps = walk(net, SOURCE)
    greedy = greedy_decode(net, torch.tensor([SOURCE]))[0].tolist()
    assert final(steps) == [token for token in greedy if token != 0]
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    for step, token in zip(steps, greedy[1:], strict=True):
        assert [candidate.token for candidate in step.kept] == [token]


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_walk_ends_where_beam_search_ends(seed: int) -> None:
    net = model(seed)
    best = beam_search(net, torch.tensor([SOURCE]), 3)[0].tolist()
    assert final(walk(net, SOURCE, 3)) == [token for token in best if token != 0]


def test_candidates_are_the_models_own_probabilities() -> None:
    net = model(1)
    for step in walk(net, SOURCE, 3, top=7):
        assert len(step.candidates) == 7
        assert len(step.kept) == 3
        scores = [candidate.score for candidate in step.candidates]
        assert scores == sorted(scores, reverse=True)
        assert all(candidate.kept for candidate in step.candidates[:3])
        for candidate in step.candidates:
            assert candidate.beginning[0] == BOS
            ids = [*candidate.beginning, *([candidate.token] if candidate.token else [])]
            with torch.no_grad():
                log_p = net(torch.tensor([SOURCE]), torch.tensor([ids[:-1]]))[0].log_softmax(-1)
            each = [float(log_p[n, token]) for n, token in enumerate(ids[1:])]
            assert candidate.total == pytest.approx(sum(each), abs=1e-4)
            length = ((5 + len(each)) / 6) ** 0.6
            assert candidate.score == pytest.approx(sum(each) / length, abs=1e-4)
            if candidate.token is not None:
                assert candidate.log_p == pytest.approx(each[-1], abs=1e-4)


def test_an_ended_output_waits_without_cost() -> None:
    for seed in range(20):
        waiting = [
            candidate
            for step in walk(model(seed), SOURCE, 4)
            for candidate in step.candidates
            if candidate.token is None
        ]
        for candidate in waiting:
            assert candidate.log_p == 0
            assert candidate.beginning[-1] == EOS
        if waiting:
            return
    pytest.fail("no beam of these models ended early")


def test_a_source_beyond_the_positions_is_refused() -> None:
    with pytest.raises(ValueError, match="20 letters are more than the 19 positions"):
        walk(model(), (3,) * 20)


def test_walking_leaves_mode_and_gradients_as_they_were() -> None:
    net = model().train()
    walk(net, SOURCE, 2)
    assert net.training
    assert torch.is_grad_enabled()


def test_untrained_models_leave_the_global_generator_alone() -> None:
    state = torch.get_rng_state()
    first = model(5)
    assert torch.equal(torch.get_rng_state(), state)
    for one, other in zip(first.parameters(), model(5).parameters(), strict=True):
        assert torch.equal(one, other)


def test_cross_attention_is_one_distribution_per_row() -> None:
    weights = cross_attention(model(), SOURCE, (BOS, 4, 9))
    assert weights.shape == (2, 7, 3, 7)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    longer = cross_attention(model(), SOURCE, (BOS, 4, 9, 5))
    np.testing.assert_allclose(longer[:, :, :3], weights, atol=1e-6)


def test_cross_attention_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="without cross-attention"):
        cross_attention(model(use_cross_attention=False), SOURCE, (BOS,))


def test_post_norm_keeps_every_position_at_the_root_of_the_width() -> None:
    norms = norms_by_layer(3, pre_norm=False)
    np.testing.assert_allclose(norms.stream[1:], math.sqrt(32), rtol=1e-3)
    assert norms.gradient.shape == (3,)
    assert (norms.gradient > 0).all()


def test_pre_norm_lets_the_stream_grow_and_the_gradient_fade() -> None:
    norms = norms_by_layer(12, pre_norm=True)
    assert (np.diff(norms.stream) > 0).all()
    assert norms.gradient[-1] < norms.gradient[0] / 2


@pytest.mark.parametrize("depth", [0, 49])
def test_depths_outside_the_measurement_are_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="1 to 48"):
        norms_by_layer(depth, pre_norm=True)
