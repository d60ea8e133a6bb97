"""Everything a visitor has changed, as one frozen value: compared, written to a URL, restored.

In: edits. Out: the edited sequence, heads and switches. The untouched model is `UNTOUCHED`.
Text form: `6A_w1q2a-2.5_m34_nopos_noscale_causal` reads "residue 6 becomes A; head 1's Wq,
row 2, first column becomes -2.5; heads 3 and 4 muted; positions off; scaling off; causal mask".
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.alphabet import AMINO_ACIDS
from core.toy.heads import D_K, D_MODEL, HEADS, Head
from core.written import typeset

LONGEST_SEQUENCE = 60
LARGEST_WEIGHT = 100.0
MATRICES = "qkv"
_DECIMALS = 3
_LONGEST_TEXT = 5000
_SWAP = re.compile(r"([1-9]\d?)([A-Z])")
_WEIGHT = re.compile(r"w(\d)([qkv])(\d)([ab])(-?\d{1,3}(?:\.\d{1,3})?)")
_MUTED = re.compile(r"m([1-4]{1,4})")


@dataclass(frozen=True, order=True)
class Swap:
    """Residue at 1-based `position` becomes `letter`."""

    position: int
    letter: str

    def __post_init__(self) -> None:
        if not 1 <= self.position <= LONGEST_SEQUENCE:
            raise ValueError(f"Position {self.position} is not in 1 to {LONGEST_SEQUENCE}.")
        if len(self.letter) != 1 or self.letter not in AMINO_ACIDS:
            raise ValueError(f"“{self.letter}” is not one of the 20 letters {AMINO_ACIDS}.")


@dataclass(frozen=True, order=True)
class WeightEdit:
    """One entry of one head's Wq, Wk or Wv; head, row and column are counted from 0."""

    head: int
    matrix: str
    row: int
    column: int
    value: float

    def __post_init__(self) -> None:
        if not 0 <= self.head < len(HEADS):
            raise ValueError(f"There is no head {self.head + 1}: heads are 1 to {len(HEADS)}.")
        if len(self.matrix) != 1 or self.matrix not in MATRICES:
            raise ValueError(f"There is no matrix W{self.matrix}: they are Wq, Wk and Wv.")
        if not (0 <= self.row < D_MODEL and 0 <= self.column < D_K):
            raise ValueError(
                f"W{self.matrix} is {D_MODEL} x {D_K} and has no entry at row {self.row + 1}, "
                f"column {self.column + 1}."
            )
        if not math.isfinite(self.value) or abs(self.value) > LARGEST_WEIGHT:
            raise ValueError(
                f"A weight of {typeset(self.value, 'g')} is outside −{LARGEST_WEIGHT:g} to "
                f"{LARGEST_WEIGHT:g}."
            )
        object.__setattr__(self, "value", round(float(self.value), _DECIMALS) + 0.0)

    @property
    def entry(self) -> tuple[int, str, int, int]:
        """Which number is edited, whatever its value."""
        return self.head, self.matrix, self.row, self.column


@dataclass(frozen=True)
class WhatIf:
    """The edits, in a fixed order, so that equal edits are equal values."""

    swaps: tuple[Swap, ...] = ()
    weights: tuple[WeightEdit, ...] = ()
    muted: frozenset[int] = frozenset()
    positions: bool = True
    scale: bool = True
    causal: bool = False

    def __post_init__(self) -> None:
        if len({swap.position for swap in self.swaps}) < len(self.swaps):
            raise ValueError("One residue is swapped twice.")
        if len({edit.entry for edit in self.weights}) < len(self.weights):
            raise ValueError("One weight is edited twice.")
        if not self.muted <= set(range(len(HEADS))):
            raise ValueError(f"Only heads 1 to {len(HEADS)} can be muted.")
        object.__setattr__(self, "swaps", tuple(sorted(self.swaps)))
        object.__setattr__(self, "weights", tuple(sorted(self.weights)))

    def with_swap(self, position: int, letter: str) -> "WhatIf":
        """The same edits, but with this residue at `position` (1-based)."""
        others = tuple(swap for swap in self.swaps if swap.position != position)
        return replace(self, swaps=(*others, Swap(position, letter)))

    def with_weights(self, edits: Iterable[WeightEdit]) -> "WhatIf":
        """The same edits, but with these weights; one set back to its own value is no edit."""
        new = {edit.entry: edit for edit in (*self.weights, *edits)}
        kept = tuple(edit for edit in new.values() if edit.value != original_weight(edit))
        return replace(self, weights=kept)

    def fitted(self, sequence: str) -> "WhatIf":
        """Without swaps that change nothing in `sequence` or lie beyond its end."""
        real = tuple(
            swap
            for swap in self.swaps
            if swap.position <= len(sequence) and sequence[swap.position - 1] != swap.letter
        )
        return replace(self, swaps=real)


