"""Receptors from a file one by one, so that its length does not matter.

In: a path. Out: the same Receptors that `receptors.read_receptors` gives for its text. Knows
nothing of models.
"""

import csv
import gzip
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from core.protein.genes import ReceptorError
from core.protein.receptors import ONE_CHAIN, Receptor, read_lines
from core.protein.rows import Reading

_LONGEST_FIELD = 100_000_000


def stream_receptors(source: Path, how: Reading) -> Iterator[Receptor]:
    """The receptors of a file one by one, without reading it whole.

    Raises ReceptorError when its first line is neither FASTA nor a known header nor
    `V CDR3 J`.
    """
    csv.field_size_limit(_LONGEST_FIELD)  # a huge field gets its own error, not the whole file
    with _open(source) as file:
        try:
            kind, receptors = read_lines(file, how)
        except ReceptorError as problem:
            raise ReceptorError(f"{source}: {problem}") from problem
        if kind == ONE_CHAIN:
            raise ReceptorError(
                f"{source}: the first line is not FASTA and names no columns known here (v, cdr3, "
                "j; sequence; AIRR, VDJdb or 10x names)."
            )
        yield from receptors


def _open(source: Path) -> TextIOWrapper:
    """A text file, also packed with gzip or in the UTF-16 that spreadsheets write."""
    with source.open("rb") as file:
        start = file.read(2)
    if start == b"PK":
        raise ReceptorError(f"{source} is a spreadsheet or an archive: save it as CSV or TSV.")
    encoding = "utf-16" if start in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    if start == b"\x1f\x8b":
        return gzip.open(source, "rt", encoding=encoding, errors="replace")
    return source.open(encoding=encoding, errors="replace")
