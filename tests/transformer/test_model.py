"""The whole model: golden shapes, masks, causality, padding, ablations, initialisation."""

import math
from typing import Any

import pytest
import torch

from core.transformer.masks import causal_mask, make_masks, padding_mask
from core.transformer.model import Transformer, evaluating
from core.transformer.normalisation import AddNorm, LayerNorm, normalise
from core.transformer.shape import ModelShape
from core.transformer.trace import Trace

SMALL = {
    "src_vocab": 17,
    "tgt_vocab": 19,
    "d_model": 22,
    "num_heads": 11,
    "d_ff": 29,
    "num_layers": 3,
    "dropout": 0.0,
    "max_len": 31,
}


def small(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    return Transformer(**{**SMALL, **changes}).double().eval()


def ids(*shape: int, vocabulary: int = 17, seed: int = 0) -> torch.Tensor:
    return torch.randint(3, vocabulary, shape, generator=torch.Generator().manual_seed(seed))


def test_golden_mask_and_logit_shapes(golden: dict[str, Any]) -> None:
    expected = golden["transformer"]["mask_shapes_batch2_src10_tgt12"]
    src, tgt = ids(2, 10), ids(2, 12)
    src_mask, tgt_mask = make_masks(src, tgt)
    assert list(src_mask.shape) == expected["src_mask"]
    assert list(tgt_mask.shape) == expected["tgt_mask"]
    config = {**golden["transformer"]["base_config"], "d_model": 16, "d_ff": 8, "num_layers": 1}
    assert list(Transformer(**config)(src, tgt).shape) == expected["logits"]


def test_masks_by_hand() -> None:
    assert causal_mask(3).int().tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]
    row = torch.tensor([[5, 4, 0]])
    assert padding_mask(row).int().tolist() == [[[1, 1, 0]]]
    _, both = make_masks(row, row)
    assert both.int().tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]
    _, open_mask = make_masks(row, row, causal=False)
    assert open_mask.int().tolist() == [[[1, 1, 0]]]


def test_the_future_changes_nothing_earlier() -> None:
    model, src, tgt = small(), ids(2, 7), ids(2, 13)
    changed = tgt.clone()
    changed[:, 8] = 3 + (changed[:, 8] - 2) % 14
    before, after = model(src, tgt), model(src, changed)
    assert (before[:, :8] - after[:, :8]).abs().max() == 0
    assert (before[:, 8:] - after[:, 8:]).abs().amax((0, 2)).min() > 0


def test_without_the_causal_mask_the_future_leaks() -> None:
    model, src, tgt = small(causal=False), ids(2, 7), ids(2, 13)
    changed = tgt.clone()
    changed[:, 8] = 3 + (changed[:, 8] - 2) % 14
    assert (model(src, tgt)[:, 0] - model(src, changed)[:, 0]).abs().max() > 1e-6


def test_more_padding_changes_nothing() -> None:
    model, src, tgt = small(), ids(2, 7), ids(2, 5)
    wider = torch.cat([src, torch.zeros(2, 4, dtype=torch.long)], 1)
    torch.testing.assert_close(model(wider, tgt), model(src, tgt), rtol=0, atol=1e-12)


def test_without_positions_the_encoder_is_blind_to_order() -> None:
    src = ids(2, 13)
    order = torch.randperm(13, generator=torch.Generator().manual_seed(1))
    blind, sighted = small(use_positions=False), small()
    torch.testing.assert_close(
        blind.encode(src[:, order]), blind.encode(src)[:, order], rtol=0, atol=1e-12
    )
    difference = sighted.encode(src[:, order]) - sighted.encode(src)[:, order]
    assert difference.abs().max() > 0.01


