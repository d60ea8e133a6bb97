"""Greedy and beam search against brute force on a table, and on a model against no cache."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from core.alphabet import BOS, EOS, PAD
from core.transformer.beams import BeamSearch
from core.transformer.decoding import beam_search, greedy_decode, greedy_search
from core.transformer.masks import make_masks
from core.transformer.model import Transformer

VOCABULARY = 5  # PAD, BOS, EOS and two letters
STEPS = 4


class Table:
    """Random log-probabilities that depend on the source and the whole beginning."""

    def __init__(self, sources: int, seed: int = 0):
        self.seed = seed
        self.source = torch.arange(sources)

    def row(self, source: int, beginning: tuple[int, ...]) -> Tensor:
        generator = torch.Generator().manual_seed(hash((self.seed, source, *beginning)) % 2**31)
        logits = 2 * torch.randn(VOCABULARY, generator=generator)
        logits[:2] = -torch.inf  # never PAD or BOS
        return logits.log_softmax(-1)

    def log_probabilities(self, beginnings: Tensor) -> Tensor:
        rows = zip(self.source.tolist(), beginnings.tolist(), strict=True)
        return torch.stack([self.row(source, tuple(beginning)) for source, beginning in rows])

    def choose_rows(self, rows: Tensor) -> None:
        self.source = self.source[rows]


def every_output(table: Table, source: int, alpha: float) -> list[tuple[float, tuple[int, ...]]]:
    """Score of every sequence that ends with EOS or has STEPS tokens."""
    scored = []
    for length in range(1, STEPS + 1):
        for tokens in itertools.product(range(2, VOCABULARY), repeat=length):
            if EOS in tokens[:-1] or (tokens[-1] != EOS and length < STEPS):
                continue
            begun = [(BOS, *tokens[:n]) for n in range(length)]
            total = sum(float(table.row(source, b)[t]) for b, t in zip(begun, tokens, strict=True))
            scored.append((total / ((5 + length) / 6) ** alpha, (BOS, *tokens)))
    return sorted(scored, reverse=True)


def unpadded(row: Tensor) -> tuple[int, ...]:
    return tuple(token for token in row.tolist() if token != PAD)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_beam_of_full_width_is_brute_force(seed: int, alpha: float) -> None:
    table = Table(2, seed)
    beams = BeamSearch(Table(2, seed), 2, 3**STEPS, alpha=alpha).run(STEPS + 1)
    for source in range(2):
        expected = every_output(table, source, alpha)
        assert unpadded(beams.ids[source, 0]) == expected[0][1]
        assert float(beams.scores[source, 0]) == pytest.approx(expected[0][0], abs=1e-5)
        found = beams.scores[source].isfinite().sum()
        assert int(found) == len(expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    greedy = greedy_search(Table(3, seed), 3, STEPS + 1)
    beam = BeamSearch(Table(3, seed), 3, 1).run(STEPS + 1)
    assert [unpadded(r) for r in beam.ids[:, 0]] == [unpadded(r) for r in greedy]


def test_greedy_takes_the_most_likely_token_each_time() -> None:
    table, ids = Table(1, 7), greedy_search(Table(1, 7), 1, STEPS + 1)[0].tolist()
    for n in range(1, len(ids)):
        assert ids[n] == int(table.row(0, tuple(ids[:n])).argmax())


@pytest.mark.parametrize("width", [2, 3])
def test_finished_beams_stay_as_they_are(width: int) -> None:
    search = BeamSearch(Table(4, 2), 4, width)
    done: dict[tuple[int, tuple[int, ...]], float] = {}
    while search.beams.ids.shape[2] <= STEPS and not search.beams.finished.all():
        beams = search.keep_best(search.expand())
        for source, beam in itertools.product(range(4), range(width)):
            row, score = beams.ids[source, beam], float(beams.scores[source, beam])
            tokens = unpadded(row)
            if (source, tokens) in done:
                assert score == done[source, tokens]
            if bool(beams.finished[source, beam]):
                assert tokens[-1] == EOS
                assert int(beams.lengths[source, beam]) == len(tokens) - 1
                done[source, tokens] = score
    assert done


def test_beam_histories_follow_their_parents() -> None:
    search = BeamSearch(Table(2, 4), 2, 3)
    for _ in range(STEPS):
        old = search.beams
        new = search.keep_best(search.expand())
        for source, beam in itertools.product(range(2), range(3)):
            parent = old.ids[source, new.parents[source, beam]].tolist()
            assert new.ids[source, beam].tolist() == [*parent, int(new.tokens[source, beam])]


def test_a_beam_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        BeamSearch(Table(1), 1, 0)


def model(seed: int = 0, **settings: bool) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(11, 13, 14, 7, 17, 2, 0.1, 19, **settings)


def sources() -> Tensor:
    src = torch.randint(3, 11, (5, 7), generator=torch.Generator().manual_seed(1))
    src[1, 4:] = PAD
    return src


def slow_greedy(net: Transformer, src: Tensor, steps: int) -> Tensor:
    """Everything recomputed at every step."""
    net.eval()
    ids = torch.full((len(src), 1), BOS)
    finished = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(steps):
        best = net(src, ids)[:, -1].argmax(-1).masked_fill(finished, PAD)
        ids = torch.cat([ids, best[:, None]], 1)
        finished |= best == EOS
        if finished.all():
            break
    return ids


@pytest.mark.parametrize("settings", [{}, {"causal": False}, {"pre_norm": True}])
@pytest.mark.parametrize("seed", range(3))
def test_greedy_with_a_cache_equals_greedy_without(seed: int, settings: dict[str, bool]) -> None:
    net = model(seed, **settings)
    fast = greedy_decode(net, sources(), 12)
    assert net.training
    assert torch.equal(fast, slow_greedy(net, sources(), 11))


@pytest.mark.parametrize("settings", [{}, {"causal": False}])
def test_beam_scores_are_the_models_own(settings: dict[str, bool]) -> None:
    net, src = model(2, **settings), sources()
    best = beam_search(net, src, 3, 6)
    assert net.training
    assert best.shape[0] == 5
    net.eval()
    greedy = greedy_decode(net, src, 6)
    assert torch.equal(beam_search(net, src, 1, 6), greedy)
    for source in range(5):
        assert score_of(net, src[source], best[source]) == pytest.approx(
            max_of_beams(net, src[source : source + 1]), abs=1e-5
        )


def score_of(net: Transformer, src: Tensor, row: Tensor, alpha: float = 0.6) -> float:
    """Length-normalised log-probability of `row`, token by token, without decoding code."""
    tokens = list(unpadded(row))
    total = 0.0
    for n in range(1, len(tokens)):
        src_mask, tgt_mask = make_masks(
            src[None], torch.tensor([tokens[:n]]), causal=net.shape.causal
        )
        memory = net.encode(src[None], src_mask)
        out = net.decode(torch.tensor([tokens[:n]]), memory, src_mask, tgt_mask)
        total += float(net.generator(out[0, -1]).log_softmax(-1)[tokens[n]].detach())
    return total / math.pow((5 + len(tokens) - 1) / 6, alpha)


def max_of_beams(net: Transformer, src: Tensor) -> float:
    """Best score among the kept beams of one source decoded alone."""
    from core.transformer.decoding import ModelNextToken

    with torch.no_grad():
        beams = BeamSearch(ModelNextToken(net, src), 1, 3).run(6)
    return float(beams.scores.max())


def test_length_limit_is_the_models() -> None:
    assert greedy_decode(model(), sources(), 1000).shape[1] <= 19
    assert greedy_decode(model(), sources()).shape[1] <= 9
