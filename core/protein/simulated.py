"""Training chains for TRB-mini, from receptors that a recombination model made.

In: the four columns (nucleotides, CDR3, V, J; no header) that `olga-generate_sequences` writes.
Out: amino-acid chains with their regions. Knows nothing of training.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.protein.chain import Chain
from core.protein.genes import ReceptorError, standard_allele
from core.protein.germline import assemble

LONGEST_CDR3 = 24
SHARE_WITH_LEADER = 0.5
SHARE_CUT = 0.3


def simulated_chains(path: Path, seed: int) -> Iterator[Chain]:
    """The chains of a file, in its order; receptors without a usable germline are left out.

    TRBV19 carries its published leader half of the time; of the others, 30 % start at a random
    place in V, so that the model also meets chains that were cut. Raises ReceptorError when the
    file is not UTF-8 text.
    """
    random = np.random.default_rng(seed)
    with path.open(encoding="utf-8") as file:
        try:
            for line in file:
                chain = _chain(line.rstrip("\n").split("\t"), random)
                if chain is not None:
                    yield chain
        except UnicodeDecodeError as problem:
            raise ReceptorError(
                f"{path} is not UTF-8 text: give what olga-generate_sequences wrote, unpacked."
            ) from problem


def _chain(columns: list[str], random: np.random.Generator) -> Chain | None:
    if len(columns) < 4 or not 3 < len(columns[1]) <= LONGEST_CDR3:
        return None
    v, j = _allele(columns[2], "V"), _allele(columns[3], "J")
    if v is None or j is None:
        return None
    try:
        chain = assemble(v, columns[1], j, leader=random.random() < SHARE_WITH_LEADER)
    except ValueError:
        return None  # a stop codon, or an end that is not F
    if chain.leader_end == 0 and random.random() < SHARE_CUT:
        return _cut(chain, int(random.integers(1, chain.cdr3_positions.start - 1)))
    return chain


def _cut(chain: Chain, missing: int) -> Chain:
    """The chain without its first `missing` residues."""
    first, last = chain.cdr3_positions.start, chain.cdr3_positions.stop - 1
    return Chain(chain.sequence[missing:], chain.name, cdr3=(first - missing, last - missing))


@lru_cache(maxsize=512)
def _allele(name: str, kind: str) -> str | None:
    try:
        return standard_allele(name, kind)[0]
    except ReceptorError:
        return None
