"""Counts of weights against the published totals and against the models themselves."""

import pytest
import torch

from core.protein.weights import load
from core.transformer.model import Transformer
from core.traps.alphabets import ALPHABETS
from core.traps.weights import ATTENTION, ENDS, FEED_FORWARD, NORMS, ROLES, count_all, role_of


@pytest.fixture(scope="module")
def counts():
    return {count.model: count for count in count_all()}


def test_the_base_transformer_is_the_published_one(counts, golden):
    base, published = counts["Base Transformer"], golden["transformer"]
    assert base.total == published["parameters_total"]
    assert base.by_role[ROLES.index(ENDS)] == published["parameters_embeddings_and_output"]
    assert sum(base.by_role[:3]) == published["parameters_all_layers"]
    # 6 + 12 attentions, 12 feed-forward networks, 12 + 18 norms of 2 x 512.
    assert base.by_role[ROLES.index(ATTENTION)] == 18 * published["parameters_attention_sublayer"]
    assert base.by_role[ROLES.index(FEED_FORWARD)] == 12 * published["parameters_ffn"]
    assert base.by_role[ROLES.index(NORMS)] == 30 * 2 * 512


def test_the_toy_block_is_the_published_one(counts, golden):
    toy = counts["Toy block"]
    assert toy.block_attention == golden["toy"]["attention_weight_count_d8_h4"]
    assert toy.block_feed_forward == golden["toy"]["ffn_weight_count_d8_ff32"]


def test_every_block_holds_4_and_8_d_squared(counts, golden):
    for count in counts.values():
        assert count.block_attention == 4 * count.d_model**2
        assert count.block_feed_forward == 8 * count.d_model**2
        share = golden["transformer"]["ffn_share_of_block_weights"]["ffn_fraction"]
        assert count.block_share == pytest.approx(share, abs=5e-5)


def test_trb_mini_is_counted_as_it_is_when_loaded(counts):
    model = load("trb-mini")
    count = counts[model.label]
    assert count.total == model.parameters
    by_hand = sum(
        p.numel()
        for layer in model.module.layers
        for part in (layer.fc1, layer.fc2)
        for p in part.parameters()
    )
    assert count.by_role[ROLES.index(FEED_FORWARD)] == by_hand


def test_esm2_35m_has_its_known_size(counts):
    assert counts["ESM-2 35M"].total == pytest.approx(33.5e6, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("layers.0.self_attn.q_proj.weight", ATTENTION),
        ("layers.0.self_attn_layer_norm.weight", NORMS),
        ("decoder.layers.3.cross_attention.project_qkv.bias", ATTENTION),
        ("decoder.layers.3.around_cross.norm.gamma", NORMS),
        ("encoder.layers.0.feed_forward.widen.weight", FEED_FORWARD),
        ("layers.11.fc2.bias", FEED_FORWARD),
        ("embed_tokens.weight", ENDS),
        ("generator.bias", ENDS),
    ],
)
def test_a_parameter_tells_its_role(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda a: a.name)
def test_blocks_and_ends_of_an_alphabet_are_counted_on_the_model(alphabet):
    with torch.device("meta"):
        model = Transformer.from_shape(alphabet.shape)
    ends = sum(
        p.numel() for n, p in model.named_parameters() if not n.startswith(("encoder.", "decoder."))
    )
    assert alphabet.ends == ends
    assert alphabet.blocks + alphabet.ends == sum(p.numel() for p in model.parameters())


def test_the_blocks_do_not_know_the_alphabet():
    assert len({alphabet.blocks for alphabet in ALPHABETS}) == 1
    assert len({alphabet.ends for alphabet in ALPHABETS}) == len(ALPHABETS)
