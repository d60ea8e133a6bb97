"""Numbers that the traps page quotes of the toy, from its raw matrices and plain arithmetic."""

import math

import numpy as np
import pytest

from core.toy.block import block_weights
from core.toy.heads import HEADS
from core.toy.residue_vectors import residue_vectors
from core.traps.parts import parts
from core.traps.questions_attention import positions
from core.traps.questions_block import one_layer
from tests.typed import typed

SEQUENCE = "CASSIRSSYEQYF"
X = residue_vectors(SEQUENCE)


def heads(x: np.ndarray) -> np.ndarray:
    """(L, 8): what the four heads gather, side by side."""
    blended = []
    for head in HEADS:
        scores = np.exp((x @ head.w_q) @ (x @ head.w_k).T / math.sqrt(head.w_q.shape[1]))
        blended.append(scores / scores.sum(1, keepdims=True) @ (x @ head.w_v))
    return np.concatenate(blended, 1)


def talk(x: np.ndarray) -> np.ndarray:
    return heads(x) @ block_weights().w_o


def think(x: np.ndarray) -> np.ndarray:
    w = block_weights()
    inner = x @ w.w_1
    hidden = inner * np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(inner)
    return hidden @ w.w_2


def normed(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def block(x: np.ndarray) -> np.ndarray:
    between = x + talk(normed(x))
    return between + think(normed(between))


def shuffled_apart(order: list[int], *, stamped: bool) -> float:
    letters = "".join(SEQUENCE[i] for i in order)
    before, after = (block(residue_vectors(s, positions=stamped)) for s in (SEQUENCE, letters))
    return float(np.abs(after - before[order]).max())


def test_how_far_each_order_misses_the_block():
    post = normed(X + talk(X))
    first = X + think(normed(X))
    orders = [
        normed(post + think(post)),
        first + talk(normed(first)),
        block(X),
        think(normed(talk(normed(X)))),
    ]
    for said, result in zip(one_layer().evidence, orders, strict=True):
        apart = np.abs(result - block(X)).max()
        if result is orders[2]:
            assert float(typed(said).split("(difference ")[1].rstrip(").")) < 1e-12
        else:
            assert said.endswith(f"miss the block's output by up to {apart:.2f}.")


def test_what_a_shuffle_changes():
    question = positions()
    letters = question.prompt.split("shuffled to ")[1].split(".")[0]
    said = next(line.measured for line in parts() if line.name == "Positional encoding")
    random = np.random.default_rng(0)
    order = random.permutation(13).tolist()
    assert "".join(SEQUENCE[i] for i in order) == letters
    on, off = (shuffled_apart(order, stamped=stamped) for stamped in (True, False))
    assert off < 1e-12
    assert f"With positions they move by up to {on:.2f}." in question.evidence[0]
    assert float(typed(question.evidence[0]).split("difference ")[1].split(",")[0]) < 1e-12
    assert said.startswith(f"a shuffle changes {on:.2f} with it, ")
    assert float(typed(said).split()[-2]) < 1e-12


def test_the_parts_that_read_the_toy():
    said = {line.name: line.measured for line in parts()}
    serines = heads(X)[[2, 3, 6, 7]].round(6)
    kinds = [len({tuple(row) for row in rows}) for rows in (serines[:, :4], serines)]
    assert said["Several heads"] == (
        f"4 serines: {kinds[0]} vector from two heads, {kinds[1]} from four"
    )
    alone = normed(X[5:6])
    assert said["LayerNorm"] == (
        f"R6 alone or among 13: difference {np.abs(normed(X)[5] - alone).max():.1g}; "
        f"spread {alone.std():.2f}"
    )


@pytest.mark.parametrize(("shortcut", "shown"), [(0, "{:.2f} of its length"), (1, "{:.1f} with")])
def test_what_is_left_of_a_gradient(shortcut, shown):
    lengths = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        x, ways = random.normal(size=64), []
        for _ in range(24):
            w = random.uniform(-1, 1, (64, 64)) * math.sqrt(3 / 64)
            slope = 1 / np.cosh(w @ x) ** 2
            ways.append(slope[:, None] * w + shortcut * np.eye(64))
            x = np.tanh(w @ x) + shortcut * x
        back = start = random.normal(size=64)
        for way in reversed(ways):
            back = back @ way
        lengths.append(math.log(np.linalg.norm(back) / np.linalg.norm(start)))
    said = next(line.measured for line in parts() if line.name == "Residual connection")
    assert shown.format(math.exp(np.mean(lengths))) in said
    assert said.startswith("after 24 layers a gradient has ")
