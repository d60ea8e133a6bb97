"""One self-check question whose right answer was found by running a model.

Out: the question with its options, the index of the option that the computation supports, and
what the computation says of each option.
"""

from dataclasses import dataclass

# Differences below this are rounding in float64.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Question:
    """One question; `evidence[i]` is what the computation says about option i."""

    title: str
    prompt: str
    options: tuple[str, ...]
    answer: int
    evidence: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.options) != len(self.evidence) or not 0 <= self.answer < len(self.options):
            raise ValueError(f"The question {self.title!r} has no computed answer.")
