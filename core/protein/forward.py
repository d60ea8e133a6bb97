"""ESM-2's forward pass on a fair-esm module, without writing anything on the module.

In: the module and token ids. Out: logits where they are asked for, hidden states, attention
weights. Knows nothing of chains. fair-esm's own forward keeps rotary tables on the module, which
breaks under two threads; here they are values, so one model can serve many visitors at once.
Source: Lin et al., Science 379 (2023); fair-esm 2.0.0, esm/model/esm2.py, is the oracle in tests.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

# Share of residues that ESM-2 saw as the mask token in training: 15 % chosen, 80 % of them masked.
MASK_RATIO_IN_TRAINING = 0.15 * 0.8


def embed(module: Any, tokens: Int[Tensor, "B L"]) -> Float[Tensor, "B L d_model"]:
    """Token embeddings with ESM-2's token dropout: mask tokens are zero, the rest rescaled.

    The rescaling depends on the share of masked tokens, which is why one residue is masked per
    copy: many masks in one copy would change every number.
    """
    x = F.embedding(tokens, module.embed_tokens.weight)
    if not module.token_dropout:
        return x
    masked = tokens == module.mask_idx
    share = masked.sum(-1).to(x.dtype) / tokens.shape[1]
    x = x.masked_fill(masked.unsqueeze(-1), 0.0)
    return x * ((1 - MASK_RATIO_IN_TRAINING) / (1 - share))[:, None, None]


def rotary_tables(
    inverse_frequencies: Float[Tensor, " half"], length: int
) -> tuple[Float[Tensor, "L d_k"], Float[Tensor, "L d_k"]]:
    """Cosines and sines that turn queries and keys by an angle proportional to their place."""
    place = torch.arange(length, dtype=inverse_frequencies.dtype)
    angles = torch.outer(place, inverse_frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(
    x: Float[Tensor, "B h L d_k"],
    cosines: Float[Tensor, "... L d_k"],
    sines: Float[Tensor, "... L d_k"],
) -> Float[Tensor, "B h L d_k"]:
    """Rotary position embedding (Su et al., 2021): each pair of dimensions turned by its angle."""
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


def masked_logits(
    module: Any, tokens: Int[Tensor, "B L"], at: Int[Tensor, " B"]
) -> Float[Tensor, "B V"]:
    """Logits of each row at its own token index `at`; all rows have the same length, no padding.

    The last layer's queries and feed-forward and the output head are computed only there.
    """
    x = embed(module, tokens)
    tables = rotary_tables(module.layers[0].self_attn.rot_emb.inv_freq, tokens.shape[1])
    for layer in module.layers[:-1]:
        x = _layer(layer, x, *tables)
    x = last_layer(module.layers[-1], x, at, *tables)
    return module.lm_head(module.emb_layer_norm_after(x))


def hidden_states(
    module: Any, tokens: Int[Tensor, "B L"]
) -> Float[Tensor, "layers_and_embedding B L d_model"]:
    """The residual stream: embeddings first, then after each layer; the last one normalised.

    As in ESM-2, the final layer norm belongs to the last entry.
    """
    x = embed(module, tokens)
    tables = rotary_tables(module.layers[0].self_attn.rot_emb.inv_freq, tokens.shape[1])
    states = [x]
    for layer in module.layers:
        states.append(_layer(layer, states[-1], *tables))
    states[-1] = module.emb_layer_norm_after(states[-1])
    return torch.stack(states)


def attention_weights(
    module: Any, tokens: Int[Tensor, "B L"], layer: int
) -> Float[Tensor, "B h n_query n_key"]:
    """Attention weights of one layer, counted from 1; rows sum to 1.

    One layer at a time: all of them for a long chain would take gigabytes.
    """
    x = embed(module, tokens)
    tables = rotary_tables(module.layers[0].self_attn.rot_emb.inv_freq, tokens.shape[1])
    for before in module.layers[: layer - 1]:
        x = _layer(before, x, *tables)
    return _attention_weights(module.layers[layer - 1], x, *tables)


def _split(x: Tensor, heads: int) -> Tensor:
    batch, length, width = x.shape
    return x.view(batch, length, heads, width // heads).transpose(1, 2)  # (B, h, L, d_k)


def _merge(x: Tensor) -> Tensor:
    batch, heads, length, d_k = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * d_k)


def _feed_forward(layer: Any, x: Tensor) -> Tensor:
    hidden = F.gelu(layer.fc1(layer.final_layer_norm(x)))
    return x + layer.fc2(hidden)


def _layer(layer: Any, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    attention = layer.self_attn
    heads = attention.num_heads
    normed = layer.self_attn_layer_norm(x)
    q = rotate(_split(attention.q_proj(normed), heads), cosines, sines)
    k = rotate(_split(attention.k_proj(normed), heads), cosines, sines)
    v = _split(attention.v_proj(normed), heads)
    blended = _merge(F.scaled_dot_product_attention(q, k, v))
    return _feed_forward(layer, x + attention.out_proj(blended))


def last_layer(layer: Any, x: Tensor, at: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    attention = layer.self_attn
    heads = attention.num_heads
    rows = torch.arange(len(x))
    normed = layer.self_attn_layer_norm(x)
    k = rotate(_split(attention.k_proj(normed), heads), cosines, sines)
    q = _split(attention.q_proj(normed[rows, at]).unsqueeze(1), heads)  # (B, h, 1, d_k)
    q = rotate(q, cosines[at][:, None, None], sines[at][:, None, None])
    weights = torch.softmax(q @ k.transpose(-2, -1) * attention.scaling, dim=-1).squeeze(2)
    # Mixed before they become values: one product with W_v per copy instead of one per token.
    value = attention.v_proj.weight.view(heads, -1, x.shape[-1])
    blended = torch.einsum("bhd,hkd->bhk", weights @ normed, value).flatten(1)
    blended = blended + attention.v_proj.bias
    return _feed_forward(layer, x[rows, at] + attention.out_proj(blended))


def _attention_weights(layer: Any, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    attention = layer.self_attn
    normed = layer.self_attn_layer_norm(x)
    q = rotate(_split(attention.q_proj(normed), attention.num_heads), cosines, sines)
    k = rotate(_split(attention.k_proj(normed), attention.num_heads), cosines, sines)
    return torch.softmax(q @ k.transpose(-2, -1) * attention.scaling, dim=-1)
