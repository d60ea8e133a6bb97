"""V gene + CDR3 + J gene, put together to a chain.

In: text as people give it. Out: a Chain whose notes say everything that was assumed or cleaned.
Nothing is completed silently. Knows nothing of files or models.
"""

import re

from core.alphabet import clean_sequence
from core.protein.chain import DEFAULT_CDR3, DEFAULT_V, Chain, default_chain
from core.protein.genes import (
    JGene,
    ReceptorError,
    VGene,
    can_join,
    j_gene,
    standard_allele,
    v_gene,
)
from core.protein.numbering import unnumbered

# The only leader at hand: tidytcells has mature chains alone, and this one was published.
_LEADERS = {"TRBV19*01": DEFAULT_V[: default_chain().leader_end]}
# So many letters at a CDR3's end that are J's but its last one are worth a word.
_TELLING = 3
# So many letters of a protein are never A, C, G and T (or U, N) alone.
_LONG_FOR_FOUR = 20
# What this means for a model is said in limits.py.
NO_LEADER = "The chain starts at the mature V region, without the leader."


def assemble(
    v: str,
    cdr3: str,
    j: str,
    *,
    species: str = "homosapiens",
    complete: bool = False,
    leader: bool = True,
    name: str | None = None,
) -> Chain:
    """Germline V up to C104, the CDR3 (C104 to F118 or W118), the rest of the germline J.

    `complete` allows adding a missing C104 and F118 or W118, and says so; without it a CDR3
    that lacks them is refused. `leader` puts the published leader in front of TRBV19*01.
    Raises ReceptorError or SequenceError with a sentence to show.
    """
    v_allele, notes = standard_allele(v, "V", species)
    j_allele, j_notes = standard_allele(j, "J", species)
    if not can_join(v_allele, j_allele):
        raise ReceptorError(f"{v_allele} and {j_allele} belong to different chains.")
    v_germline, j_germline = v_gene(v_allele, species), j_gene(j_allele, species)
    cleaned = clean_sequence(cdr3, max_length=60)
    refuse_nucleotides(cleaned.sequence)
    notes += j_notes + [f"CDR3: {note}" for note in cleaned.notes]
    junction = _anchored(cleaned.sequence, j_germline, complete, notes)
    front = _LEADERS.get(v_allele, "") if leader and species == "homosapiens" else ""
    notes += _notes_on_v(v_germline, front)
    return _chain(front, v_germline, junction, j_germline, name, notes, species)


def _chain(
    front: str, v: VGene, junction: str, j: JGene, name: str | None, notes: list[str], species: str
) -> Chain:
    before = front + v.framework[:-1]
    from_v, from_j = encodable_ends(v, junction, j)
    gene = {"v": v.allele.partition("*")[0], "j": j.allele.partition("*")[0]}
    return Chain(
        sequence=before + junction + j.after_118,
        name=name or f"{gene['v']} {junction} {gene['j']}",
        leader_end=len(front),
        v_lengths=v.lengths,
        cdr3=(len(before) + 1, len(before) + len(junction)),
        v_gene=v.allele,
        j_gene=j.allele,
        from_v=from_v,
        from_j=from_j,
        notes=tuple(notes),
        species=species,
    )


def _notes_on_v(v: VGene, front: str) -> list[str]:
    notes = [_leader_note(v)] if front else [NO_LEADER]
    if len(v.parts[0]) < 25:
        notes.append(f"IMGT knows {v.allele} only from its residue {27 - len(v.parts[0])} on.")
    return notes + numbering_notes(v)


def numbering_notes(v: VGene) -> list[str]:
    """Which residues of this gene get no IMGT number, if any."""
    parts = " and ".join(unnumbered(v.lengths, v.allele))
    if not parts:
        return []
    return [
        f"The residues of {parts} have no IMGT number here: its gaps in {v.allele} are unknown."
    ]


