"""Hide every residue of a chain in turn: the (L, 20) table of guesses.

In: a model and a chain. Out: probabilities, in steps so that a page can draw a bar and stop.
Knows nothing of files or figures.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.protein.chain import Chain
from core.protein.fast import FastModel
from core.protein.model import LanguageModel

BATCH = 8
# Below this many positions packing the weights costs more than it saves.
WORTH_PACKING = 24


@dataclass(frozen=True)
class Progress:
    """`done` of `total` positions guessed; rows that are still to come hold NaN.

    `probabilities` is (L, 20) in the order of AMINO_ACIDS, `outside` (L,) the mass on anything
    else. Each step carries its own copies.
    """

    done: int
    total: int
    probabilities: Float[np.ndarray, "L 20"]
    outside: Float[np.ndarray, " L"]


def scan_steps(
    model: LanguageModel,
    chain: Chain,
    *,
    positions: Sequence[int] | None = None,
    batch: int = BATCH,
    packed: FastModel | None = None,
    threads: int = 1,
) -> Iterator[Progress]:
    """One masked copy per residue, `batch` copies at a time; stop iterating to cancel.

    `positions` (1-based) limits the scan; all other rows stay NaN. `packed` weights, from
    `model.packed`, may be shared between scans. `threads` batches are computed at once, which
    helps when torch itself is told to use one thread (see `scan_chains`).
    """
    todo = list(positions) if positions is not None else list(range(1, len(chain) + 1))
    if packed is None and len(todo) >= WORTH_PACKING:
        packed = model.packed(batch * len(model.tokens(chain)))
    table, outside = np.full((len(chain), 20), np.nan), np.full(len(chain), np.nan)
    parts = [todo[start : start + batch] for start in range(0, len(todo), batch)]
    answers, done = _answers(model, chain, parts, packed, threads), 0
    for part, (probabilities, rest) in zip(parts, answers, strict=True):
        rows, done = np.array(part) - 1, done + len(part)
        table[rows], outside[rows] = probabilities, rest
        yield Progress(done, len(todo), table.copy(), outside.copy())


def _answers(
    model: LanguageModel,
    chain: Chain,
    parts: Sequence[Sequence[int]],
    packed: FastModel | None,
    threads: int,
) -> Iterator[tuple[Float[np.ndarray, "n 20"], Float[np.ndarray, " n"]]]:
    """What the model says of each part, in order."""
    if threads == 1:  # no pool: Python's end would wait for all that it still has to do
        for part in parts:
            yield model.guess_hidden(chain, part, packed)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(lambda part: model.guess_hidden(chain, part, packed), parts)
    finally:
        pool.shutdown(cancel_futures=True)


def scan(
    model: LanguageModel,
    chain: Chain,
    *,
    positions: Sequence[int] | None = None,
    batch: int = BATCH,
    packed: FastModel | None = None,
    threads: int = 1,
) -> Float[np.ndarray, "L 20"]:
    """Probabilities of the 20 residues (order of AMINO_ACIDS) at every position, each hidden."""
    table = np.full((len(chain), 20), np.nan)
    for step in scan_steps(
        model, chain, positions=positions, batch=batch, packed=packed, threads=threads
    ):
        table = step.probabilities
    return table


def scan_chains(
    model: LanguageModel,
    chains: Sequence[Chain],
    *,
    batch: int = BATCH,
    packed: FastModel | None = None,
    threads: int = 1,
    cdr3_only: bool = False,
) -> list[Float[np.ndarray, "_ 20"]]:
    """The tables of several chains, in their order; `threads` of them at once.

    `cdr3_only` leaves the rows outside the CDR3 NaN; a chain without a CDR3 is scanned whole.

    More threads than one help when torch itself is told to use one (`torch.set_num_threads`):
    whole chains side by side waste less than single products shared between processors.
    """
    if packed is None and chains:
        packed = model.packed(batch * max(len(chain) for chain in chains))

    def one(chain: Chain) -> Float[np.ndarray, "_ 20"]:
        positions = list(chain.cdr3_positions) if cdr3_only and chain.cdr3 else None
        return scan(model, chain, positions=positions, batch=batch, packed=packed)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, chains))
