"""Receptor files as immunologists have them: FASTA, AIRR, VDJdb, 10x, or plain columns.

In: the text of a file or of a paste. Out: one Receptor per record, each with a chain or with a
sentence saying why there is none. Nothing is completed silently. Knows nothing of models.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from core.protein.chain import Chain
from core.protein.columns import Layout, recognise_columns, value
from core.protein.genes import ReceptorError, species_name
from core.protein.germline import assemble
from core.protein.recognise import from_sequence

MAX_CHARACTERS = 20_000_000
MAX_RECEPTORS = 10_000
_FALSE = {"f", "false", "no", "0", "n"}
_NOT_ITS_OWN = "The chain is put together from V, CDR3 and J; the row's own sequence was not used."
_GENE = re.compile(r"^(TR|TCR)?[ABGD]?(V|J)\w*\d", re.I)


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


def read_receptors(text: str, *, complete: bool = False) -> ReceptorFile:
    """All receptors of a file or paste; a record that cannot be read keeps its place and error.

    Reads FASTA, tables with a header (AIRR, VDJdb, 10x, or columns such as v, cdr3, j or
    sequence; tab, comma or semicolon), lines such as `TRBV19 CASSIRSSYEQYF TRBJ2-7`, and one
    plain chain. `complete` allows adding a missing C104 and F118 or W118, which is then noted.
    Raises ReceptorError when there is nothing to read or far too much.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReceptorError(
            f"{len(text):,} characters are more than the {MAX_CHARACTERS:,} read here; the command "
            "`python -m core.protein scan-many` has no such limit."
        )
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise ReceptorError(
            "There is nothing to read: give a chain, FASTA or a table of receptors."
        )
    kind, records = _records(text, complete)
    receptors: list[Receptor] = []
    for receptor in records:
        if len(receptors) == MAX_RECEPTORS:
            raise ReceptorError(
                f"More than {MAX_RECEPTORS:,} receptors: split the file or use "
                "`python -m core.protein scan-many`, which has no such limit."
            )
        receptors.append(receptor)
    return ReceptorFile(kind, tuple(receptors))


def _records(text: str, complete: bool) -> tuple[str, Iterator[Receptor]]:
    if text.lstrip().startswith(">"):
        return "FASTA", read_fasta(text)
    first = text.strip().splitlines()[0]
    delimiter = next((d for d in "\t,;" if d in first), None)
    if delimiter:
        rows = (cells(line, delimiter) for line in text.strip().splitlines())
        layout = recognise_columns(next(rows))
        if layout is not None:
            return layout.format, _table(layout, rows, complete)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    triples = [triple_receptor(i, line, complete) for i, line in enumerate(lines, 1)]
    if all(triples):
        return "V CDR3 J", (triple for triple in triples if triple)
    if delimiter:
        raise ReceptorError(
            f"The columns “{first[:80]}” are not known here. Name them v, cdr3, j (or sequence), "
            "or keep the names of AIRR, VDJdb or 10x."
        )
    return "one chain", iter([_attempt(1, "chain", {}, lambda: from_sequence(text))])


def cells(line: str, delimiter: str) -> list[str]:
    """The cells of one line. Lines are read alone: a lost quotation mark costs its own row only."""
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def triple_receptor(number: int, line: str, complete: bool) -> Receptor | None:
    """The receptor of a line such as `TRBV19 CASSIRSSYEQYF TRBJ2-7`; None if it is not one."""
    parts = re.split(r"[\s,;]+", line.strip())
    if len(parts) != 3 or not (_GENE.match(parts[0]) and _GENE.match(parts[2])):
        return None
    v, cdr3, j = parts
    return _attempt(number, line.strip(), {}, lambda: assemble(v, cdr3, j, complete=complete))


def read_fasta(text: str) -> Iterator[Receptor]:
    """One receptor per FASTA record, named by its header."""
    for number, record in enumerate(re.split(r"^\s*>", text, flags=re.M)[1:], 1):
        header, _, letters = record.partition("\n")
        yield fasta_receptor(number, header, letters)


def fasta_receptor(number: int, header: str, letters: str) -> Receptor:
    """One FASTA record as a receptor, errors kept in it."""
    name = header.strip().lstrip(">").strip() or f"record {number}"
    return _attempt(number, name, {}, lambda: from_sequence(letters, name=name))


def _table(layout: Layout, rows: Iterator[list[str]], complete: bool) -> Iterator[Receptor]:
    number = 0
    for row in rows:
        if any(cell.strip() for cell in row):
            number += 1
            yield read_row(layout, row, number, complete=complete)


def read_row(layout: Layout, row: list[str], number: int, *, complete: bool = False) -> Receptor:
    """One row of a table whose columns were recognised. Never raises for bad contents."""
    fields = dict(zip(layout.header, row, strict=False))
    name = value(layout, row, "name") or f"row {number}"
    return _attempt(number, name, fields, lambda: _chain_of_row(layout, row, complete, name))


def _chain_of_row(layout: Layout, row: list[str], complete: bool, name: str) -> Chain:
    if value(layout, row, "productive").lower() in _FALSE:
        raise ReceptorError("Not productive: this rearrangement makes no receptor.")
    species = species_name(value(layout, row, "species"))
    sequence = value(layout, row, "sequence")
    v, j = value(layout, row, "v"), value(layout, row, "j")
    junction, inner = value(layout, row, "junction"), value(layout, row, "inner")
    if (junction or inner) and v and j:
        # AIRR defines cdr3_aa without its anchors, so adding them is reading, and still said.
        by_definition = not junction
        chain = assemble(
            v, junction or inner, j, species=species, complete=complete or by_definition, name=name
        )
        return replace(chain, notes=(*chain.notes, _NOT_ITS_OWN)) if sequence else chain
    if sequence:
        gaps = sum(sequence.count(gap) for gap in ".-")
        chain = from_sequence(sequence.translate({46: None, 45: None}), name=name, species=species)
        if gaps:
            return replace(chain, notes=(f"{gaps} gaps (. or -) were left out.", *chain.notes))
        return chain
    missing = [what for what, there in (("V gene", v), ("CDR3", junction or inner), ("J gene", j))
               if not there]  # fmt: skip
    raise ReceptorError(f"No {' and no '.join(missing)} in this row, and no whole chain either.")


def _attempt(number: int, name: str, fields: dict[str, str], make: Callable[[], Chain]) -> Receptor:
    try:
        return Receptor(number, name, make(), "", fields)
    except ValueError as problem:
        return Receptor(number, name, None, str(problem), fields)