def _leader_note(v: VGene) -> str:
    return f"The published leader was put in front of {v.allele}. " + default_chain().notes[0]


def _anchored(cdr3: str, j: JGene, complete: bool, notes: list[str]) -> str:
    """The CDR3 from C104 to F118 or W118, or ReceptorError saying which of them is missing."""
    overhang = re.search(rf"{j.anchor}(G.?G?)$", cdr3)
    if overhang and j.after_118.startswith(overhang[1]) and cdr3.startswith("C"):
        notes.append(f"CDR3: {overhang[1]} after the {j.anchor} belongs to J and was left out.")
        cdr3 = cdr3[: overhang.start(1)]
    has_c, (whole_j, but_last) = cdr3.startswith("C"), _agreements(cdr3, j)
    # Without its C a CDR3 was given without its F too: an F at its end may be the one before.
    has_end = cdr3.endswith(j.anchor) and (has_c or whole_j > but_last)
    if has_c and has_end and len(cdr3) > 1:
        if lacks_last(cdr3, j):
            notes.append(_last_letter_note(cdr3, j))
        return cdr3
    whole = ("" if has_c else "C") + cdr3 + ("" if has_end else j.anchor)
    lacking = " and no ".join(
        text
        for text, there in (
            ("C (IMGT 104) in front", has_c),
            (f"{j.anchor} ({j.allele}, IMGT 118) at the end", has_end),
        )
        if not there
    )
    if not complete:
        raise ReceptorError(f"The CDR3 {cdr3} has no {lacking}. If it was left out, give {whole}.")
    notes.append(f"The CDR3 {cdr3} has no {lacking}: completed to {whole}.")
    return whole


def lacks_last(cdr3: str, j: JGene) -> bool:
    """Whether the CDR3's end is J's without its last letter: 3 letters or more, more than as it is.

    Only a J that ends in its anchor twice (EAFF) can look so: without the last letter of any
    other, the anchor itself is missing. Chance can write such an end as well.
    """
    whole_j, but_last = _agreements(cdr3, j)
    return but_last >= _TELLING and but_last > whole_j


def _agreements(cdr3: str, j: JGene) -> tuple[int, int]:
    """How many letters at the CDR3's end are those of J, and of J without its last letter."""
    backwards = j.up_to_118[::-1]
    return common_length(cdr3[::-1], backwards), common_length(cdr3[::-1], backwards[1:])


def _last_letter_note(cdr3: str, j: JGene) -> str:
    end = cdr3[-_agreements(cdr3, j)[1] :]
    return (
        f"CDR3: it ends in {end}, and {j.allele} has {end}{j.anchor} there. It was read as it is: "
        f"if the last {j.anchor} was left out, give {cdr3}{j.anchor}."
    )


def encodable_ends(v: VGene, junction: str, j: JGene) -> tuple[int, int]:
    """How many letters of the CDR3 germline V can encode from the left and J from the right.

    The longest match of each end with the germline; a letter that both could encode counts for
    V. Encodable, not encoded: a trimmed codon can be rebuilt by chance.
    """
    from_v = common_length(junction, "C" + v.after_c104)
    from_j = common_length(junction[::-1], j.up_to_118[::-1])
    return from_v, min(from_j, len(junction) - from_v)


def refuse_nucleotides(sequence: str) -> None:
    """Raises ReceptorError for DNA or RNA: A, C, G and T are letters of proteins as well."""
    few = set(sequence)
    if len(sequence) >= _LONG_FOR_FOUR and set("ACG") < few and few <= set("ACGTUN"):
        raise ReceptorError(
            "These letters look like DNA or RNA, and amino acids are read here: translate it first."
        )


def common_length(first: str, second: str) -> int:
    same = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        same += 1
    return same


def example() -> Chain:
    """The default receptor put together from its genes, with the published leader."""
    return assemble("TRBV19", DEFAULT_CDR3, "TRBJ2-7")
