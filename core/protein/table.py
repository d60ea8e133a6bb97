"""A scan as rows and as CSV: the columns that the command line and the page share.

In: a chain and its (L, 20) table. Out: rows of plain values. Knows nothing of models.
"""

import csv
import io
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain
from core.protein.readout import entropy_bits, p_true

COLUMNS = ("position", "residue", "region", "p_true", "entropy_bits", *AMINO_ACIDS)


def scan_rows(
    chain: Chain, probabilities: Float[np.ndarray, "L 20"]
) -> Iterator[tuple[int | str | float, ...]]:
    """One row per residue that was scanned, in the order of COLUMNS; rows of NaN are left out."""
    truth, bits = p_true(probabilities, chain), entropy_bits(probabilities)
    for i, residue in enumerate(chain.sequence):
        if not np.isnan(probabilities[i]).any():
            region = chain.region_at(i + 1)
            numbers = (float(truth[i]), float(bits[i]), *map(float, probabilities[i]))
            yield (i + 1, residue, region, *numbers)


def scan_csv(chain: Chain, probabilities: Float[np.ndarray, "L 20"]) -> str:
    """The scan as CSV text, probabilities and bits with six decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in scan_rows(chain, probabilities):
        writer.writerow([f"{x:.6f}" if isinstance(x, float) else x for x in row])
    return text.getvalue()