def test_without_cross_attention_the_source_is_ignored() -> None:
    model, tgt = small(use_cross_attention=False), ids(2, 5)
    assert torch.equal(model(ids(2, 7), tgt), model(ids(2, 7, seed=9), tgt))
    assert not torch.equal(small()(ids(2, 7), tgt), small()(ids(2, 7, seed=9), tgt))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_trace_names_every_attention_and_stream(pre_norm: bool) -> None:
    model, src, tgt, trace = small(pre_norm=pre_norm), ids(2, 7), ids(2, 5), Trace()
    traced = model(src, tgt, trace=trace)
    torch.testing.assert_close(traced, model(src, tgt), rtol=0, atol=1e-12)
    shapes = {name: tuple(w.shape) for name, w in trace.weights.items()}
    assert shapes == {
        **{f"encoder.{n}.self": (2, 11, 7, 7) for n in (1, 2, 3)},
        **{f"decoder.{n}.self": (2, 11, 5, 5) for n in (1, 2, 3)},
        **{f"decoder.{n}.cross": (2, 11, 5, 7) for n in (1, 2, 3)},
    }
    assert {n: tuple(x.shape) for n, x in trace.streams.items()} == {
        **{f"encoder.{n}": (2, 7, 22) for n in (1, 2, 3)},
        **{f"decoder.{n}": (2, 5, 22) for n in (1, 2, 3)},
    }


def test_forward_writes_nothing_on_any_module() -> None:
    model = small()
    before = [dict(module.__dict__) for module in model.modules()]
    model(ids(2, 7), ids(2, 5), trace=Trace())
    assert [list(module.__dict__) for module in model.modules()] == [list(d) for d in before]


def test_embeddings_are_scaled_by_the_root_of_the_width() -> None:
    model, src = small(use_positions=False, num_layers=1), ids(1, 3)
    model.encoder.layers = torch.nn.ModuleList()
    expected = model.src_embedding.weight[src] * math.sqrt(22)
    torch.testing.assert_close(model.encode(src), expected)


def test_every_matrix_is_xavier_uniform_with_its_own_fans() -> None:
    torch.manual_seed(1)
    model = Transformer(401, 409, 202, 2, 503, 1)
    blocks = {
        name: [(p, sum(p.shape))] if "qkv" not in name else [(w, 404) for w in p.chunk(3)]
        for name, p in model.named_parameters()
        if p.dim() == 2
    }
    assert len(blocks) == 13
    for name, matrices in blocks.items():
        for matrix, fans in matrices:
            bound, matrix = math.sqrt(6 / fans), matrix.detach()
            assert 0.99 * bound < matrix.abs().max() <= bound, name
            assert matrix.std() == pytest.approx(bound / math.sqrt(3), rel=0.02), name
    assert all(p.abs().max() == 0 for n, p in model.named_parameters() if n.endswith("bias"))


def test_layer_norm_by_hand_and_by_kernel() -> None:
    x = torch.tensor([[1.0, 3.0], [5.0, 5.0]])
    ones, zeros = torch.ones(2), torch.zeros(2)
    torch.testing.assert_close(
        normalise(x, ones, zeros), torch.tensor([[-1.0, 1.0], [0.0, 0.0]]), rtol=0, atol=1e-5
    )
    norm = LayerNorm(13).double()
    torch.nn.init.normal_(norm.gamma), torch.nn.init.normal_(norm.beta)
    y = torch.randn(3, 5, 13, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(norm(y), normalise(y, norm.gamma, norm.beta), rtol=0, atol=1e-12)


def test_where_the_norm_stands() -> None:
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    post, pre = AddNorm(8, 0.0), AddNorm(8, 0.0, pre_norm=True)
    torch.testing.assert_close(post(x, torch.tanh), post.norm(x + torch.tanh(x)))
    torch.testing.assert_close(pre(x, torch.tanh), x + torch.tanh(pre.norm(x)))


def test_evaluating_restores_the_mode_even_after_an_error() -> None:
    model = small()
    for mode in (True, False):
        model.train(mode)
        with evaluating(model):
            assert not model.training
            assert not torch.is_grad_enabled()
        assert model.training is mode
    model.train()
    with pytest.raises(RuntimeError, match="boom"), evaluating(model):
        raise RuntimeError("boom")
    assert model.training


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_heads": 5}, "d_model 22 cannot be divided among 5 heads"),
        ({"d_model": 11}, "must be even"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"num_layers": 0}, "num_layers is 0; it must lie between 1 and 128"),
        ({"d_ff": 10**9}, "d_ff is 1,000,000,000"),
    ],
)
def test_shapes_that_cannot_be_built(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ModelShape(**{**SMALL, **change})


def test_a_model_is_rebuilt_from_its_shape_and_state() -> None:
    model = small(pre_norm=True, use_cross_attention=False)
    again = Transformer.from_shape(model.shape).double().eval()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(ids(2, 7), ids(2, 5)), model(ids(2, 7), ids(2, 5)))
