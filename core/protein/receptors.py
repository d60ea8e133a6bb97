"""Receptor files as immunologists have them: FASTA, AIRR, VDJdb, 10x, or plain columns.

In: the text of a file or of a paste. Out: one Receptor per record, each with a chain or with a
sentence saying why there is none. Nothing is completed silently. Knows nothing of models.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

from core.protein.chain import Chain
from core.protein.columns import Layout, cells, lacking, recognise_columns, value
from core.protein.genes import ReceptorError, species_name
from core.protein.germline import assemble
from core.protein.recognise import from_sequence
from core.protein.rows import Reading, chain_of_row

MAX_CHARACTERS = 20_000_000
MAX_RECEPTORS = 10_000
_V, _J = (re.compile(rf"(?:TR|TCR)?[ABGD]?{kind}(?:\w*\d\S*|P)", re.I) for kind in "VJ")
_CDR3 = re.compile(r"C[A-Z]{4,28}[FW]", re.I)
_READ_HERE = (
    "Name them v, cdr3, j (or sequence), or keep the names of AIRR, VDJdb, 10x, MiXCR or Adaptive."
)
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
    sequence; tab, comma, semicolon or white space), lines such as `TRBV19 CASSIRSSYEQYF TRBJ2-7`
    in any order, and one plain chain. `complete` and `species` as in `Reading`. Raises
    ReceptorError when there is nothing to read or far too much.
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
    header = cells(first, delimiter)
    layout = recognise_columns(header)
    if layout is not None:
        return layout.format, _table(layout, (cells(line, delimiter) for line in lines), how)
    if _triple(first):
        return "V CDR3 J", _triples(chain([first], lines), how)
    if missing := lacking(header):
        raise ReceptorError(
            f"This table has a CDR3 column and none for {' and '.join(missing)}. {_READ_HERE}"
        )
    if delimiter:
        raise ReceptorError(f"The columns “{first.strip()[:80]}” are not known here. {_READ_HERE}")
    return ONE_CHAIN, _one_chain(first, lines, how)


def one_receptor(text: str, *, species: str = "human") -> Chain:
    """The chain of a text that names one receptor in any of the forms of `read_receptors`.

    Raises ReceptorError or SequenceError when there is none, or more than one.
    """
    if text.lstrip("\ufeff \t\r\n").startswith(">"):
        return from_sequence(text, species=species_name(species))
    found = read_receptors(text, species=species).receptors
    if len(found) != 1:
        raise ReceptorError(f"This names {len(found)} receptors, and one fits here: give one.")
    if found[0].chain is None:
        raise ReceptorError(found[0].error)
    return found[0].chain


def _table(layout: Layout, rows: Iterator[list[str]], how: Reading) -> Iterator[Receptor]:
    there = (row for row in rows if any(cell.strip() for cell in row))
    for number, row in enumerate(there, 1):
        fields = dict(zip(layout.header, row, strict=False))
        name = value(layout, row, "name") or f"row {number}"
        for one in layout.chains(row):
            yield _attempt(number, name, fields, partial(chain_of_row, one, row, name, how))


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
    yield _attempt(1, "chain", {}, partial(_wrapped, [first, *lines], how))


def _wrapped(lines: list[str], how: Reading) -> Chain:
    there = [line.strip() for line in lines if line.strip()]
    if len(there) > 1 and all(map(_CDR3.fullmatch, there)):
        raise ReceptorError(
            f"These {len(there)} lines look like CDR3s, and each needs its genes: write V gene, "
            "CDR3 and J gene on every line."
        )
    return _pasted("".join(lines), how)


def _pasted(letters: str, how: Reading, name: str | None = None) -> Chain:
    return from_sequence(letters, name=name, species=species_name(how.species))


def _triple(line: str) -> tuple[str, str, str] | None:
    """V gene, CDR3 and J gene of a line, in whichever order they stand; None when it is not so."""
    words = re.split(r"[\s,;]+", line.strip(), maxsplit=3)
    if len(words) != 3:
        return None
    v, j = list(filter(_V.fullmatch, words)), list(filter(_J.fullmatch, words))
    rest = [word for word in words if word not in v + j]
    return (v[0], rest[0], j[0]) if len(v) == len(j) == len(rest) == 1 else None


def _chain_of_triple(line: str, how: Reading) -> Chain:
    triple = _triple(line)
    if triple is None:
        raise ReceptorError("This line is not V gene, CDR3, J gene.")
    return assemble(*triple, species=species_name(how.species), complete=how.complete)


def _attempt(number: int, name: str, fields: dict[str, str], make: Callable[[], Chain]) -> Receptor:
    try:
        return Receptor(number, name, make(), "", fields)
    except ValueError as problem:
        return Receptor(number, name, None, str(problem), fields)
