"""What V(D)J recombination alone says about the default receptor's CDR3, from a shipped table.

In: a chain. Out: exact probabilities where the table knows them, else nothing. The table's recipe
and provenance are in assets/recombination_yardstick.md; nothing is computed here.
"""

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain
from core.settings import ASSETS

SOURCE = "OLGA 1.3.0 (Sethna et al., 2019), human T-cell beta model"
GENES_GIVEN, NOTHING_GIVEN = "TRBV19*01 and TRBJ2-7*01", "nothing"


@dataclass(frozen=True)
class Yardstick:
    """Exact probability of each letter of a CDR3 given all its others, by recombination alone.

    `probabilities` is (CDR3 length, 20) in the order of AMINO_ACIDS; `given` says what else was
    known; `pgen` is the generation probability of the whole CDR3.
    """

    given: str
    cdr3: str
    pgen: float
    probabilities: Float[np.ndarray, "n 20"]

    @property
    def p_true(self) -> Float[np.ndarray, " n"]:
        """Probability of the true letter at each place."""
        columns = [AMINO_ACIDS.index(letter) for letter in self.cdr3]
        return self.probabilities[np.arange(len(columns)), columns]


def yardsticks(chain: Chain) -> tuple[Yardstick, ...]:
    """The yardsticks for this chain's CDR3, the sharper first; empty when the table lacks it.

    The one that takes the genes as given is returned only for a chain of these genes.
    """
    known = [
        y for y in _table(ASSETS / "recombination_yardstick.csv") if y.cdr3 == chain.cdr3_sequence
    ]
    genes = f"{chain.v_gene} and {chain.j_gene}"
    return tuple(y for y in known if y.given in {genes, NOTHING_GIVEN})


@lru_cache(maxsize=1)
def _table(path: Path) -> tuple[Yardstick, ...]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for given in dict.fromkeys(row["given"] for row in rows):
        of_it = [row for row in rows if row["given"] == given]
        cdr3 = "".join(row["residue"] for row in of_it)
        numbers = np.array([[float(row[letter]) for letter in AMINO_ACIDS] for row in of_it])
        numbers /= numbers.sum(axis=1, keepdims=True)  # six digits were written
        found.append(Yardstick(given, cdr3, float(of_it[0]["pgen"]), numbers))
    return tuple(found)
