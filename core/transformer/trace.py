"""What a forward pass did, collected for one call and for one caller.

A trace is passed into forward and filled there; nothing is written on a module, because
models are shared between visitors. Layers count from 1: "encoder.1.self", "decoder.2.self",
"decoder.2.cross" for attention weights, "encoder.1", "decoder.2" for the residual stream.
"""

from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor


@dataclass
class Trace:
    """Attention weights (B, h, n_query, n_key) and streams (B, L, d_model) by name."""

    weights: dict[str, Tensor] = field(default_factory=dict)
    streams: dict[str, Tensor] = field(default_factory=dict)

    def keep_weights(self, name: str, weights: Float[Tensor, "B h n_query n_key"]) -> None:
        """Remember the weights of the attention called `name`, cut off from the gradient."""
        self.weights[name] = weights.detach()

    def keep_stream(self, name: str, x: Float[Tensor, "B L d_model"]) -> None:
        """Remember what left the layer called `name`, cut off from the gradient."""
        self.streams[name] = x.detach()
