"""Writing an output token by token: greedy decoding, and beam search with a model plugged in.

The encoder runs once, and under a causal mask each step computes one new position.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.alphabet import BOS, EOS, PAD
from core.transformer.beams import BeamSearch, NextToken
from core.transformer.cache import KeyValueCache
from core.transformer.masks import padding_mask
from core.transformer.model import Transformer, evaluating


class ModelNextToken:
    """A Transformer and its encoded sources, as a NextToken."""

    def __init__(self, model: Transformer, src: Int[Tensor, "B n_src"]):
        self._model = model
        self._src_may_attend = padding_mask(src)
        self._memory = model.encode(src, self._src_may_attend)
        # Without the causal mask a new token changes every earlier position too.
        self._cache = KeyValueCache() if model.shape.causal else None

    def log_probabilities(
        self, beginnings: Int[Tensor, "rows n"]
    ) -> Float[Tensor, "rows vocabulary"]:
        """One decoder step for every row."""
        held = 0 if self._cache is None else self._cache.length
        # Padding is the whole mask: with a cache the only query is the last token, which has
        # no future, and without one the model is not causal.
        out = self._model.decode(
            beginnings[:, held:],
            self._memory,
            self._src_may_attend,
            padding_mask(beginnings),
            cache=self._cache,
        )
        return self._model.generator(out[:, -1]).log_softmax(-1)

    def choose_rows(self, rows: Int[Tensor, " chosen"]) -> None:
        """Reorder everything that is kept per row."""
        self._memory, self._src_may_attend = self._memory[rows], self._src_may_attend[rows]
        if self._cache is not None:
            self._cache.choose_rows(rows)


def greedy_search(
    scorer: NextToken,
    rows: int,
    max_len: int,
    *,
    bos: int = BOS,
    eos: int = EOS,
    pad: int = PAD,
    device: torch.device | str | None = None,
) -> Int[Tensor, "rows n"]:
    """From BOS, append the most likely token until every row has EOS or n = max_len.

    After its EOS a row is filled with `pad`.
    """
    ids = torch.full((rows, 1), bos, device=device)
    finished = torch.zeros(rows, dtype=torch.bool, device=device)
    while ids.shape[1] < max_len and not finished.all():
        best = scorer.log_probabilities(ids).argmax(-1).masked_fill(finished, pad)
        ids = torch.cat([ids, best[:, None]], 1)
        finished |= best == eos
    return ids


def greedy_decode(
    model: Transformer, src: Int[Tensor, "B n_src"], max_len: int | None = None
) -> Int[Tensor, "B n"]:
    """Greedy output ids for every source row, BOS first, PAD after EOS.

    `max_len` counts BOS and EOS; by default n_src + 2, enough for an output as long as the
    source. The model's train or eval mode is restored.
    """
    with evaluating(model):
        scorer = ModelNextToken(model, src)
        return greedy_search(scorer, len(src), _longest(model, src, max_len), device=src.device)


def beam_search(
    model: Transformer,
    src: Int[Tensor, "B n_src"],
    width: int = 4,
    max_len: int | None = None,
    *,
    alpha: float = 0.6,
) -> Int[Tensor, "B n"]:
    """The best-scoring output ids of every source row, BOS first, PAD after EOS.

    `max_len` as in `greedy_decode`. The model's train or eval mode is restored.
    """
    with evaluating(model):
        scorer = ModelNextToken(model, src)
        search = BeamSearch(scorer, len(src), width, alpha=alpha, device=src.device)
        return search.run(_longest(model, src, max_len)).ids[:, 0]


def _longest(model: Transformer, src: Tensor, max_len: int | None) -> int:
    wanted = src.shape[1] + 2 if max_len is None else max_len
    return min(wanted, model.shape.max_len)
