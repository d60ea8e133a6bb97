"""The letters every model here reads, how typed text becomes a sequence, and token ids.

In: text from a visitor. Out: a cleaned sequence with a note for every change made, or a
SequenceError saying what is wrong, where, and what to do. Knows nothing of any model.
"""

import unicodedata
from dataclasses import dataclass

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
AMBIGUOUS = "XBZUO"
DEFAULT_SEQUENCE = "CASSIRSSYEQYF"
PAD, BOS, EOS = 0, 1, 2
FIRST_LETTER_ID = 3

_WHY_REFUSED = {
    "*": "an asterisk marks a stop codon; remove it",
    "-": "a dash marks a gap in an alignment; remove it",
    ".": "a dot marks a gap in an alignment; remove it",
    "X": "X stands for an unknown residue; replace it by one of the 20",
    "B": "B stands for D or N; choose one",
    "Z": "Z stands for E or Q; choose one",
    "J": "J stands for I or L; choose one",
    "U": "U is selenocysteine, which these models do not know; C is the nearest",
    "O": "O is pyrrolysine, which these models do not know; K is the nearest",
}


class SequenceError(ValueError):
    """Text that is not a sequence: `letter`, its 1-based `position`, and a `sentence` to show.

    `letter` and `position` are None when no single letter is at fault (empty, too long).
    """

    def __init__(self, sentence: str, letter: str | None = None, position: int | None = None):
        super().__init__(sentence)
        self.sentence, self.letter, self.position = sentence, letter, position


@dataclass(frozen=True)
class Cleaned:
    """A sequence in upper-case letters and one sentence for each change made to the text."""

    sequence: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """Token ids of an alphabet: PAD 0, BOS 1, EOS 2, then the letters in the order given."""

    letters: str

    def __len__(self) -> int:
        return FIRST_LETTER_ID + len(self.letters)

    def encode(self, sequence: str) -> tuple[int, ...]:
        """Ids of the letters, no BOS or EOS. Raises ValueError naming a foreign letter."""
        for position, letter in enumerate(sequence, 1):
            if letter not in self.letters:
                raise ValueError(
                    f"Letter {letter!r} at position {position} is not one of {self.letters}."
                )
        return tuple(FIRST_LETTER_ID + self.letters.index(letter) for letter in sequence)

    def decode(self, ids: "tuple[int, ...] | list[int]") -> str:
        """Letters up to the first EOS; PAD and BOS are left out."""
        letters = []
        for token in ids:
            if token == EOS:
                break
            if token >= FIRST_LETTER_ID:
                letters.append(self.letters[token - FIRST_LETTER_ID])
        return "".join(letters)


RESIDUES = Vocabulary(AMINO_ACIDS)
NUCLEOTIDES = Vocabulary("ACGT")
DIGITS = Vocabulary("0123456789")


def clean_sequence(
    text: str,
    *,
    min_length: int = 1,
    max_length: int = 1000,
    allow_ambiguous: bool = False,
    letters: str = AMINO_ACIDS,
) -> Cleaned:
    """Turn typed or pasted text into a sequence over `letters`, saying what was changed.

    A FASTA header, white space, lower case and one final `*` are removed or changed with a
    note; nothing else is repaired. Positions in messages count letters, headers and white
    space left out, from 1.

    Raises SequenceError for anything else: no letters, two FASTA records, a foreign letter
    (X, B, Z, U, O pass with a note if `allow_ambiguous`), or a length outside the bounds.
    """
    notes: list[str] = []
    # Refused before any per-letter work, so that a huge paste costs nothing.
    if len(text) > 20 * max_length + 10_000:
        raise _wrong_length(len(text), min_length, max_length)
    sequence = _normalise(text, notes)
    if not sequence:
        raise _nothing_here(min_length, max_length)
    allowed = letters + AMBIGUOUS if allow_ambiguous else letters
    for position, letter in enumerate(sequence, 1):
        if letter not in allowed:
            raise _foreign_letter(letter, position, letters)
    if not min_length <= len(sequence) <= max_length:
        raise _wrong_length(len(sequence), min_length, max_length)
    unknown = sorted(set(sequence) - set(letters))
    if unknown:
        notes.append(f"{', '.join(unknown)}: not one of the 20 residues; the model guesses badly.")
    return Cleaned(sequence, tuple(notes))


def _normalise(text: str, notes: list[str]) -> str:
    joined = _without_header(text, notes)
    compact = "".join(joined.split())
    if compact != joined:
        notes.append("White space inside the sequence was removed.")
    # Only ASCII: upper() turns some other characters into two letters of the alphabet.
    upper = "".join(c.upper() if c.isascii() else c for c in compact)
    if upper != compact:
        notes.append("Lower-case letters were read as upper case.")
    if len(upper) > 1 and upper.endswith("*"):
        notes.append("The final * (stop codon) was left out.")
        return upper[:-1]
    return upper


def _without_header(text: str, notes: list[str]) -> str:
    lines = text.lstrip("\ufeff").strip().splitlines()
    headers = [line for line in lines if line.lstrip().startswith(">")]
    if len(headers) > 1:
        raise SequenceError(
            f"There are {len(headers)} FASTA records here and this box reads one: keep one."
        )
    if headers:
        lines = [line for line in lines if line not in headers]
        notes.append("The FASTA header line was left out.")
        # A one-line box turns pasted line breaks into spaces; a line break rules that out.
        if not lines and not text.endswith(("\n", "\r")) and len(headers[0].split()) > 1:
            lines = headers[0].split()[-1:]
            notes[-1] = f"Only the last word of the FASTA line was read: {lines[0][:60]}."
    return "\n".join(lines).strip()


def _nothing_here(min_length: int, max_length: int) -> SequenceError:
    return SequenceError(
        f"There is no sequence here: type {min_length} to {max_length} letters, "
        f"for example {DEFAULT_SEQUENCE}."
    )


def _foreign_letter(letter: str, position: int, letters: str) -> SequenceError:
    kind = "amino acids" if letters == AMINO_ACIDS else "letters"
    name = letter if letter.isascii() else f"{letter} ({unicodedata.name(letter, 'unnamed')})"
    reason = _WHY_REFUSED.get(letter, "remove or replace it")
    return SequenceError(
        f"“{name}” at position {position} is not one of the {len(letters)} {kind} "
        f"({letters}): {reason}.",
        letter,
        position,
    )


def _wrong_length(length: int, min_length: int, max_length: int) -> SequenceError:
    advice = "shorten it" if length > max_length else "add more"
    return SequenceError(
        f"{length:,} letter{'s' * (length != 1)} is outside the {min_length} to {max_length:,} "
        f"that can be read here: {advice}."
    )
