"""Sequence in, one row of eight numbers per residue out: four of chemistry, four of position.

The two halves stand side by side, so that a reader can see which is which; real models add
them. Knows nothing of attention.
"""

import math

import numpy as np
from jaxtyping import Float

from core.alphabet import clean_sequence

COLUMNS = ("HYD", "CHG", "POL", "ARO", "P1s", "P1c", "P2s", "P2c")
COLUMN_MEANINGS = (
    "hydropathy: water-hating +1 to water-loving −1",
    "charge: +1, 0 or −1",
    "polar: 1 or 0",
    "aromatic: 1 or 0",
    "fast wave, sine of the position",
    "fast wave, cosine of the position",
    "slow wave, sine of a third of the position",
    "slow wave, cosine of a third of the position",
)
POSITION_BASE = 9
POSITION_WIDTH = 4

# Kyte and Doolittle (1982), table 2.
KYTE_DOOLITTLE = {
    "A": 1.8, "R": -4.5, "N": -3.5, "D": -3.5, "C": 2.5, "Q": -3.5, "E": -3.5, "G": -0.4,
    "H": -3.2, "I": 4.5, "L": 3.8, "K": -3.9, "M": 1.9, "F": 2.8, "P": -1.6, "S": -0.8,
    "T": -0.7, "W": -0.9, "Y": -1.3, "V": 4.2,
}  # fmt: skip
CHARGE = {"R": 1.0, "K": 1.0, "D": -1.0, "E": -1.0}
POLAR = frozenset("STNQYH")
AROMATIC = frozenset("FWY")


def chemistry(sequence: str) -> Float[np.ndarray, "L 4"]:
    """Hydropathy (Kyte-Doolittle / 4.5, two decimals), charge, polar, aromatic per residue.

    Raises SequenceError naming the letter and its 1-based position.
    """
    letters = clean_sequence(sequence).sequence
    return np.array(
        [
            (
                round(KYTE_DOOLITTLE[letter] / 4.5, 2),
                CHARGE.get(letter, 0.0),
                float(letter in POLAR),
                float(letter in AROMATIC),
            )
            for letter in letters
        ]
    )


def wave_speeds() -> tuple[float, ...]:
    """Radians per residue of each sine-cosine pair: 1 / base^(2i/d), here 1 and 1/3.

    Vaswani et al. 2017, section 3.5, with base 9 and width 4 for 10,000 and 512.
    """
    return tuple(
        1 / POSITION_BASE ** (2 * pair / POSITION_WIDTH) for pair in range(POSITION_WIDTH // 2)
    )


def slow_wave_period() -> float:
    """Residues after which the slowest wave repeats: 2 pi divided by its speed."""
    return 2 * math.pi / min(wave_speeds())


def position_waves(length: int) -> Float[np.ndarray, "L 4"]:
    """Sine and cosine of both waves for positions 0 to length - 1."""
    angles = np.outer(np.arange(length), wave_speeds())
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(length, POSITION_WIDTH)


def residue_vectors(sequence: str, *, positions: bool = True) -> Float[np.ndarray, "L 8"]:
    """The toy's input X. With `positions` off the last four columns are zero.

    Raises SequenceError for text that is not a sequence over the 20 amino acids.
    """
    chemical = chemistry(sequence)
    waves = position_waves(len(chemical))
    return np.hstack([chemical, waves if positions else np.zeros_like(waves)])
