"""Our modules against torch.nn: the same weights copied into both, the same random input.

In: a precision. Out: the largest absolute difference of each pair, by name. Attention is taken
by its explicit formula, not by the kernel that torch uses too, so that a comparison means
something. `python -m core.parity` prints all of them as one JSON object on one line; exit status
0 within the tolerances, 1 above one of them (said on standard error), 2 bad input.
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn

from core.alphabet import DEFAULT_SEQUENCE
from core.toy.block import BlockWeights, block, block_weights
from core.toy.heads import HEADS
from core.toy.residue_vectors import residue_vectors
from core.transformer.attention import MultiHeadAttention
from core.transformer.into_torch import (
    copy_attention,
    copy_decoder_layer,
    copy_encoder_layer,
    copy_norm,
)
from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.masks import causal_mask, padding_mask
from core.transformer.normalisation import LayerNorm, normalise
from core.transformer.trace import Trace

D_MODEL, HEADS_COUNT, D_FF = 64, 8, 256
BATCH, LENGTH, MEMORY_LENGTH, PADDED = 2, 10, 7, 3
Module = TypeVar("Module", bound=nn.Module)
DTYPES = {"float32": torch.float32, "float64": torch.float64}
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}


def differences(dtype: str, seed: int = 0) -> dict[str, float]:
    """Largest absolute difference of every comparison in `dtype` ("float32" or "float64")."""
    random = torch.Generator().manual_seed(seed)
    found = {name: compare(DTYPES[dtype], random) for name, compare in _COMPARISONS.items()}
    return {**found, "toy_block": toy_block_difference(dtype)}


def all_differences() -> dict[str, dict[str, float]]:
    """`differences` in both precisions."""
    return {dtype: differences(dtype) for dtype in DTYPES}


def toy_block_difference(dtype: str, sequence: str = DEFAULT_SEQUENCE) -> float:
    """The toy's NumPy block (float64) against nn.TransformerEncoderLayer in `dtype`."""
    x = residue_vectors(sequence)
    layer = _torch_toy_layer(block_weights()).to(DTYPES[dtype])
    theirs = layer(torch.tensor(x, dtype=DTYPES[dtype])[None])[0]
    return _largest(torch.tensor(block(x)), theirs.double())


def _largest(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).abs().max().detach())


def _ready(module: Module, dtype: torch.dtype, random: Generator) -> Module:
    """Evaluation mode, and every parameter drawn anew so that no bias hides at zero."""
    for parameter in module.parameters():
        parameter.data = 0.1 * torch.randn(parameter.shape, generator=random, dtype=dtype)
    return module.to(dtype).eval()


def _input(length: int, dtype: torch.dtype, random: Generator) -> Float[Tensor, "B L d_model"]:
    return torch.randn(BATCH, length, D_MODEL, dtype=dtype, generator=random)


def _padded_ids(length: int) -> Tensor:
    """Ids whose second row ends in padding."""
    ids = torch.ones(BATCH, length, dtype=torch.long)
    ids[1, -PADDED:] = 0
    return ids


def layer_norm_difference(dtype: torch.dtype, random: Generator) -> float:
    """The formula written out against nn.LayerNorm."""
    ours, theirs = _ready(LayerNorm(D_MODEL), dtype, random), nn.LayerNorm(D_MODEL, dtype=dtype)
    copy_norm(ours, theirs)
    x = _input(LENGTH, dtype, random)
    return _largest(normalise(x, ours.gamma, ours.beta, ours.eps), theirs(x))


def attention_difference(dtype: torch.dtype, random: Generator) -> float:
    """Multi-head attention by the explicit formula, causal mask, against nn.MultiheadAttention."""
    ours = _ready(MultiHeadAttention(D_MODEL, HEADS_COUNT), dtype, random)
    theirs = nn.MultiheadAttention(D_MODEL, HEADS_COUNT, batch_first=True, dtype=dtype).eval()
    copy_attention(ours, theirs)
    x, may_attend = _input(LENGTH, dtype, random), causal_mask(LENGTH)
    expected, _ = theirs(x, x, x, attn_mask=~may_attend[0])
    return _largest(ours(x, may_attend=may_attend, trace=Trace()), expected)


