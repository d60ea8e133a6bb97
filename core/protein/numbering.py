"""IMGT's unique numbering for V domains, from the lengths of the parts.

In: lengths. Out: IMGT position labels, one per residue. Knows no sequence. Source: Lefranc et
al., Dev Comp Immunol 27 (2003) 55-77: FR1 1-26, CDR1 27-38, FR2 39-55, CDR2 56-65, FR3 66-104,
CDR3 105-117, FR4 from 118; gaps lie in the middle of a CDR.
"""

from functools import lru_cache

V_PARTS = ("FR1", "CDR1", "FR2", "CDR2", "FR3")
_STARTS_ENDS = ((1, 26), (27, 38), (39, 55), (56, 65), (66, 104))
# Where a framework shorter than the scheme has its gaps, by its length. Read off an alignment of
# all functional human germlines by ANARCI's models (anarcism 1.0.1); TRD's FR3 may differ by one.
_TRA_FR3 = (69, 70, 71, 72, 73)
_FRAMEWORK_GAPS: dict[tuple[str, int], tuple[int, ...]] = {
    ("FR1", 25): (7,),
    ("FR2", 16): (50,),
    ("FR3", 38): (82,),
    ("FR3", 37): (73, 82),
    ("FR3", 36): (73, 81, 82),
    ("FR3", 34): _TRA_FR3,
    ("FR3", 33): (*_TRA_FR3, 83),
    ("FR3", 32): (*_TRA_FR3, 83, 84),
}


@lru_cache(maxsize=256)
def imgt_v(lengths: tuple[int, ...]) -> tuple[str, ...]:
    """Labels of FR1 to FR3 (ending with C104) for parts of these `lengths`.

    A part that does not fit its slots in the scheme gets empty labels.
    """
    labels: list[str] = []
    for name, (start, end), length in zip(V_PARTS, _STARTS_ENDS, lengths, strict=True):
        places = list(range(start, end + 1))
        missing = len(places) - length
        if missing < 0:
            labels += [""] * length
        elif name.startswith("CDR"):
            left = (length + 1) // 2
            labels += [str(p) for p in places[:left] + places[left + missing :]]
        else:
            gaps = _FRAMEWORK_GAPS.get((name, length), ())
            # Elsewhere the allele is known only in part: its end is what is there.
            there = [p for p in places if p not in gaps] if gaps else places[missing:]
            labels += [str(p) for p in there]
    return tuple(labels)


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
