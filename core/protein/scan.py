"""Hide every residue of a chain in turn: the (L, 20) table of guesses.

In: a model and a chain. Out: probabilities, in steps so that a page can draw a bar and stop.
Knows nothing of files or figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.protein.chain import Chain
from core.protein.model import LanguageModel

BATCH = 8


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
) -> Iterator[Progress]:
    """One masked copy per residue, `batch` copies at a time; stop iterating to cancel.

    `positions` (1-based) limits the scan; all other rows stay NaN.
    """
    todo = list(positions) if positions is not None else list(range(1, len(chain) + 1))
    table, outside = np.full((len(chain), 20), np.nan), np.full(len(chain), np.nan)
    for start in range(0, len(todo), batch):
        part = todo[start : start + batch]
        rows = np.array(part) - 1
        table[rows], outside[rows] = model.guess_hidden(chain, part)
        yield Progress(start + len(part), len(todo), table.copy(), outside.copy())


def scan(
    model: LanguageModel,
    chain: Chain,
    *,
    positions: Sequence[int] | None = None,
    batch: int = BATCH,
) -> Float[np.ndarray, "L 20"]:
    """Probabilities of the 20 residues (order of AMINO_ACIDS) at every position, each hidden."""
    table = np.full((len(chain), 20), np.nan)
    for step in scan_steps(model, chain, positions=positions, batch=batch):
        table = step.probabilities
    return table


def scan_chains(
    model: LanguageModel, chains: Sequence[Chain], *, batch: int = BATCH
) -> list[Float[np.ndarray, "_ 20"]]:
    """The tables of several chains, in their order."""
    return [scan(model, chain, batch=batch) for chain in chains]
