"""N encoder layers, N decoder layers.

In and out: (B, L, d_model). A pre-LN stack ends with one more LayerNorm, because nothing
inside it normalises the stream itself; a post-LN stack, the paper's, does not need it.
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from core.transformer.cache import KeyValueCache
from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.normalisation import LayerNorm
from core.transformer.shape import ModelShape
from core.transformer.trace import Trace


def _final_norm(shape: ModelShape) -> nn.Module:
    return LayerNorm(shape.d_model) if shape.pre_norm else nn.Identity()


class Encoder(nn.Module):
    """`num_layers` encoder layers, named encoder.1, encoder.2, ..."""

    def __init__(self, shape: ModelShape):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(
                shape.d_model,
                shape.num_heads,
                shape.d_ff,
                shape.dropout,
                pre_norm=shape.pre_norm,
                name=f"encoder.{number}",
            )
            for number in range(1, shape.num_layers + 1)
        )
        self.final_norm = _final_norm(shape)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        may_attend: Bool[Tensor, "#B #L L"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Pass the stream through every layer."""
        for layer in self.layers:
            x = layer(x, may_attend, trace=trace)
        return self.final_norm(x)


class Decoder(nn.Module):
    """`num_layers` decoder layers, named decoder.1, decoder.2, ..."""

    def __init__(self, shape: ModelShape):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(
                shape.d_model,
                shape.num_heads,
                shape.d_ff,
                shape.dropout,
                pre_norm=shape.pre_norm,
                use_cross_attention=shape.use_cross_attention,
                name=f"decoder.{number}",
            )
            for number in range(1, shape.num_layers + 1)
        )
        self.final_norm = _final_norm(shape)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        memory: Float[Tensor, "B n_memory d_model"],
        may_attend: Bool[Tensor, "#B #L n_key"] | None = None,
        memory_may_attend: Bool[Tensor, "#B #L n_memory"] | None = None,
        *,
        trace: Trace | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Pass the stream through every layer, each looking across at `memory`."""
        for layer in self.layers:
            x = layer(x, memory, may_attend, memory_may_attend, trace=trace, cache=cache)
        return self.final_norm(x)
