"""Decoding one source, step by step, as plain values that can be shown.

In: a trained model and source ids. Out: for every step the candidates, their scores, and
which were kept. A beam of width 1 is greedy decoding.
"""

from dataclasses import dataclass

import torch

from core.alphabet import EOS
from core.transformer.beams import Beams, BeamSearch
from core.transformer.decoding import ModelNextToken
from core.transformer.model import Transformer, evaluating


@dataclass(frozen=True)
class Candidate:
    """One continuation that was considered.

    `beginning` are the ids so far, BOS first; `log_p` belongs to `token` alone, `total` to the
    whole output, `score` is `total` normalised for length. `token` is None for an output that
    had already ended and only waits.
    """

    beginning: tuple[int, ...]
    token: int | None
    log_p: float
    total: float
    score: float
    kept: bool


@dataclass(frozen=True)
class SearchStep:
    """What one step looked at, best first; every kept candidate is among them."""

    number: int
    candidates: tuple[Candidate, ...]

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The beams that go on, best first."""
        return tuple(candidate for candidate in self.candidates if candidate.kept)


def walk(
    model: Transformer,
    src: tuple[int, ...],
    width: int = 1,
    *,
    max_len: int | None = None,
    alpha: float = 0.6,
    top: int = 8,
) -> tuple[SearchStep, ...]:
    """Every step of beam search over one source, at most `top` candidates each.

    Raises ValueError when the source is longer than the model's table of positions.
    """
    if len(src) > model.shape.max_len:
        raise ValueError(
            f"{len(src)} letters are more than the {model.shape.max_len} positions that this "
            "model was built for."
        )
    longest = min(len(src) + 2 if max_len is None else max_len, model.shape.max_len)
    steps: list[SearchStep] = []
    with evaluating(model):
        device = next(model.parameters()).device
        scorer = ModelNextToken(model, torch.tensor([src], device=device))
        search = BeamSearch(scorer, 1, width, alpha=alpha, device=device)
        while len(steps) + 1 < longest and not search.beams.finished.all():
            steps.append(_step(search, len(steps) + 1, max(top, width)))
    return tuple(steps)


def _step(search: BeamSearch, number: int, top: int) -> SearchStep:
    before, expansion = search.beams, search.expand()
    kept = search.keep_best(expansion)
    kept_places = set(zip(kept.parents[0].tolist(), kept.tokens[0].tolist(), strict=True))
    vocabulary = expansion.scores.shape[-1]
    scores, places = expansion.scores[0].flatten().topk(min(top, expansion.scores[0].numel()))
    candidates = []
    for score, place in zip(scores.tolist(), places.tolist(), strict=True):
        beam, token = divmod(place, vocabulary)
        if score > -torch.inf:
            total, chosen = float(expansion.totals[0, beam, token]), (beam, token) in kept_places
            candidates.append(_candidate(before, beam, token, total, score, chosen))
    return SearchStep(number, tuple(candidates))


def _candidate(
    before: Beams, beam: int, token: int, total: float, score: float, kept: bool
) -> Candidate:
    beginning = _until_end(tuple(before.ids[0, beam].tolist()))
    appended = None if before.finished[0, beam] else token
    return Candidate(beginning, appended, total - float(before.totals[0, beam]), total, score, kept)


def _until_end(ids: tuple[int, ...]) -> tuple[int, ...]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids
