"""What a model looked at, as NumPy arrays, for one source and one output.

In: a model, trained or not, and ids. Out: attention weights.
"""

import numpy as np
import torch
from jaxtyping import Float

from core.transformer.model import Transformer, evaluating
from core.transformer.shape import ModelShape
from core.transformer.trace import Trace


def untrained(shape: ModelShape, seed: int) -> Transformer:
    """A model as `seed` initialises it; torch's global random state is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer.from_shape(shape).eval()


def cross_attention(
    model: Transformer, src: tuple[int, ...], tgt: tuple[int, ...]
) -> Float[np.ndarray, "layers h n_tgt n_src"]:
    """Row i: where the decoder looks in the source when it has read tgt[: i + 1].

    Raises ValueError when the model was built without cross-attention.
    """
    if not model.shape.use_cross_attention:
        raise ValueError("This model was built without cross-attention: there is nothing to show.")
    weights = all_attention(model, src, tgt)
    names = [f"decoder.{number}.cross" for number in range(1, model.shape.num_layers + 1)]
    return np.stack([weights[name] for name in names])


def all_attention(
    model: Transformer, src: tuple[int, ...], tgt: tuple[int, ...]
) -> dict[str, Float[np.ndarray, "h n_query n_key"]]:
    """Weights of every attention, called as in a trace: "encoder.1.self", "decoder.2.cross"."""
    trace = Trace()
    with evaluating(model):
        model(torch.tensor([src]), torch.tensor([tgt]), trace=trace)
    return {name: weights[0].float().numpy() for name, weights in trace.weights.items()}
