"""A pasted chain back to its genes: which V it carries, where the CDR3 lies, which J follows.

In: letters or one FASTA record. Out: a Chain whose notes say what was recognised and how well.
Compares with IMGT's germlines without gaps; knows nothing of files or models.
"""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np

from core.alphabet import clean_sequence
from core.protein.chain import MAX_LENGTH, Chain, default_chain
from core.protein.genes import JGene, ReceptorError, VGene, alleles, can_join, j_gene, v_gene
from core.protein.germline import (
    NO_LEADER,
    common_length,
    encodable_ends,
    numbering_notes,
    refuse_nucleotides,
)

_SHORTEST_V, _FEWEST_IDENTICAL = 40, 0.8
# False: TRB and TRD, whose J genes all read F or W, G, any, G; True: TRA and TRG have others too.
_J_MOTIF = {False: re.compile("[FWC](?=G.G)"), True: re.compile("[FWC](?=[GA].G)")}
_BARE_CDR3 = (
    "This looks like a CDR3 without its chain. A model of whole chains guesses badly here: give "
    "V gene + CDR3 + J gene instead."
)
_NO_V = (
    "No T-cell receptor V region was recognised, so regions and IMGT numbers are left out "
    "(antibodies are not numbered here)."
)


def from_sequence(text: str, *, name: str | None = None, species: str = "homosapiens") -> Chain:
    """A pasted chain (letters, or one FASTA record), with its V, CDR3 and J when they are found.

    The published default is recognised as itself. A chain without a recognisable V domain is
    a Chain without regions. Raises SequenceError with the letter and its position, and
    ReceptorError for DNA.
    """
    cleaned = clean_sequence(text, max_length=MAX_LENGTH, allow_ambiguous=True)
    sequence, notes = cleaned.sequence, list(cleaned.notes)
    refuse_nucleotides(sequence)
    header = re.match(r"\s*>\s*(\S[^\n]*)", text.lstrip("\ufeff"))
    title = name or (header[1].strip() if header else None)
    if sequence == default_chain().sequence:
        known = default_chain()
        return replace(known, name=title or known.name, notes=(*notes, *known.notes))
    found = _find_v(sequence, species)
    if found is None:
        if len(sequence) <= 30 and sequence.startswith("C") and sequence[-1] in "FW":
            notes.append(_BARE_CDR3)
        elif len(sequence) >= _SHORTEST_V:
            notes.append(_NO_V)
        return Chain(sequence, name=title or "chain", notes=tuple(notes))
    return _recognised(sequence, title, notes, species, *found)


def _recognised(
    sequence: str, title: str | None, notes: list[str], species: str, v: VGene, c104: int, same: int
) -> Chain:
    start = c104 + 1 - len(v.framework)
    cut, start = max(-start, 0), max(start, 0)
    overlap = c104 + 1 - start
    whose = "" if species == "homosapiens" else " of the mouse"
    notes.append(
        f"V was recognised as {v.allele}{whose}: {same} of {overlap} residues are the same."
    )
    motif = _J_MOTIF[v.allele[2] in "AG"].search(sequence, c104 + 4, c104 + 46)
    if motif is None:
        notes.append("No J motif (F or W, then G.G) follows: the CDR3's end is not known.")
        return Chain(sequence, name=title or "chain", notes=tuple(notes))
    junction = sequence[c104 : motif.end()]
    j = _best_j(sequence[c104:], len(junction), v.allele, species)
    notes.append(f"J was recognised as {j.allele}.")
    from_v, from_j = encodable_ends(v, junction, j)
    if start == 0:
        notes.append(NO_LEADER)
    notes += numbering_notes(v)
    j_end = motif.end() + len(j.after_118)
    return Chain(
        sequence, title or "chain", start, v.lengths, (c104 + 1, motif.end()),
        v.allele, j.allele, from_v, from_j, cut, tuple(notes), species,
        j_end if j_end < len(sequence) else None,
    )  # fmt: skip


def _find_v(sequence: str, species: str) -> tuple[VGene, int, int] | None:
    """The V allele that agrees best, ending at some C of the chain: (gene, 0-based C, same)."""
    germlines, table = _v_table(species)
    letters = np.frombuffer(sequence.encode(), dtype=np.uint8)
    best: tuple[float, VGene, int, int] | None = None
    for c104 in (i for i, letter in enumerate(sequence) if letter == "C" and i >= _SHORTEST_V):
        window = letters[max(0, c104 + 1 - table.shape[1]) : c104 + 1]
        part = table[:, table.shape[1] - len(window) :]
        same, compared = (part == window).sum(axis=1), (part > 0).sum(axis=1)
        score = np.where(compared >= _SHORTEST_V, same / np.maximum(compared, 1), 0)
        # Among equal shares the allele that explains more residues, then the first by name.
        order = np.lexsort((np.arange(len(score)), -same, -score))
        top = int(order[0])
        if score[top] >= _FEWEST_IDENTICAL and (best is None or score[top] > best[0]):
            best = (float(score[top]), germlines[top], c104, int(same[top]))
    return best[1:] if best else None


@lru_cache(maxsize=2)
def _v_table(species: str) -> tuple[list[VGene], np.ndarray]:
    germlines = []
    for allele in alleles("V", species):
        try:
            germlines.append(v_gene(allele, species))
        except ReceptorError:
            continue
    width = max(len(v.framework) for v in germlines)
    rows = [v.framework.rjust(width, "\0").encode() for v in germlines]
    return germlines, np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), width)


def _best_j(tail: str, junction_length: int, v_allele: str, species: str) -> JGene:
    """The J allele that agrees best around the end of the CDR3; `tail` starts at C104."""

    def agreement(j: JGene) -> int:
        return common_length(tail[:junction_length][::-1], j.up_to_118[::-1]) + common_length(
            tail[junction_length:], j.after_118
        )

    candidates = [a for a in alleles("J", species) if can_join(v_allele, a)]
    germlines = []
    for allele in candidates:
        try:
            germlines.append(j_gene(allele, species))
        except ReceptorError:
            continue
    return max(germlines, key=agreement)
