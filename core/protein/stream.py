"""Receptors from a file one by one, so that its length does not matter.

In: a path. Out: the same Receptors that `receptors.read_receptors` gives for its text. Knows
nothing of models.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from core.protein.columns import recognise_columns
from core.protein.genes import ReceptorError
from core.protein.receptors import Receptor, fasta_receptor, read_row, triple_receptor

_LONGEST_FIELD = 100_000_000


def stream_receptors(source: Path, *, complete: bool = False) -> Iterator[Receptor]:
    """The receptors of a file one by one, without reading it whole.

    Raises ReceptorError when its first line is neither FASTA nor a known header nor
    `V CDR3 J`.
    """
    with source.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "")
        if not first:
            raise ReceptorError(f"{source} is empty.")
        if first.lstrip().startswith(">"):
            yield from _stream_fasta(first, file)
            return
        delimiter = next((d for d in "\t,;" if d in first), "\t")
        csv.field_size_limit(_LONGEST_FIELD)  # a huge field gets its own error, not the whole file
        layout = recognise_columns(next(csv.reader([first], delimiter=delimiter)))
        if layout is not None:
            rows = (row for row in csv.reader(file, delimiter=delimiter) if any(row))
            for number, row in enumerate(rows, 1):
                yield read_row(layout, row, number, complete=complete)
            return
        if triple_receptor(1, first, complete) is None:
            raise ReceptorError(
                f"{source}: the first line “{first.strip()[:80]}” is not FASTA and names no "
                "columns known here (v, cdr3, j; sequence; AIRR, VDJdb or 10x names)."
            )
        number = 0
        for line in (first, *file):
            if line.strip():
                number += 1
                yield triple_receptor(number, line, complete) or Receptor(
                    number, line.strip()[:80], error="This line is not V gene, CDR3, J gene."
                )


def _stream_fasta(first: str, rest: TextIO) -> Iterator[Receptor]:
    number, header, letters = 1, first, [""]
    for line in rest:
        if line.lstrip().startswith(">"):
            yield fasta_receptor(number, header, "".join(letters))
            number, header, letters = number + 1, line, [""]
        else:
            letters.append(line)
    yield fasta_receptor(number, header, "".join(letters))
