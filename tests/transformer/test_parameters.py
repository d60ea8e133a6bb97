"""Parameter counts: formulas, golden numbers, and the real model."""

import subprocess
import sys
from typing import Any

import pytest
import torch

from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.model import Transformer
from core.transformer.parameters import (
    attention_parameters,
    decoder_layer_parameters,
    encoder_layer_parameters,
    feed_forward_parameters,
    parts_by_formula,
    total_by_counting,
    total_by_formula,
)
from core.transformer.shape import ModelShape


def held(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_golden_counts(golden: dict[str, Any]) -> None:
    known = golden["transformer"]
    shape = ModelShape(**known["base_config"])
    assert total_by_formula(shape) == known["parameters_total"]
    assert total_by_counting(shape) == known["parameters_total"]
    assert encoder_layer_parameters(512, 2048) == known["parameters_encoder_layer"]
    assert decoder_layer_parameters(512, 2048) == known["parameters_decoder_layer"]
    assert attention_parameters(512) == known["parameters_attention_sublayer"]
    assert feed_forward_parameters(512, 2048) == known["parameters_ffn"]
    layers = [p.count for p in parts_by_formula(shape) if p.inside]
    assert sum(layers) == known["parameters_all_layers"]
    outside = [p.count for p in parts_by_formula(shape) if not p.inside]
    assert sum(outside) == known["parameters_embeddings_and_output"]


def test_golden_small_counts(golden: dict[str, Any]) -> None:
    known = golden["transformer"]
    assert attention_parameters(64) == known["torch_mha_64_8_heads_parameters"]
    layer = EncoderLayer(64, 4, 256, pre_norm=True)
    assert held(layer) == known["pre_ln_block_64_4_256_parameters"]
    attention, feed_forward = 4 * 512**2, 2 * 512 * 2048
    share = feed_forward / (attention + feed_forward)
    assert share == pytest.approx(known["ffn_share_of_block_weights"]["ffn_fraction"], abs=5e-5)


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_every_part_equals_the_real_module(pre_norm: bool, cross: bool) -> None:
    shape = ModelShape(
        17, 19, 22, 11, 29, 3, pre_norm=pre_norm, use_cross_attention=cross, max_len=5
    )
    model = Transformer.from_shape(shape)
    by_path = {part.path: part.count for part in parts_by_formula(shape)}
    assert sum(by_path.values()) == held(model) == total_by_counting(shape)
    assert by_path["Source embedding"] == held(model.src_embedding)
    assert by_path["Target embedding"] == held(model.tgt_embedding)
    assert by_path["Generator"] == held(model.generator)
    layer = model.decoder.layers[2]
    assert isinstance(layer, DecoderLayer)
    inside = [count for path, count in by_path.items() if path.startswith("Decoder/Layer 3/")]
    assert sum(inside) == held(layer)
    assert by_path["Decoder/Layer 3/Feed-forward"] == held(layer.feed_forward)
    assert ("Decoder/Layer 3/Cross-attention" in by_path) is cross
    assert ("Encoder/Final norm" in by_path) is pre_norm


def test_formulas_do_not_load_torch() -> None:
    code = (
        "import sys; from core.transformer.parameters import total_by_formula;"
        "from core.transformer.shape import ModelShape; import core.transformer.waves;"
        "total_by_formula(ModelShape(10, 10)); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
