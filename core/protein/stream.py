"""Receptors from a file one by one, so that its length does not matter.

In: a path. Out: the same Receptors that `receptors.read_receptors` gives for its text. Knows
nothing of models.
"""

import csv
import gzip
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from core.protein.columns import recognise_columns
from core.protein.genes import ReceptorError
from core.protein.receptors import Receptor, cells, fasta_receptor, read_row, triple_receptor

_LONGEST_FIELD = 100_000_000


def stream_receptors(source: Path, *, complete: bool = False) -> Iterator[Receptor]:
    """The receptors of a file one by one, without reading it whole.

    Raises ReceptorError when its first line is neither FASTA nor a known header nor
    `V CDR3 J`.
    """
    with _open(source) as file:
        first = next((line for line in file if line.strip()), "")
        if not first:
            raise ReceptorError(f"{source} is empty.")
        if first.lstrip().startswith(">"):
            yield from _stream_fasta(first, file)
            return
        delimiter = next((d for d in "\t,;" if d in first), "\t")
        csv.field_size_limit(_LONGEST_FIELD)  # a huge field gets its own error, not the whole file
        layout = recognise_columns(cells(first, delimiter))
        if layout is not None:
            rows = (cells(line, delimiter) for line in file)
            for number, row in enumerate(filter(any, rows), 1):
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


def _open(source: Path) -> TextIOWrapper:
    """A text file, also packed with gzip or in the UTF-16 that spreadsheets write."""
    with source.open("rb") as file:
        start = file.read(2)
    if start == b"PK":
        raise ReceptorError(f"{source} is a spreadsheet or an archive: save it as CSV or TSV.")
    encoding = "utf-16" if start in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    if start == b"\x1f\x8b":
        return gzip.open(source, "rt", newline="", encoding=encoding, errors="replace")
    return source.open(newline="", encoding=encoding, errors="replace")


def _stream_fasta(first: str, rest: TextIOWrapper) -> Iterator[Receptor]:
    number, header, letters = 1, first, [""]
    for line in rest:
        if line.lstrip().startswith(">"):
            yield fasta_receptor(number, header, "".join(letters))
            number, header, letters = number + 1, line, [""]
        else:
            letters.append(line)
    yield fasta_receptor(number, header, "".join(letters))
