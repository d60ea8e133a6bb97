"""Receptors from a file one by one, so that its length does not matter; the text of its bytes.

In: a path, or bytes. Out: the same Receptors that `receptors.read_receptors` gives for its text.
Knows nothing of models.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

from core.protein.genes import ReceptorError
from core.protein.receptors import MAX_CHARACTERS, ONE_CHAIN, Receptor, read_lines
from core.protein.rows import Reading

_LONGEST_FIELD = 100_000_000
_PACKED = b"\x1f\x8b"  # how gzip files begin
_START = 64  # bytes that tell how the others are to be read
_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


def stream_receptors(source: Path, how: Reading) -> Iterator[Receptor]:
    """The receptors of a file one by one, without reading it whole.

    Raises ReceptorError when its first line is neither FASTA nor a known header nor
    `V CDR3 J`, and where a packed file breaks off.
    """
    try:
        yield from _receptors(source, how)
    except _DAMAGED as problem:
        raise ReceptorError(f"{source} is cut short or damaged: pack it again.") from problem


def _receptors(source: Path, how: Reading) -> Iterator[Receptor]:
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


def text_of(data: bytes) -> str:
    """The text of a whole file's bytes, stored in any way that `stream_receptors` reads.

    Raises ReceptorError when it is no text or a packed file is damaged or huge.
    """
    if data[:2] == _PACKED:
        data = _unpacked(data)
    try:
        return data.decode(_encoding(data[:_START], "This"))
    except UnicodeDecodeError as problem:
        raise ReceptorError(
            f"This is not text (byte {problem.start + 1} is not UTF-8): save it as a plain TSV, "
            "CSV or FASTA file."
        ) from problem


def _unpacked(data: bytes) -> bytes:
    most = 4 * MAX_CHARACTERS  # bytes: as many characters may be told apart
    try:
        with gzip.open(BytesIO(data)) as file:
            text = file.read(most + 1)
    except _DAMAGED as problem:
        raise ReceptorError("The packed file is cut short or damaged: pack it again.") from problem
    if len(text) > most:
        raise ReceptorError(f"Unpacked, this is more than the {most:,} bytes read here: split it.")
    return text


def _encoding(start: bytes, what: str) -> str:
    """The encoding of a file, called `what`, that begins with these bytes."""
    if start[:2] == b"PK":
        raise ReceptorError(f"{what} is a spreadsheet or an archive: save it as CSV or TSV.")
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return "utf-16"
    # The letters of these files take one byte of UTF-16's two.
    if len(start) > 1 and any(start) and not (any(start[::2]) and any(start[1::2])):
        raise ReceptorError(f"{what} is UTF-16 without a mark at its start: save it as UTF-8.")
    return "utf-8-sig"


def _open(source: Path) -> TextIOWrapper:
    """A text file, also packed with gzip or in the UTF-16 that spreadsheets write."""
    with source.open("rb") as file:
        start = file.read(_START)
    if start[:2] != _PACKED:
        return source.open(encoding=_encoding(start, str(source)), errors="replace")
    with gzip.open(source) as packed:
        start = packed.read(_START)
    return gzip.open(source, "rt", encoding=_encoding(start, str(source)), errors="replace")
