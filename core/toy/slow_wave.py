"""How far the position waves reach: the slow one repeats, and heads 3 and 4 are fooled by it.

In: a run. Out: the clearest place where a head looks a whole period away, or None.
"""

from dataclasses import dataclass

from core.toy.jobs import label
from core.toy.model import ToyRun
from core.toy.residue_vectors import slow_wave_period
from core.written import percent


@dataclass(frozen=True)
class LookAlike:
    """A row of head 3 or 4 (counted from 0) that also looks a period away from its target."""

    head: int
    query: int
    target: int
    look_alike: int
    target_weight: float
    look_alike_weight: float


def look_alike(run: ToyRun) -> LookAlike | None:
    """The row that gives most to a key one period (in whole residues) from its neighbour.

    None if the sequence is too short for one, or the rows give nothing there.
    """
    period, found = round(slow_wave_period()), None
    for head, step in ((2, -1), (3, 1)):
        weights = run.steps[head].weights
        for query in range(len(run.sequence)):
            target = query + step
            for other in (target - period, target + period):
                if not (0 <= target < len(run.sequence) and 0 <= other < len(run.sequence)):
                    continue
                here, there = float(weights[query, target]), float(weights[query, other])
                if there > (found.look_alike_weight if found else 0.0):
                    found = LookAlike(head, query, target, other, here, there)
    return found


def limit_sentence(run: ToyRun) -> str | None:
    """What the slow wave's period does to this sequence, in numbers; None when it is short."""
    fooled = look_alike(run)
    if fooled is None:
        return None
    letters = run.sequence
    shares = f"{percent(fooled.target_weight)} to {label(letters, fooled.target)}, but also "
    shares += f"{percent(fooled.look_alike_weight)} to {label(letters, fooled.look_alike)}"
    apart = fooled.look_alike - fooled.target
    return (
        f"The slow wave repeats every {slow_wave_period():.2f} residues and this sequence has "
        f"{len(letters)}: head {fooled.head + 1}'s {label(letters, fooled.query)} gives "
        f"{shares}, {abs(apart)} residues {'after' if apart > 0 else 'before'} it. That is why "
        "real models use many frequencies."
    )
