"""One line of a teaching table: a name, what it does, and a number measured just now."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """`measured` is a sentence whose number was computed by running the model."""

    name: str
    role: str
    measured: str


def percent(share: float) -> str:
    """`60 %`, with a space that does not break."""
    return f"{100 * share:.0f}\u00a0%"
