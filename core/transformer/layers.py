"""One layer of the encoder and one of the decoder, wired from attention and feed-forward.

In and out: (B, L, d_model). `name` ("encoder.1") is what a trace files the layer under.
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from core.transformer.attention import MultiHeadAttention
from core.transformer.cache import KeyValueCache
from core.transformer.feed_forward import PositionwiseFeedForward
from core.transformer.normalisation import AddNorm
from core.transformer.trace import Trace


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside add & norm.

    Source: Vaswani et al. 2017, figure 1, left.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        *,
        pre_norm: bool = False,
        name: str = "encoder",
    ):
        super().__init__()
        self.name = name
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout, f"{name}.self")
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.around_attention = AddNorm(d_model, dropout, pre_norm)
        self.around_feed_forward = AddNorm(d_model, dropout, pre_norm)

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        may_attend: Bool[Tensor, "#B #L L"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Let residues talk, then let each one think."""
        x = self.around_attention(
            x, lambda y: self.self_attention(y, may_attend=may_attend, trace=trace)
        )
        x = self.around_feed_forward(x, self.feed_forward)
        if trace is not None:
            trace.keep_stream(self.name, x)
        return x


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the encoder's output, feed-forward.

    Source: Vaswani et al. 2017, figure 1, right. Without `use_cross_attention` the middle
    part is left out, which cuts the decoder off from its source.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        *,
        pre_norm: bool = False,
        use_cross_attention: bool = True,
        name: str = "decoder",
    ):
        super().__init__()
        self.name, self.use_cross_attention = name, use_cross_attention
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout, f"{name}.self")
        self.around_self = AddNorm(d_model, dropout, pre_norm)
        if use_cross_attention:
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout, f"{name}.cross")
            self.around_cross = AddNorm(d_model, dropout, pre_norm)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.around_feed_forward = AddNorm(d_model, dropout, pre_norm)

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
        """Look back over the output so far, look across at the source, think."""
        x = self.around_self(
            x, lambda y: self.self_attention(y, None, may_attend, trace=trace, cache=cache)
        )
        if self.use_cross_attention:
            x = self.around_cross(
                x,
                lambda y: self.cross_attention(
                    y, memory, memory_may_attend, trace=trace, cache=cache
                ),
            )
        x = self.around_feed_forward(x, self.feed_forward)
        if trace is not None:
            trace.keep_stream(self.name, x)
        return x
