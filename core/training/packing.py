"""Two strings per row, so that no place in a batch is padding.

Lengths are drawn in pairs that add up to the shortest plus the longest: each is uniform, as it
should be, and every row is full. A padded batch would spend a quarter of its work on padding.
Strings in one row never look at each other, so each gets the logits it would get alone.
"""

import math
from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from core.alphabet import BOS, EOS, FIRST_LETTER_ID, PAD
from core.training.recipe import Recipe
from core.transformer.model import Transformer


@dataclass(frozen=True)
class PackedBatch:
    """Token ids of pairs, the place of each token in its string, and which string it is of.

    Source rows hold both strings; target rows hold BOS and the reversed string, twice; labels
    are the reversed string and EOS, twice. PAD labels are not learned from.
    """

    src: Int[Tensor, "pairs n_src"]
    tgt: Int[Tensor, "pairs n_tgt"]
    labels: Int[Tensor, "pairs n_tgt"]
    src_places: Int[Tensor, "pairs n_src"]
    tgt_places: Int[Tensor, "pairs n_tgt"]
    src_is_second: Bool[Tensor, "pairs n_src"]
    tgt_is_second: Bool[Tensor, "pairs n_tgt"]

    def rows(self, start: int, step: int) -> "PackedBatch":
        """Every `step`-th row from `start`: one process's share of a joint batch."""
        return PackedBatch(*(getattr(self, f.name)[start::step] for f in fields(self)))

    def to(self, device: torch.device) -> "PackedBatch":
        """The same batch on another device."""
        return PackedBatch(*(getattr(self, f.name).to(device) for f in fields(self)))


def draw_packed(recipe: Recipe, size: int, generator: torch.Generator) -> PackedBatch:
    """`size` random strings in pairs, on the generator's device; an odd last one stands alone."""
    device, total = generator.device, recipe.min_length + recipe.max_length
    pairs = (size + 1) // 2
    first = torch.randint(
        recipe.min_length, recipe.max_length + 1, (pairs, 1), generator=generator, device=device
    )
    last_id = FIRST_LETTER_ID + len(recipe.letters)
    src = torch.randint(
        FIRST_LETTER_ID, last_id, (pairs, total), generator=generator, device=device
    )
    packed = pack_pairs(src, first)
    if size % 2:
        packed.labels[-1].masked_fill_(packed.tgt_is_second[-1], PAD)
    return packed


def pack_pairs(src: Int[Tensor, "pairs n_src"], first: Int[Tensor, "pairs 1"]) -> PackedBatch:
    """The batch in which the first `first` letters of a row are one string, the rest another."""
    total = src.shape[1]
    place = torch.arange(total + 2, device=src.device)
    src_is_second, tgt_is_second = place[:-2] >= first, place > first
    src_places = place[:-2] - src_is_second * first
    tgt_places = place - tgt_is_second * (first + 1)
    end = first + tgt_is_second * (total - first)  # where the string ends in its source row
    length = end - tgt_is_second * first
    letters = src.gather(1, (end - 1 - tgt_places).clamp(min=0))
    labels = letters.masked_fill(tgt_places == length, EOS)
    before = torch.cat([torch.full_like(first, BOS), labels[:, :-1]], 1)
    tgt = before.masked_fill(tgt_places == 0, BOS)
    return PackedBatch(src, tgt, labels, src_places, tgt_places, src_is_second, tgt_is_second)


class PackedForward(nn.Module):
    """Logits of a packed batch from a Transformer that knows nothing of packing."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model

    def forward(self, batch: PackedBatch) -> Float[Tensor, "pairs n_tgt vocabulary"]:
        """As `model(src, tgt)` would give for every string by itself."""
        model = self.model
        within_src, within_tgt, across = may_look(batch, causal=model.shape.causal)
        x = self._embed(model.src_embedding, batch.src, batch.src_places)
        memory = model.encoder(x, within_src)
        y = self._embed(model.tgt_embedding, batch.tgt, batch.tgt_places)
        return model.generator(model.decoder(y, memory, within_tgt, across))

    def _embed(self, embedding: nn.Embedding, ids: Tensor, places: Tensor) -> Tensor:
        x = embedding(ids) * math.sqrt(self.model.shape.d_model)
        positions = self.model.positions
        return self.model.dropout(x if positions is None else x + positions.table[places])


def may_look(batch: PackedBatch, *, causal: bool) -> tuple[Bool[Tensor, "pairs _ _"], ...]:
    """Who may look at whom: within the source, within the target, from the target across."""
    src, tgt = batch.src_is_second, batch.tgt_is_second
    within_tgt = _same(tgt, tgt)
    return _same(src, src), within_tgt.tril() if causal else within_tgt, _same(tgt, src)


def _same(
    query: Bool[Tensor, "pairs n_query"], key: Bool[Tensor, "pairs n_key"]
) -> Bool[Tensor, "pairs n_query n_key"]:
    return query.unsqueeze(2) == key.unsqueeze(1)
