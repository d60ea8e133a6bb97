"""One receptor chain: its letters, its regions, and how every numbering maps onto it.

In: an amino-acid sequence and where its parts lie. Out: positions in chain, CDR3 and IMGT
terms, and token indices. Knows nothing of genes' sequences, files or models.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from core.alphabet import AMBIGUOUS, AMINO_ACIDS, SequenceError
from core.protein import parts
from core.protein.numbering import imgt_cdr3, imgt_v

MAX_LENGTH = 1022
START_TOKENS = 1


@dataclass(frozen=True)
class Chain:
    """A protein chain, perhaps with the parts of a T-cell receptor marked on it.

    `leader_end` is the length of the signal peptide (0: none). `v_lengths` are the lengths of
    FR1, CDR1, FR2, CDR2, FR3 in the germline; FR3 ends with C104, and the first `v_cut` residues
    of FR1 are missing from the chain. `cdr3` is (first, last), 1-based: the
    conserved C104 to F118 or W118, both included. `j_end` is J's last position where more follows
    (a constant domain; None: nothing does). `from_v` and `from_j` say how many letters of the CDR3
    the germline V can encode from the left and the germline J from the right.

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
    species: str = "homosapiens"
    j_end: int | None = None

    def __post_init__(self) -> None:
        _check_letters(self.sequence)
        parts.check_parts(len(self), self.leader_end, self.cdr3, self.j_end)
        if self.v_lengths is not None:
            parts.check_v_lengths(self.v_lengths, self.v_cut, self.leader_end, self.cdr3)

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
    def regions(self) -> tuple[parts.Region, ...]:
        """leader, V, CDR3, J, after J in order, without empty ones; "chain" without a CDR3."""
        return parts.regions(len(self), self.leader_end, self.cdr3, self.j_end)

    @property
    def v_regions(self) -> tuple[parts.Region, ...]:
        """FR1, CDR1, FR2, CDR2, FR3 (up to C104) when the V gene is known, else nothing."""
        return parts.v_regions(self.v_lengths or (), self.v_cut, self.leader_end)

    def region_at(self, position: int) -> str:
        """Name of the region at 1-based `position`."""
        self.token_index(position)
        return next(r.name for r in self.regions if r.start <= position <= r.end)

    def numbers(self, position: int) -> parts.Numbers:
        """The chain, CDR3 and IMGT numbers of the residue at 1-based `position`."""
        self.token_index(position)
        if self.cdr3 is None or position > (self.j_end or len(self)):
            return parts.Numbers(position, None, "")
        first, last = self.cdr3
        if position > last:
            return parts.Numbers(position, None, str(118 + position - last))
        if position >= first:
            in_cdr3 = position - first + 1
            return parts.Numbers(position, in_cdr3, imgt_cdr3(last - first + 1)[in_cdr3 - 1])
        if self.v_lengths is None or position <= self.leader_end:
            return parts.Numbers(position, None, "")
        in_v = position - self.leader_end + self.v_cut
        return parts.Numbers(position, None, imgt_v(self.v_lengths, self.v_gene or "")[in_v - 1])

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


@lru_cache(maxsize=1)
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
