"""Where LayerNorm stands, measured: how the stream and the gradient fare through many layers.

In: a depth. Out: one norm per layer, for an untrained encoder on random input.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from core.transformer.model import initialise
from core.transformer.shape import ModelShape
from core.transformer.stacks import Encoder
from core.transformer.trace import Trace

D_MODEL, HEADS, D_FF, LENGTH, BATCH = 32, 4, 128, 13, 2
DEEPEST = 48


@dataclass(frozen=True, eq=False)
class DepthNorms:
    """`stream[0]` is the input, `stream[n]` what leaves layer n: mean length of a position's
    vector. `gradient[n - 1]` is the length of the loss's gradient in all weights of layer n.
    """

    stream: Float[np.ndarray, " depth_and_input"]
    gradient: Float[np.ndarray, " depth"]


def norms_by_layer(depth: int, pre_norm: bool, seed: int = 0) -> DepthNorms:
    """One pass forward and back through `depth` encoder layers, Xavier-initialised, no dropout.

    The loss is a random linear reading of the output, averaged over positions, so that every
    depth is asked for the same thing. Raises ValueError outside 1 to 48 layers.
    """
    if not 1 <= depth <= DEEPEST:
        raise ValueError(f"{depth} layers: this measurement runs with 1 to {DEEPEST}.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x = torch.randn(BATCH, LENGTH, D_MODEL)
        reading = torch.randn(BATCH, LENGTH, D_MODEL)
        encoder = _encoder(depth, pre_norm)
    trace = Trace()
    loss = (encoder(x, trace=trace) * reading).sum() / (BATCH * LENGTH)
    loss.backward()
    streams = [x, *(trace.streams[f"encoder.{n}"] for n in range(1, depth + 1))]
    return DepthNorms(
        stream=np.array([float(stream.norm(dim=-1).mean()) for stream in streams]),
        gradient=np.array([_gradient_norm(layer) for layer in encoder.layers]),
    )


def _encoder(depth: int, pre_norm: bool) -> Encoder:
    shape = ModelShape(1, 1, D_MODEL, HEADS, D_FF, depth, dropout=0.0, pre_norm=pre_norm)
    encoder = Encoder(shape)
    initialise(encoder)
    return encoder


def _gradient_norm(layer: torch.nn.Module) -> float:
    gradients = [p.grad.flatten() for p in layer.parameters() if p.grad is not None]
    return float(torch.cat(gradients).norm())
