"""Where the parts of a receptor chain lie, and the names a residue has in each numbering.

In: positions and lengths. Out: regions. Knows no letters.
"""

from dataclasses import dataclass

from core.protein.numbering import V_PARTS

# Signal peptides have 15 to 35 residues; more than this in front of V is something else.
LONGEST_LEADER = 40


@dataclass(frozen=True)
class Region:
    """A stretch of the chain, `start` to `end`, both counted from 1 and both included."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Numbers:
    """The names of one residue: in the chain (from 1), in the CDR3 (C = 1), in IMGT's scheme.

    `cdr3` is None outside the CDR3; `imgt` is "" where IMGT's scheme does not reach, the V gene
    is not known, or its gaps are not.
    """

    chain: int
    cdr3: int | None
    imgt: str


def check_parts(
    length: int, leader_end: int, cdr3: tuple[int, int] | None, j_end: int | None
) -> None:
    """Raises ValueError when leader, CDR3 and J's end do not fit a chain of `length` residues."""
    if cdr3 is not None and not leader_end < cdr3[0] <= cdr3[1] <= length:
        raise ValueError(
            f"A CDR3 from {cdr3[0]} to {cdr3[1]} does not fit a chain of {length} residues "
            f"with a leader of {leader_end}."
        )
    if not 0 <= leader_end < length:
        raise ValueError(f"A leader of {leader_end} does not fit {length} residues.")
    if j_end is not None and (cdr3 is None or not cdr3[1] <= j_end <= length):
        raise ValueError(f"J cannot end at {j_end} in a chain of {length} residues.")


def check_v_lengths(
    lengths: tuple[int, ...], v_cut: int, leader_end: int, cdr3: tuple[int, int] | None
) -> None:
    """Raises ValueError when FR1 to FR3 do not fill the space from the leader to C104."""
    if cdr3 is None or len(lengths) != len(V_PARTS):
        raise ValueError("Lengths of FR1, CDR1, FR2, CDR2 and FR3 need a CDR3 after them.")
    there = sum(lengths) - v_cut
    if leader_end + there != cdr3[0]:
        raise ValueError(
            f"FR1 to FR3 ({there} residues, the last one is C104) after a leader of "
            f"{leader_end} do not end at position {cdr3[0]}, where the CDR3 starts."
        )


def regions(
    length: int, leader_end: int, cdr3: tuple[int, int] | None, j_end: int | None
) -> tuple[Region, ...]:
    """leader (or "before V"), V, CDR3, J, after J, without empty ones; "chain" without a CDR3."""
    front = "leader" if leader_end <= LONGEST_LEADER else "before V"
    if cdr3 is None:
        parts = [Region(front, 1, leader_end), Region("chain", leader_end + 1, length)]
    else:
        parts = [
            Region(front, 1, leader_end),
            Region("V", leader_end + 1, cdr3[0] - 1),
            Region("CDR3", *cdr3),
            Region("J", cdr3[1] + 1, j_end or length),
            Region("after J", (j_end or length) + 1, length),
        ]
    return tuple(part for part in parts if part.start <= part.end)


def v_regions(lengths: tuple[int, ...], v_cut: int, leader_end: int) -> tuple[Region, ...]:
    """FR1 to FR3 (up to C104) after the leader, where the first `v_cut` residues are missing."""
    found, start = [], leader_end + 1 - v_cut
    for name, length in zip(V_PARTS, lengths, strict=False):
        first, start = max(start, leader_end + 1), start + length
        if first < start:
            found.append(Region(name, first, start - 1))
    return tuple(found)
