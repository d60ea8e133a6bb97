"""The encoder-decoder of "Attention Is All You Need", from token ids to vocabulary scores.

In: source and target ids, padded with 0. Out: logits (B, n_tgt, tgt_vocab). Knows nothing of
training, of letters, or of any task.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from core.transformer.attention import MultiHeadAttention
from core.transformer.cache import KeyValueCache
from core.transformer.masks import make_masks
from core.transformer.positions import PositionalEncoding
from core.transformer.shape import ModelShape
from core.transformer.stacks import Decoder, Encoder
from core.transformer.trace import Trace


class Transformer(nn.Module):
    """Embeddings, positions, encoder, decoder and generator, as one module.

    Source: Vaswani et al. 2017, figure 1. The two embeddings and the generator are separate
    matrices. `shape` holds every setting; `Transformer.from_shape` builds from one.
    """

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        d_model: int = 512,
        num_heads: int = 8,
        d_ff: int = 2048,
        num_layers: int = 6,
        dropout: float = 0.1,
        max_len: int = 5000,
        *,
        pre_norm: bool = False,
        use_positions: bool = True,
        causal: bool = True,
        use_cross_attention: bool = True,
    ):
        super().__init__()
        sizes = src_vocab, tgt_vocab, d_model, num_heads, d_ff, num_layers, dropout, max_len
        self.shape = ModelShape(*sizes, pre_norm, use_positions, causal, use_cross_attention)
        self.src_embedding = nn.Embedding(src_vocab, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab, d_model)
        self.positions = PositionalEncoding(d_model, max_len, dropout) if use_positions else None
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(self.shape)
        self.decoder = Decoder(self.shape)
        self.generator = nn.Linear(d_model, tgt_vocab)
        initialise(self)

    @classmethod
    def from_shape(cls, shape: ModelShape) -> "Transformer":
        """Build the model that `shape` describes."""
        return cls(**vars(shape))

    def forward(
        self,
        src: Int[Tensor, "B n_src"],
        tgt: Int[Tensor, "B n_tgt"],
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B n_tgt tgt_vocab"]:
        """Logits of the token after each target position (teacher forcing)."""
        src_may_attend, tgt_may_attend = make_masks(src, tgt, causal=self.shape.causal)
        memory = self.encode(src, src_may_attend, trace=trace)
        return self.generator(self.decode(tgt, memory, src_may_attend, tgt_may_attend, trace=trace))

    def encode(
        self,
        src: Int[Tensor, "B n_src"],
        src_may_attend: Bool[Tensor, "#B #n_src n_src"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B n_src d_model"]:
        """The encoder's output, which the decoder looks across at."""
        return self.encoder(self._embed(self.src_embedding, src), src_may_attend, trace=trace)

    def decode(
        self,
        tgt: Int[Tensor, "B n_tgt"],
        memory: Float[Tensor, "B n_src d_model"],
        src_may_attend: Bool[Tensor, "#B #n_tgt n_src"] | None = None,
        tgt_may_attend: Bool[Tensor, "#B #n_tgt n_key"] | None = None,
        *,
        trace: Trace | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B n_tgt d_model"]:
        """The decoder's output. With a `cache`, `tgt` holds only the tokens not yet in it."""
        offset = 0 if cache is None else cache.length
        x = self._embed(self.tgt_embedding, tgt, offset)
        return self.decoder(x, memory, tgt_may_attend, src_may_attend, trace=trace, cache=cache)

    def _embed(self, embedding: nn.Embedding, ids: Tensor, offset: int = 0) -> Tensor:
        x = embedding(ids) * math.sqrt(self.shape.d_model)
        return self.dropout(x) if self.positions is None else self.positions(x, offset)


def initialise(model: nn.Module) -> None:
    """Xavier-uniform for every matrix, zero for every bias (Glorot and Bengio 2010, eq. 16).

    A fused projection holds three square matrices; each is drawn with its own fans.
    """
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and not name.endswith("project_qkv.weight"):
            nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            for block in module.project_qkv.weight.detach().chunk(3):
                nn.init.xavier_uniform_(block)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients inside, the old mode afterwards."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)
