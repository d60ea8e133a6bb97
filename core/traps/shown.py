"""One line of a teaching table: a name, what it does, and a number measured just now."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """`measured` is a sentence whose number was computed by running the model."""

    name: str
    role: str
    measured: str
