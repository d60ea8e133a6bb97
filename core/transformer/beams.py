"""Beam search, one step at a time.

It knows nothing of Transformers: like the greedy search it asks a `NextToken` for
log-probabilities, so that a test can put a table of numbers in its place.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from core.alphabet import BOS, EOS, PAD


@runtime_checkable
class NextToken(Protocol):
    """Whatever can score the next token of a batch of beginnings."""

    def log_probabilities(
        self, beginnings: Int[Tensor, "rows n"]
    ) -> Float[Tensor, "rows vocabulary"]:
        """log p(next token | beginning) for each row; called once per step, n growing by 1."""

    def choose_rows(self, rows: Int[Tensor, " chosen"]) -> None:
        """From now on row i continues what was row `rows[i]`."""


def length_normaliser(length: Int[Tensor, "*any"], alpha: float) -> Float[Tensor, "*any"]:
    """((5 + length) / 6)^alpha, what a log-probability is divided by.

    Source: Wu et al. 2016, equation 14; the Transformer paper uses alpha = 0.6.
    """
    return ((5 + length) / 6) ** alpha


@dataclass(frozen=True)
class Beams:
    """The k best beginnings of every source, best first.

    `totals` are summed log-probabilities, `lengths` count tokens after BOS up to and with EOS,
    `scores` are length-normalised totals. `parents` says which beam of the step before each
    one continues, `tokens` what was appended.
    """

    ids: Int[Tensor, "B k n"]
    totals: Float[Tensor, "B k"]
    lengths: Int[Tensor, "B k"]
    scores: Float[Tensor, "B k"]
    finished: Bool[Tensor, "B k"]
    parents: Int[Tensor, "B k"]
    tokens: Int[Tensor, "B k"]


@dataclass(frozen=True)
class Expansion:
    """Every continuation of every beam at one step, before the best k are kept."""

    totals: Float[Tensor, "B k vocabulary"]
    scores: Float[Tensor, "B k vocabulary"]


class BeamSearch:
    """Beam search, one step at a time; `run` takes all steps.

    All k beams of a source start as BOS, but only the first counts at the first step. A
    finished beam has one continuation, PAD, that costs nothing, so it stays as it is.
    """

    def __init__(
        self,
        scorer: NextToken,
        sources: int,
        width: int,
        *,
        alpha: float = 0.6,
        bos: int = BOS,
        eos: int = EOS,
        pad: int = PAD,
        device: torch.device | str | None = None,
    ):
        if width < 1:
            raise ValueError(f"The beam is {width} wide; it must keep at least 1 output.")
        self._scorer, self._alpha, self._eos, self._pad = scorer, alpha, eos, pad
        shape = (sources, width)
        zeros = torch.zeros(shape, dtype=torch.long, device=device)
        totals = torch.full(shape, -torch.inf, device=device)
        totals[:, 0] = 0.0
        start = torch.full((*shape, 1), bos, device=device)
        self.beams = Beams(start, totals, zeros, totals, zeros.bool(), zeros, zeros + bos)
        scorer.choose_rows(torch.arange(sources, device=device).repeat_interleave(width))

    def expand(self) -> Expansion:
        """Score every continuation of the current beams."""
        sources, width, _ = self.beams.ids.shape
        log_p = self._scorer.log_probabilities(self.beams.ids.flatten(0, 1))
        log_p = log_p.unflatten(0, (sources, width))
        log_p = log_p.masked_fill(self.beams.finished[..., None], -torch.inf)
        log_p[..., self._pad] = log_p[..., self._pad].masked_fill(self.beams.finished, 0.0)
        totals = self.beams.totals[..., None] + log_p
        lengths = self.beams.lengths + (~self.beams.finished).long()
        return Expansion(totals, totals / length_normaliser(lengths, self._alpha)[..., None])

    def keep_best(self, expansion: Expansion) -> Beams:
        """Keep the k continuations of each source with the best normalised score."""
        old = self.beams
        sources, width, vocabulary = expansion.scores.shape
        scores, chosen = expansion.scores.flatten(1).topk(width)
        parents, tokens = chosen // vocabulary, chosen % vocabulary
        was_finished = old.finished.gather(1, parents)
        history = old.ids.gather(1, parents[..., None].expand(-1, -1, old.ids.shape[2]))
        self.beams = Beams(
            ids=torch.cat([history, tokens[..., None]], 2),
            totals=expansion.totals.flatten(1).gather(1, chosen),
            lengths=old.lengths.gather(1, parents) + (~was_finished).long(),
            scores=scores,
            finished=was_finished | (tokens == self._eos),
            parents=parents,
            tokens=tokens,
        )
        first_rows = torch.arange(sources, device=parents.device)[:, None] * width
        self._scorer.choose_rows((first_rows + parents).flatten())
        return self.beams

    def run(self, max_len: int) -> Beams:
        """Step until every kept beam is finished or has `max_len` tokens, BOS included."""
        while self.beams.ids.shape[2] < max_len and not self.beams.finished.all():
            self.keep_best(self.expand())
        return self.beams
