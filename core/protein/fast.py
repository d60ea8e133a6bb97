"""The same numbers as `forward.masked_logits`, sooner: for scans, which run hundreds of passes.

In: a fair-esm module, once; then batches of masked copies. What is saved: weights packed for
oneDNN with GELU and residual addition in the same pass, one product for queries, keys and values,
fused attention, and in the last layer everything but the masked place. `forward` is the oracle.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from core.protein import forward


class PackedLinear:
    """x W^T + b with W packed once; optionally GELU of it, or the residual added.

    Without oneDNN (another build or processor) the plain functions do the same.
    """

    def __init__(self, weight: Tensor, bias: Tensor, rows: int):
        self.weight, self.bias = weight, bias
        fits = torch.backends.mkldnn.is_available() and weight.device.type == "cpu"
        self.packed = torch.ops.mkldnn._reorder_linear_weight(self.weight, rows) if fits else None

    def __call__(self, x: Tensor) -> Tensor:
        if self.packed is None:
            return F.linear(x, self.weight, self.bias)
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "none")

    def gelu(self, x: Tensor) -> Tensor:
        """GELU(x W^T + b), the exact one with erf."""
        if self.packed is None:
            return F.gelu(F.linear(x, self.weight, self.bias))
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "gelu", [], "none")

    def plus(self, x: Tensor, residual: Tensor) -> Tensor:
        """x W^T + b + residual."""
        if self.packed is None:
            return F.linear(x, self.weight, self.bias) + residual
        return torch.ops.mkldnn._linear_pointwise.binary(x, residual, self.packed, self.bias, "add")


@dataclass(frozen=True)
class PackedLayer:
    """One Transformer layer, its products packed; `qkv` gives queries, keys and values at once."""

    plain: Any
    qkv: PackedLinear
    out: PackedLinear
    fc1: PackedLinear
    fc2: PackedLinear


@dataclass(frozen=True)
class FastModel:
    """A module made ready for scans: every layer packed but the last, which is mostly skipped."""

    module: Any
    layers: tuple[PackedLayer, ...]


def pack(module: Any, rows: int) -> FastModel:
    """Pack a module's weights for batches of about `rows` tokens in all; the module is unchanged.

    Costs one more copy of the weights for as long as the result lives.
    """
    layers = tuple(_pack_layer(layer, rows) for layer in module.layers[:-1])
    return FastModel(module, layers)


def _pack_layer(layer: Any, rows: int) -> PackedLayer:
    attention = layer.self_attn
    three = (attention.q_proj, attention.k_proj, attention.v_proj)
    weight, bias = torch.cat([p.weight for p in three]), torch.cat([p.bias for p in three])
    out, fc1, fc2 = attention.out_proj, layer.fc1, layer.fc2
    return PackedLayer(
        layer,
        PackedLinear(weight, bias, rows),
        PackedLinear(out.weight, out.bias, rows),
        PackedLinear(fc1.weight, fc1.bias, rows),
        PackedLinear(fc2.weight, fc2.bias, rows),
    )


def masked_logits(
    fast: FastModel, row: Int[Tensor, " L"], at: Int[Tensor, " B"], mask: int
) -> Float[Tensor, "B V"]:
    """Logits at each token index of `at` with that token of `row`, and only that, masked.

    Equal to `forward.masked_logits` of the B masked copies.
    """
    module = fast.module
    tables = forward.rotary_tables(module.layers[0].self_attn.rot_emb.inv_freq, len(row))
    # Going in, the copies differ at the masked token alone: what is the same is computed once.
    seen, masked = _embedded(module, row, mask)
    x = _copies(seen, masked, at)
    for i, layer in enumerate(fast.layers):
        qkv = _qkv(layer, x) if i else _first_qkv(layer, seen, masked, at)
        x = _layer(layer, x, qkv, *tables)
    x = forward.last_layer(module.layers[-1], x, at, *tables)
    return module.lm_head(module.emb_layer_norm_after(x))


def _embedded(module: Any, row: Tensor, mask: int) -> tuple[Tensor, Tensor]:
    """Embeddings of the tokens (L, d_model) and of the mask, both scaled for one mask in all."""
    pair = row.repeat(2, 1)
    pair[0, 0] = pair[1, 1] = mask
    seen, other = forward.embed(module, pair)
    seen[0] = other[0]
    return seen, other[1]


def _copies(rows: Tensor, masked: Tensor, at: Tensor) -> Tensor:
    """(B, L, n): `rows` (L, n) once per entry of `at`, with `masked` (n) put there."""
    copies = rows.repeat(len(at), 1, 1)
    copies[torch.arange(len(at)), at] = masked
    return copies


def _qkv(packed: PackedLayer, x: Tensor) -> Tensor:
    batch, length, width = x.shape
    normed = packed.plain.self_attn_layer_norm(x.reshape(batch * length, width))
    return packed.qkv(normed).view(batch, length, 3 * width)


def _first_qkv(layer: PackedLayer, seen: Tensor, masked: Tensor, at: Tensor) -> Tensor:
    both = _qkv(layer, torch.cat((seen, masked[None]))[None])[0]
    return _copies(both[:-1], both[-1], at)


def _layer(packed: PackedLayer, x: Tensor, qkv: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    plain = packed.plain
    batch, length, width = x.shape
    heads = plain.self_attn.num_heads
    flat = x.reshape(batch * length, width)
    qkv = qkv.view(batch, length, 3 * heads, width // heads)
    qk = _rotate(qkv[:, :, : 2 * heads], cosines, sines).transpose(1, 2)
    v = qkv[:, :, 2 * heads :].transpose(1, 2)
    blended = F.scaled_dot_product_attention(qk[:, :heads], qk[:, heads:], v)
    blended = blended.transpose(1, 2).reshape(batch * length, width)
    flat = packed.out.plus(blended, flat)
    hidden = packed.fc1.gelu(plain.final_layer_norm(flat))
    return packed.fc2.plus(hidden, flat).view(batch, length, width)


def _rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """`forward.rotate` for (B, L, h, d_k)."""
    half = x.shape[-1] // 2
    signed = torch.cat((-sines[:, :half], sines[:, half:]), dim=-1)
    swapped = torch.cat((x[..., half:], x[..., :half]), dim=-1)
    return (x * cosines[:, None]).addcmul_(swapped, signed[:, None])
