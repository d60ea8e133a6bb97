"""How much of the first letter is left at the end in a model that was trained to need it.

In: a Transformer trained to write strings backwards, whose last letter is the first one read.
Out: that letter's share of all influence on the last letter written. Needs PyTorch.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.alphabet import BOS, FIRST_LETTER_ID
from core.transformer.masks import make_masks
from core.transformer.model import Transformer


def trained_shares(
    model: Transformer, lengths: Sequence[int], *, draws: int = 20, seed: int = 0
) -> dict[int, float]:
    """Length -> share (0 to 1), geometric mean over `draws` random strings, as in influence.py.

    Raises ValueError for a length that the model's table of positions cannot hold.
    """
    longest = model.shape.max_len - 2
    generator = torch.Generator().manual_seed(seed)
    shares = {}
    for length in lengths:
        if not 2 <= length <= longest:
            raise ValueError(f"{length} letters is outside the 2 to {longest} of this model.")
        src = torch.randint(
            FIRST_LETTER_ID, model.shape.src_vocab, (draws, length), generator=generator
        )
        norms = source_gradients(model, src).double()
        share = norms[:, 0] / norms.sum(dim=1)
        shares[length] = share.clamp_min(1e-300).log().mean().exp().item()
    return shares


def source_gradients(model: Transformer, src: Int[Tensor, "B L"]) -> Float[Tensor, "B L"]:
    """Length of the gradient, on every source letter's vector, of the last right letter's score.

    The decoder has read BOS and all right letters before it.
    """
    begun = torch.full((len(src), 1), BOS)
    tgt = torch.cat([begun, src.flip(1)[:, :-1]], dim=1)
    src_mask, tgt_mask = make_masks(src, tgt, causal=model.shape.causal)
    x = model._embed(model.src_embedding, src).detach().requires_grad_(True)
    decoded = model.decode(tgt, model.encoder(x, src_mask), src_mask, tgt_mask)
    scores = model.generator(decoded[:, -1])
    (gradient,) = torch.autograd.grad(scores.gather(1, src[:, :1]).sum(), x)
    return gradient.norm(dim=-1)