UNTOUCHED = WhatIf()


def original_weight(edit: WeightEdit) -> float:
    """What the entry is in the untouched model, to the precision that an edit has."""
    matrix = getattr(HEADS[edit.head], f"w_{edit.matrix}")
    return round(float(matrix[edit.row, edit.column]), _DECIMALS) + 0.0


def edited_sequence(sequence: str, what_if: WhatIf) -> str:
    """`sequence` after the swaps; those beyond its end are left out."""
    letters = list(sequence)
    for swap in what_if.fitted(sequence).swaps:
        letters[swap.position - 1] = swap.letter
    return "".join(letters)


def edited_heads(what_if: WhatIf) -> tuple[Head, ...]:
    """The four heads after the weight edits; untouched heads are the originals themselves."""
    heads = list(HEADS)
    for index in {edit.head for edit in what_if.weights}:
        matrices = {name: getattr(HEADS[index], f"w_{name}").copy() for name in MATRICES}
        for edit in what_if.weights:
            if edit.head == index:
                matrices[edit.matrix][edit.row, edit.column] = edit.value
        heads[index] = Head(
            HEADS[index].name, HEADS[index].job, matrices["q"], matrices["k"], matrices["v"]
        )
    return tuple(heads)


def encode(what_if: WhatIf) -> str:
    """Short text for a URL; empty for the untouched model."""
    parts = [f"{swap.position}{swap.letter}" for swap in what_if.swaps]
    parts += [
        f"w{edit.head + 1}{edit.matrix}{edit.row + 1}{'ab'[edit.column]}{_short(edit.value)}"
        for edit in what_if.weights
    ]
    if what_if.muted:
        parts.append("m" + "".join(str(head + 1) for head in sorted(what_if.muted)))
    parts += ["nopos"] * (not what_if.positions) + ["noscale"] * (not what_if.scale)
    return "_".join(parts + ["causal"] * what_if.causal)


def decode(text: str) -> tuple[WhatIf, str | None]:
    """The edits written in `text`, or the untouched model and a sentence saying what is wrong."""
    try:
        if len(text) > _LONGEST_TEXT:
            raise ValueError(f"It is {len(text):,} characters long.")
        return _parse([part for part in text.split("_") if part]), None
    except ValueError as problem:
        return UNTOUCHED, f"The edits in this link cannot be read: {problem} Showing none."


def _parse(parts: list[str]) -> WhatIf:
    flags = {"nopos", "noscale", "causal"}
    swaps, weights, muted = [], [], frozenset[int]()
    for part in parts:
        if match := _SWAP.fullmatch(part):
            swaps.append(Swap(int(match[1]), match[2]))
        elif match := _WEIGHT.fullmatch(part):
            head, matrix, row, column, value = match.groups()
            where = int(head) - 1, matrix, int(row) - 1, "ab".index(column)
            weights.append(WeightEdit(*where, float(value)))
        elif match := _MUTED.fullmatch(part):
            muted |= {int(digit) - 1 for digit in match[1]}
        elif part not in flags:
            raise ValueError(f"“{part[:20]}” is not an edit.")
    return WhatIf(
        tuple(swaps),
        tuple(weights),
        muted,
        positions="nopos" not in parts,
        scale="noscale" not in parts,
        causal="causal" in parts,
    )


def _short(value: float) -> str:
    return f"{value:.{_DECIMALS}f}".rstrip("0").rstrip(".")