def fused_difference(dtype: torch.dtype, random: Generator) -> float:
    """Multi-head attention with torch's fused kernel against the explicit formula."""
    attention = _ready(MultiHeadAttention(D_MODEL, HEADS_COUNT), dtype, random)
    x, may_attend = (
        _input(LENGTH, dtype, random),
        causal_mask(LENGTH) & padding_mask(_padded_ids(LENGTH)),
    )
    explicit = attention(x, may_attend=may_attend, trace=Trace())
    return _largest(attention(x, may_attend=may_attend), explicit)


def encoder_layer_difference(
    dtype: torch.dtype, random: Generator, pre_norm: bool = False
) -> float:
    """One encoder layer with padding against nn.TransformerEncoderLayer."""
    ours = _ready(EncoderLayer(D_MODEL, HEADS_COUNT, D_FF, pre_norm=pre_norm), dtype, random)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, HEADS_COUNT, D_FF, batch_first=True, norm_first=pre_norm, dtype=dtype
    ).eval()
    copy_encoder_layer(ours, theirs)
    x, may_attend = _input(LENGTH, dtype, random), padding_mask(_padded_ids(LENGTH))
    return _largest(
        ours(x, may_attend, trace=Trace()), theirs(x, src_key_padding_mask=~may_attend[:, 0])
    )


def decoder_layer_difference(dtype: torch.dtype, random: Generator) -> float:
    """One decoder layer, causal and padded, against nn.TransformerDecoderLayer."""
    ours = _ready(DecoderLayer(D_MODEL, HEADS_COUNT, D_FF), dtype, random)
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, HEADS_COUNT, D_FF, batch_first=True, dtype=dtype
    ).eval()
    copy_decoder_layer(ours, theirs)
    x, memory = _input(LENGTH, dtype, random), _input(MEMORY_LENGTH, dtype, random)
    causal, padding = causal_mask(LENGTH), padding_mask(_padded_ids(MEMORY_LENGTH))
    expected = theirs(x, memory, tgt_mask=~causal[0], memory_key_padding_mask=~padding[:, 0])
    return _largest(ours(x, memory, causal, padding, trace=Trace()), expected)


_COMPARISONS: dict[str, Callable[[torch.dtype, Generator], float]] = {
    "layer_norm": layer_norm_difference,
    "multi_head_attention_causal": attention_difference,
    "fused_vs_explicit": fused_difference,
    "encoder_layer": encoder_layer_difference,
    "encoder_layer_pre_norm": partial(encoder_layer_difference, pre_norm=True),
    "decoder_layer": decoder_layer_difference,
}


def _torch_toy_layer(weights: BlockWeights) -> nn.TransformerEncoderLayer:
    """torch stores matrices (out, in); the toy has no biases in attention."""
    w_o, w_1, w_2 = (torch.tensor(w.T) for w in (weights.w_o, weights.w_1, weights.w_2))
    layer = nn.TransformerEncoderLayer(
        len(w_o),
        len(HEADS),
        len(w_1),
        dropout=0.0,
        activation="gelu",
        norm_first=True,
        batch_first=True,
        dtype=torch.float64,
    ).eval()
    stacked = [torch.tensor(getattr(head, w).T) for w in ("w_q", "w_k", "w_v") for head in HEADS]
    layer.self_attn.in_proj_weight.data.copy_(torch.cat(stacked))
    layer.self_attn.in_proj_bias.data.zero_()
    layer.self_attn.out_proj.load_state_dict({"weight": w_o, "bias": torch.zeros(len(w_o))})
    layer.linear1.load_state_dict({"weight": w_1, "bias": torch.tensor(weights.b_1)})
    layer.linear2.load_state_dict({"weight": w_2, "bias": torch.tensor(weights.b_2)})
    return layer


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m core.parity", description=__doc__)
    parser.parse_args(arguments)
    found = all_differences()
    print(json.dumps(found))
    too_large = _too_large(found)
    for sentence in too_large:
        print(sentence, file=sys.stderr)
    return 1 if too_large else 0


def _too_large(found: dict[str, dict[str, float]]) -> list[str]:
    """A sentence for every difference above the tolerance of its precision."""
    return [
        f"{name} differs by {value:.1e} in {dtype}, more than {TOLERANCES[dtype]:.0e}."
        for dtype, values in found.items()
        for name, value in values.items()
        if not value <= TOLERANCES[dtype]  # so that NaN counts as too large
    ]


if __name__ == "__main__":
    sys.exit(main())
