"""Numbers as sentences write them."""

import math

import pytest

from core.written import percent, typeset


@pytest.mark.parametrize(
    ("value", "spec", "expected"),
    [
        (-0.357, "+.2f", "−0.36"),
        (0.357, "+.2f", "+0.36"),
        (-12345.6, ",.1f", "−12,345.6"),
        (8.88e-16, ".1e", "8.9·10⁻¹⁶"),
        (-6.9e10, ".0e", "−7·10¹⁰"),
        (3.0, ".1e", "3.0·10⁰"),
        (0.0, ".1e", "0"),
        (0.0, ".2f", "0.00"),
        (0, "g", "0"),
        (1e-7, "g", "1·10⁻⁷"),
        (math.nan, ".1e", "nan"),
    ],
)
def test_signs_and_powers(value, spec, expected):
    assert typeset(value, spec) == expected


def test_per_cent_never_leaves_its_number():
    assert percent(0.6) == "60\u00a0%"
    assert percent(-0.0123, 1) == "−1.2\u00a0%"
