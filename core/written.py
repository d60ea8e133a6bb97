"""Numbers as sentences and labels write them.

In: numbers. Out: text with real minus signs, powers of ten and spaces that do not break.
"""

from typing import SupportsFloat

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: SupportsFloat, decimals: int = 0) -> str:
    """`60 %` for 0.6."""
    return f"{typeset(100 * float(share), f'.{decimals}f')}\u00a0%"


def typeset(value: SupportsFloat, spec: str) -> str:
    """`format(value, spec)` as a book prints it: `−0.36`, and `8.9·10⁻¹⁶` for 8.9e-16."""
    if not value and "e" in spec:
        return "0"
    digits, _, exponent = format(value, spec).partition("e")
    power = f"·10{str(int(exponent)).translate(_RAISED)}" if exponent else ""
    return digits.replace("-", "−") + power
