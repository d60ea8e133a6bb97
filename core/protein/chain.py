"""One receptor chain: its letters, its regions, and how every numbering maps onto it.

In: an amino-acid sequence and where its parts lie. Out: positions in chain, CDR3 and IMGT
terms, and token indices. Knows nothing of genes' sequences, files or models.
"""

from dataclasses import dataclass, replace

from core.alphabet import AMBIGUOUS, AMINO_ACIDS, SequenceError
from core.protein.numbering import V_PARTS, imgt_cdr3, imgt_v

MAX_LENGTH = 1022
START_TOKENS = 1


@dataclass(frozen=True)
class Region:
    """A stretch of the chain, `start` to `end`, both counted from 1 and both included."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Numbers:
    """The names of one residue: in the chain (from 1), in the CDR3 (C = 1), in IMGT's scheme.

    `cdr3` is None outside the CDR3; `imgt` is "" where IMGT's scheme does not reach or the
    V gene is not known.
    """

    chain: int
    cdr3: int | None
    imgt: str


@dataclass(frozen=True)
class Chain:
    """A protein chain, perhaps with the parts of a T-cell receptor marked on it.

    `leader_end` is the length of the signal peptide (0: none). `v_lengths` are the lengths of
    FR1, CDR1, FR2, CDR2, FR3 in the germline; FR3 ends with C104, and the first `v_cut` residues
    of FR1 are missing from the chain. `cdr3` is (first, last), 1-based: the
    conserved C104 to F118 or W118, both included. `from_v` and `from_j` say how many letters of
    the CDR3 the germline V can encode from the left and the germline J from the right.

    Raises SequenceError for letters that a model must not see, ValueError for parts that do
    not fit.
    """

    sequence: str
    name: str = "chain"
    leader_end: int = 0
    v_lengths: tuple[int, ...] | None = None
    cdr3: tuple[int, int] | None = None
    v_gene: str | None = None
    j_gene: str | None = None
    from_v: int | None = None
    from_j: int | None = None
    v_cut: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_letters(self.sequence)
        if self.cdr3 is not None:
            first, last = self.cdr3
            if not self.leader_end < first <= last <= len(self.sequence):
                raise ValueError(
                    f"A CDR3 from {first} to {last} does not fit a chain of {len(self)} residues "
                    f"with a leader of {self.leader_end}."
                )
        if not 0 <= self.leader_end < len(self.sequence):
            raise ValueError(f"A leader of {self.leader_end} does not fit {len(self)} residues.")
        if self.v_lengths is not None:
            self._check_v_lengths(self.v_lengths)

    def _check_v_lengths(self, lengths: tuple[int, ...]) -> None:
        if self.cdr3 is None or len(lengths) != len(V_PARTS):
            raise ValueError("Lengths of FR1, CDR1, FR2, CDR2 and FR3 need a CDR3 after them.")
        there = sum(lengths) - self.v_cut
        if self.leader_end + there != self.cdr3[0]:
            raise ValueError(
                f"FR1 to FR3 ({there} residues, the last one is C104) after a leader of "
                f"{self.leader_end} do not end at position {self.cdr3[0]}, where the CDR3 starts."
            )

    def __len__(self) -> int:
        return len(self.sequence)

    def token_index(self, position: int) -> int:
        """Index, in the model's token row, of the residue at 1-based `position`.

        The one place that knows of the start token in front. Raises ValueError outside 1..L.
        """
        if not 1 <= position <= len(self):
            raise ValueError(f"Position {position} is outside this chain: 1 to {len(self)}.")
        return position - 1 + START_TOKENS

    def position_of(self, token: int) -> int:
        """1-based position of the residue at a token index: the inverse of `token_index`.

        Raises ValueError for the start and end tokens.
        """
        position = token - START_TOKENS + 1
        self.token_index(position)
        return position

    @property
    def residue_tokens(self) -> slice:
        """The part of a token row that holds the residues, without start and end tokens."""
        return slice(self.token_index(1), self.token_index(len(self)) + 1)

    @property
    def cdr3_sequence(self) -> str:
        """The CDR3 with its C104 and F118 or W118; "" when it is not known."""
        return self.sequence[self.cdr3[0] - 1 : self.cdr3[1]] if self.cdr3 else ""

    @property
    def cdr3_positions(self) -> range:
        """1-based chain positions of the CDR3, in order; empty when it is not known."""
        return range(self.cdr3[0], self.cdr3[1] + 1) if self.cdr3 else range(0)

    @property
    def regions(self) -> tuple[Region, ...]:
        """leader, V, CDR3, J in order, without empty ones; one region "chain" without a CDR3."""
        rest = "V" if self.cdr3 else "chain"
        v_end = self.cdr3[0] - 1 if self.cdr3 else len(self)
        parts = [Region("leader", 1, self.leader_end), Region(rest, self.leader_end + 1, v_end)]
        if self.cdr3:
            parts += [Region("CDR3", *self.cdr3), Region("J", self.cdr3[1] + 1, len(self))]
        return tuple(part for part in parts if part.start <= part.end)

    @property
    def v_regions(self) -> tuple[Region, ...]:
        """FR1, CDR1, FR2, CDR2, FR3 (up to C104) when the V gene is known, else nothing."""
        regions, start = [], self.leader_end + 1 - self.v_cut
        for name, length in zip(V_PARTS, self.v_lengths or (), strict=False):
            first, start = max(start, self.leader_end + 1), start + length
            if first < start:
                regions.append(Region(name, first, start - 1))
        return tuple(regions)

    def region_at(self, position: int) -> str:
        """Name of the region at 1-based `position`."""
        self.token_index(position)
        return next(r.name for r in self.regions if r.start <= position <= r.end)

    def numbers(self, position: int) -> Numbers:
        """The chain, CDR3 and IMGT numbers of the residue at 1-based `position`."""
        self.token_index(position)
        if self.cdr3 is None:
            return Numbers(position, None, "")
        first, last = self.cdr3
        if position > last:
            return Numbers(position, None, str(118 + position - last))
        if position >= first:
            in_cdr3 = position - first + 1
            return Numbers(position, in_cdr3, imgt_cdr3(last - first + 1)[in_cdr3 - 1])
        if self.v_lengths is None or position <= self.leader_end:
            return Numbers(position, None, "")
        in_v = position - self.leader_end + self.v_cut
        return Numbers(position, None, imgt_v(self.v_lengths)[in_v - 1])

    def origin(self, position: int) -> str:
        """What can have written this letter: "V germline", "J germline", "junction" or "".

        Germline-encodable, not germline-encoded: amino acids cannot prove origin.
        """
        region = self.region_at(position)
        if region in {"V", "J"}:
            return f"{region} germline"
        if region != "CDR3" or self.cdr3 is None or self.from_v is None or self.from_j is None:
            return ""
        if position < self.cdr3[0] + self.from_v:
            return "V germline"
        return "J germline" if position > self.cdr3[1] - self.from_j else "junction"

    def mutated(self, position: int, letter: str) -> "Chain":
        """The same chain with one residue replaced, its name and notes saying so.

        `from_v` and `from_j` keep describing the unmutated receptor. Raises SequenceError for a
        foreign letter and ValueError for a position outside the chain.
        """
        self.token_index(position)
        if letter not in AMINO_ACIDS or len(letter) != 1:
            raise SequenceError(f"“{letter}” is not one of {AMINO_ACIDS}.", letter, position)
        change = f"{self.sequence[position - 1]}{position}{letter}"
        sequence = self.sequence[: position - 1] + letter + self.sequence[position:]
        return replace(self, sequence=sequence, name=f"{self.name} {change}")

    def fasta(self) -> str:
        """The chain as one FASTA record, 60 letters to a line."""
        title = " ".join(filter(None, (self.name, self.v_gene, self.cdr3_sequence, self.j_gene)))
        lines = [self.sequence[i : i + 60] for i in range(0, len(self), 60)]
        return "\n".join([f">{title}", *lines]) + "\n"


def _check_letters(sequence: str) -> None:
    # Letter by letter and before any tokeniser: fair-esm reads "<pad>" and "-" without a word.
    if not sequence:
        raise SequenceError("There is no sequence here: a chain needs at least one residue.")
    if len(sequence) > MAX_LENGTH:
        raise SequenceError(
            f"{len(sequence):,} residues are more than the {MAX_LENGTH:,} that ESM-2 was trained "
            "on: shorten the chain."
        )
    for position, letter in enumerate(sequence, 1):
        if letter not in AMINO_ACIDS + AMBIGUOUS:
            raise SequenceError(
                f"“{letter}” at position {position} is not an amino acid; the letters are "
                f"{AMINO_ACIDS}.",
                letter,
                position,
            )


DEFAULT_V = (
    "MSNQVLCCVVLCLLGANTVDGGITQSPKYLFRKEGQNVTLSCEQNLNHDAMYWYRQDPGQGLRLIYYSQIVNDFQKGDIAEGYSVSREKKESFP"
    "LTVTSAQKNPTAFYL"
)
DEFAULT_CDR3 = "CASSIRSSYEQYF"
DEFAULT_J = "GPGTRLTVT"


def default_chain() -> Chain:
    """The published 131 residues: TRBV19 with its leader, CASSIRSSYEQYF, the end of TRBJ2-7."""
    first = len(DEFAULT_V) + 1
    return Chain(
        sequence=DEFAULT_V + DEFAULT_CDR3 + DEFAULT_J,
        name="TRBV19 CASSIRSSYEQYF TRBJ2-7",
        leader_end=19,
        v_lengths=(26, 5, 17, 6, 37),
        cdr3=(first, first + len(DEFAULT_CDR3) - 1),
        v_gene="TRBV19*01",
        j_gene="TRBJ2-7*01",
        from_v=len("CASSI"),
        from_j=len("SYEQYF"),
        notes=(
            "Residue 13, in the leader, is L in the published chain and F in IMGT's TRBV19*01; "
            "the published letter is kept. The mature receptor starts at residue 20.",
        ),
    )
