"""IMGT's unique numbering for V domains, from the lengths of the parts and the gene's name.

In: lengths and a name. Out: IMGT position labels, one per residue. Knows no sequence. Source:
Lefranc et al., Dev Comp Immunol 27 (2003) 55-77: FR1 1-26, CDR1 27-38, FR2 39-55, CDR2 56-65, FR3
66-104, CDR3 105-117, FR4 from 118; gaps lie in the middle of a CDR.
"""

from functools import lru_cache

V_PARTS = ("FR1", "CDR1", "FR2", "CDR2", "FR3")
_STARTS_ENDS = ((1, 26), (27, 38), (39, 55), (56, 65), (66, 104))
# Where a framework shorter than the scheme has its gaps, by gene or locus, part and length: read
# off IMGT's own gapped reference sequences. FR1s that are not here are known only in part.
_TRA_FR3 = (69, 70, 71, 72, 73)
_GAPS: dict[tuple[str, str, int], tuple[int, ...]] = {
    **{
        (gene, "FR1", 25): (7,)
        for gene in (
            "TRAV1", "TRAV1-1", "TRAV1-2", "TRAV2", "TRAV4", "TRAV21/DV12", "TRAV26-1", "TRAV26-2",
        )
    },
    ("TRAV5", "FR1", 25): (8,),
    ("TRAV30", "FR1", 25): (5,),
    ("TRAV7D-4", "FR1", 25): (17,),
    ("TRAV15-2/DV6-2", "FR1", 25): (17,),
    ("TRA", "FR2", 16): (50,),
    ("TRG", "FR2", 16): (49,),
    ("TRA", "FR3", 34): _TRA_FR3,
    ("TRAV12-1", "FR3", 33): (66, *_TRA_FR3),
    **{(gene, "FR3", 32): (*_TRA_FR3, 83, 84) for gene in ("TRAV2", "TRAV7", "TRAV20")},
    ("TRB", "FR3", 38): (82,),
    ("TRB", "FR3", 37): (73, 82),
    ("TRBV6-8", "FR3", 36): (69, 73, 82),
    ("TRD", "FR3", 38): (73,),
    ("TRG", "FR3", 38): (82,),
}  # fmt: skip
# Mouse: a gap inside its FR1 whose place is not known here.
_UNKNOWN = ("TRBV5", "FR1", 25)


@lru_cache(maxsize=256)
def imgt_v(lengths: tuple[int, ...], allele: str) -> tuple[str, ...]:
    """Labels of FR1 to FR3 (ending with C104) of a V allele with parts of these `lengths`.

    A part whose gaps are not known gets empty labels: see `unnumbered`.
    """
    labels: list[str] = []
    for name, slots, length in zip(V_PARTS, _STARTS_ENDS, lengths, strict=True):
        places = list(range(slots[0], slots[1] + 1))
        missing = len(places) - length
        if name.startswith("CDR") and missing >= 0:
            left = (length + 1) // 2
            labels += [str(p) for p in places[:left] + places[left + missing :]]
            continue
        gaps = _gaps(allele, name, length, missing)
        labels += [""] * length if gaps is None else [str(p) for p in places if p not in gaps]
    return tuple(labels)


def _gaps(allele: str, part: str, length: int, missing: int) -> tuple[int, ...] | None:
    """The positions that a framework leaves out; None where that is not known."""
    gene = allele.partition("*")[0]
    for name in (gene, gene[:3]):
        if (name, part, length) in _GAPS:
            return _GAPS[name, part, length]
    partial = part in {"FR1", "FR2"} and missing > 0 and (gene, part, length) != _UNKNOWN
    if missing and not partial:
        return None
    # Of an allele that is known only in part, the start is missing.
    start = _STARTS_ENDS[V_PARTS.index(part)][0]
    return tuple(range(start, start + missing))


def unnumbered(lengths: tuple[int, ...], allele: str) -> tuple[str, ...]:
    """Names of the parts whose residues get no IMGT number, because their gaps are not known."""
    names = [name for name, length in zip(V_PARTS, lengths, strict=True) for _ in range(length)]
    labels = imgt_v(lengths, allele)
    return tuple(dict.fromkeys(n for n, label in zip(names, labels, strict=True) if not label))


@lru_cache(maxsize=256)
def imgt_cdr3(length: int) -> tuple[str, ...]:
    """Labels of a CDR3 of `length` residues counting C104 and F118 or W118.

    Up to 13 residues between them fit 105 to 117 with the gap in the middle; longer ones
    insert 112.1, 111.1, 112.2, ... between 111 and 112.
    """
    if length < 2:
        return ("104",) * length
    inner = length - 2
    if inner <= 13:
        left = (inner + 1) // 2
        middle = [str(p) for p in range(105, 105 + left)]
        middle += [str(p) for p in range(118 - (inner - left), 118)]
        return ("104", *middle, "118")
    extra = inner - 13
    after_111 = [f"111.{i}" for i in range(1, extra // 2 + 1)]
    before_112 = [f"112.{i}" for i in range((extra + 1) // 2, 0, -1)]
    plain = [str(p) for p in range(105, 112)]
    return ("104", *plain, *after_111, *before_112, *map(str, range(112, 118)), "118")
