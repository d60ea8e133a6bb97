"""Receptor files as immunologists have them: FASTA, AIRR, VDJdb, 10x, or plain columns.

In: the text of a file or of a paste. Out: one Receptor per record, each with a chain or with a
sentence saying why there is none. Nothing is completed silently. Knows nothing of models.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

from core.protein.chain import Chain
from core.protein.columns import Layout, recognise_columns, value
from core.protein.genes import ReceptorError, species_name
from core.protein.germline import assemble
from core.protein.recognise import from_sequence
from core.protein.rows import Reading, chain_of_row

MAX_CHARACTERS = 20_000_000
MAX_RECEPTORS = 10_000
_GENE = r"((?:TR|TCR)?[ABGD]?%s\w*\d[^\s,;]*)"
_TRIPLE = re.compile(rf"\s*{_GENE % 'V'}[\s,;]+([^\s,;]+)[\s,;]+{_GENE % 'J'}\s*$", re.I)
ONE_CHAIN = "one chain"


@dataclass(frozen=True)
class Receptor:
    """One record: `chain`, or `error` saying why there is none. `fields` are its columns."""

    number: int
    name: str
    chain: Chain | None = None
    error: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed or cleaned."""
        return self.chain.notes if self.chain else ()


@dataclass(frozen=True)
class ReceptorFile:
    """What a file holds: the format it was read as, and its receptors in order."""

    format: str
    receptors: tuple[Receptor, ...]

    @property
    def good(self) -> tuple[Receptor, ...]:
        """The receptors that have a chain."""
        return tuple(r for r in self.receptors if r.chain is not None)


def read_receptors(text: str, *, complete: bool = False, species: str = "human") -> ReceptorFile:
    """All receptors of a file or paste; a record that cannot be read keeps its place and error.

    Reads FASTA, tables with a header (AIRR, VDJdb, 10x, or columns such as v, cdr3, j or
    sequence; tab, comma or semicolon), lines such as `TRBV19 CASSIRSSYEQYF TRBJ2-7`, and one
    plain chain. `complete` and `species` as in `Reading`. Raises ReceptorError when there is
    nothing to read or far too much.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReceptorError(
            f"This is more than the {MAX_CHARACTERS:,} characters read here; the command "
            "`python -m core.protein scan-many` has no such limit."
        )
    lines = io.StringIO(text.lstrip("\ufeff"), newline=None)
    kind, records = read_lines(lines, Reading(complete, species))
    receptors = tuple(islice(records, MAX_RECEPTORS + 1))
    if len(receptors) > MAX_RECEPTORS:
        raise ReceptorError(
            f"More than {MAX_RECEPTORS:,} receptors: split the file or use "
            "`python -m core.protein scan-many`, which has no such limit."
        )
    return ReceptorFile(kind, receptors)


def read_lines(lines: Iterator[str], how: Reading) -> tuple[str, Iterator[Receptor]]:
    """The format of a text, from its first line, and its receptors one by one.

    Raises ReceptorError when there is nothing to read or the names of the columns say nothing.
    """
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise ReceptorError(
            "There is nothing to read: give a chain, FASTA or a table of receptors."
        )
    if first.lstrip().startswith(">"):
        return "FASTA", _fasta(first, lines, how)
    delimiter = next((d for d in "\t,;" if d in first), None)
    layout = recognise_columns(cells(first, delimiter or "\t"))
    if layout is not None:
        return layout.format, _table(
            layout, (cells(line, delimiter or "\t") for line in lines), how
        )
    if _TRIPLE.match(first):
        return "V CDR3 J", _triples(chain([first], lines), how)
    if delimiter:
        raise ReceptorError(
            f"The columns “{first.strip()[:80]}” are not known here. Name them v, cdr3, j (or "
            "sequence), or keep the names of AIRR, VDJdb or 10x."
        )
    return ONE_CHAIN, _one_chain(first, lines, how)


def cells(line: str, delimiter: str) -> list[str]:
    """The cells of one line. Lines are read alone: a lost quotation mark costs its own row only."""
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _table(layout: Layout, rows: Iterator[list[str]], how: Reading) -> Iterator[Receptor]:
    there = (row for row in rows if any(cell.strip() for cell in row))
    for number, row in enumerate(there, 1):
        fields = dict(zip(layout.header, row, strict=False))
        name = value(layout, row, "name") or f"row {number}"
        yield _attempt(number, name, fields, partial(chain_of_row, layout, row, name, how))


def _triples(lines: Iterator[str], how: Reading) -> Iterator[Receptor]:
    for number, line in enumerate(filter(str.strip, lines), 1):
        yield _attempt(number, line.strip()[:80], {}, partial(_chain_of_triple, line.strip(), how))


def _fasta(header: str, lines: Iterator[str], how: Reading) -> Iterator[Receptor]:
    letters: list[str] = []
    number = 1
    for line in lines:
        if line.lstrip().startswith(">"):
            yield _fasta_record(number, header, letters, how)
            number, header, letters = number + 1, line, []
        else:
            letters.append(line)
    yield _fasta_record(number, header, letters, how)


def _fasta_record(number: int, header: str, letters: list[str], how: Reading) -> Receptor:
    name = header.strip().lstrip(">").strip() or f"record {number}"
    return _attempt(number, name, {}, partial(_pasted, "".join(letters), how, name))


def _one_chain(first: str, lines: Iterator[str], how: Reading) -> Iterator[Receptor]:
    yield _attempt(1, "chain", {}, partial(_pasted, first + "".join(lines), how))


def _pasted(letters: str, how: Reading, name: str | None = None) -> Chain:
    return from_sequence(letters, name=name, species=species_name(how.species))


def _chain_of_triple(line: str, how: Reading) -> Chain:
    triple = _TRIPLE.match(line)
    if triple is None:
        raise ReceptorError("This line is not V gene, CDR3, J gene.")
    return assemble(*triple.groups(), species=species_name(how.species), complete=how.complete)


def _attempt(number: int, name: str, fields: dict[str, str], make: Callable[[], Chain]) -> Receptor:
    try:
        return Receptor(number, name, make(), "", fields)
    except ValueError as problem:
        return Receptor(number, name, None, str(problem), fields)
