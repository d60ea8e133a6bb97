import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.alphabet import AMINO_ACIDS, SequenceError
from core.toy.residue_vectors import (
    COLUMN_MEANINGS,
    COLUMNS,
    KYTE_DOOLITTLE,
    chemistry,
    position_waves,
    residue_vectors,
    slow_wave_period,
    wave_speeds,
)

GOLDEN = json.loads((Path(__file__).parent.parent / "golden_numbers.json").read_text())["toy"]
SEQUENCE = GOLDEN["sequence"]


def test_shape_is_the_published_one():
    assert list(residue_vectors(SEQUENCE).shape) == GOLDEN["input_shape"]
    assert len(COLUMNS) == len(COLUMN_MEANINGS) == 8


@pytest.mark.parametrize(("letter", "value"), GOLDEN["hydropathy_scaled"].items())
def test_scaled_hydropathy(letter, value):
    assert chemistry(letter)[0, 0] == value


def test_serines_enter_with_equal_chemistry():
    vectors = residue_vectors(SEQUENCE)
    for position in GOLDEN["serine_positions_1based"]:
        assert SEQUENCE[position - 1] == "S"
        assert list(vectors[position - 1, :4]) == GOLDEN["serine_before_chemistry"]


def test_every_letter_has_chemistry_and_extremes_are_isoleucine_and_arginine():
    hydropathy = chemistry(AMINO_ACIDS)[:, 0]
    assert set(KYTE_DOOLITTLE) == set(AMINO_ACIDS)
    assert AMINO_ACIDS[hydropathy.argmax()] == "I"
    assert AMINO_ACIDS[hydropathy.argmin()] == "R"


def test_flags_of_chemistry_by_letter():
    charge, polar, aromatic = chemistry(AMINO_ACIDS).T[1:]
    named = {letter: index for index, letter in enumerate(AMINO_ACIDS)}
    assert {a for a in named if charge[named[a]] == 1} == set("RK")
    assert {a for a in named if charge[named[a]] == -1} == set("DE")
    assert {a for a in named if polar[named[a]] == 1} == set("STNQYH")
    assert {a for a in named if aromatic[named[a]] == 1} == set("FWY")


def test_waves_are_sine_and_cosine_of_the_position_and_of_its_third():
    waves = position_waves(7)
    for position in range(7):
        expected = [f(position / d) for d in (1, 3) for f in (math.sin, math.cos)]
        assert waves[position] == pytest.approx(expected, abs=1e-15)


def test_period_of_the_slow_wave():
    assert wave_speeds() == pytest.approx((1, 1 / 3))
    assert slow_wave_period() == pytest.approx(18.85, abs=0.005)


def test_positions_off_leaves_chemistry_alone():
    on, off = residue_vectors(SEQUENCE), residue_vectors(SEQUENCE, positions=False)
    assert np.array_equal(on[:, :4], off[:, :4])
    assert not off[:, 4:].any()


@pytest.mark.parametrize("bad", ["", "CAX", "CA1", "<script>", "C*S"])
def test_bad_sequences_are_refused(bad):
    with pytest.raises(SequenceError):
        residue_vectors(bad)
