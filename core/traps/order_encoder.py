"""Does a real encoder know the order of a sequence? The same shuffle as the toy's, in PyTorch.

In: a sequence and a seed. Out: `Shuffle`. The weights are random: order blindness is a property
of the architecture, whatever it has learned.
"""

import numpy as np
import torch
from jaxtyping import Float

from core.alphabet import RESIDUES, clean_sequence
from core.transformer.masks import causal_mask as lower_triangle
from core.transformer.model import Transformer, evaluating
from core.traps.order_toy import MAX_LENGTH, Shuffle, new_order

WIDTH, HEADS, LAYERS = 64, 4, 2


def shuffle_encoder(sequence: str, seed: int = 0, *, causal_mask: bool = False) -> Shuffle:
    """Shuffle the residues before an encoder of two layers, in float64, positions off and on.

    Raises SequenceError for text that is no sequence of 2 to 60 residues.
    """
    letters = clean_sequence(sequence, min_length=2, max_length=MAX_LENGTH).sequence
    order = new_order(len(letters), seed)
    shuffled = "".join(letters[i] for i in order)

    def difference(positions: bool) -> Float[np.ndarray, "L d_model"]:
        model = _random_model(seed, positions)
        before, after = (_encoded(model, s, causal_mask) for s in (letters, shuffled))
        return np.abs(after - before[order])

    return Shuffle(letters, order, difference(positions=False), difference(positions=True))


def _random_model(seed: int, positions: bool) -> Transformer:
    size = len(RESIDUES)
    model = Transformer(
        size, size, WIDTH, HEADS, 4 * WIDTH, LAYERS, 0.0, MAX_LENGTH, use_positions=positions
    ).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(
                    torch.randn(parameter.shape, generator=generator) * parameter.shape[1] ** -0.5
                )
    return model


def _encoded(model: Transformer, letters: str, causal_mask: bool) -> Float[np.ndarray, "L d_model"]:
    src = torch.tensor([RESIDUES.encode(letters)])
    with evaluating(model):
        mask = lower_triangle(len(letters)) if causal_mask else None
        return np.asarray(model.encode(src, mask)[0].numpy())
