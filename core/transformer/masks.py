"""Who may look at whom. True = may attend, in every mask here.

In: token ids. Out: boolean masks that broadcast over (B, n_query, n_key).
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from core.alphabet import PAD


def padding_mask(ids: Int[Tensor, "B n_key"], pad: int = PAD) -> Bool[Tensor, "B 1 n_key"]:
    """False at padding: no query may look there."""
    return (ids != pad).unsqueeze(1)


def causal_mask(
    length: int, device: torch.device | str | None = None
) -> Bool[Tensor, "1 length length"]:
    """Lower triangle: position n may look at positions 1 to n, never ahead."""
    return torch.ones(1, length, length, dtype=torch.bool, device=device).tril()


def make_masks(
    src: Int[Tensor, "B n_src"],
    tgt: Int[Tensor, "B n_tgt"],
    pad: int = PAD,
    *,
    causal: bool = True,
) -> tuple[Bool[Tensor, "B 1 n_src"], Bool[Tensor, "B ... n_tgt"]]:
    """Masks of the source (padding) and of the target (padding and, if `causal`, no future)."""
    tgt_mask = padding_mask(tgt, pad)
    if causal:
        tgt_mask = tgt_mask & causal_mask(tgt.shape[1], tgt.device)
    return padding_mask(src, pad), tgt_mask
