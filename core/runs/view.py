"""Everything a page draws of one run, kept up to date by reading only the rows it lacks.

In: an open database, or a list of events. Out: a frozen `View` of arrays and events. The same
value comes from a live run and from a recorded one, so a page draws both alike.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from core.runs import history
from core.runs.run import Run
from core.training.events import Evaluated, Event, Sampled, Snapshot, StepDone

Trail = tuple[int, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class View:
    """Curves by step, and what was seen at single steps.

    `seconds` is training time at each step; `trail` the anti-diagonal average of each layer at
    each snapshot. Losses are nats per letter.
    """

    steps: Int[np.ndarray, " n"]
    losses: Float[np.ndarray, " n"]
    learning_rates: Float[np.ndarray, " n"]
    seconds: Float[np.ndarray, " n"]
    evaluations: tuple[Evaluated, ...] = ()
    samples: tuple[Sampled, ...] = ()
    trail: tuple[Trail, ...] = ()
    rewinds: int = 0

    @property
    def last_step(self) -> int:
        return int(self.steps[-1]) if len(self.steps) else 0


def empty(rewinds: int = 0) -> View:
    none = np.empty(0)
    return View(none.astype(int), none, none, none, rewinds=rewinds)


def follow(db: sqlite3.Connection, run: Run, held: View | None = None) -> View:
    """`held` with all rows added that came since; everything when the run went back in time."""
    if held is None or held.rewinds != run.rewinds:
        held = empty(run.rewinds)
    return replace(
        _with_steps(held, history.steps_after(db, run.id, held.last_step)),
        evaluations=_longer(
            held.evaluations, history.evaluations_after(db, run.id, _last(held.evaluations))
        ),
        samples=_longer(held.samples, history.samples_after(db, run.id, _last(held.samples))),
        trail=held.trail
        + tuple(history.snapshots_after(db, run.id, held.trail[-1][0] if held.trail else -1)),
    )


def from_events(events: Iterable[Event]) -> View:
    """The view of a run whose events are all at hand."""
    kept = list(events)
    return replace(
        _with_steps(empty(), [event for event in kept if isinstance(event, StepDone)]),
        evaluations=tuple(event for event in kept if isinstance(event, Evaluated)),
        samples=tuple(event for event in kept if isinstance(event, Sampled)),
        trail=tuple((e.step, e.antidiagonal) for e in kept if isinstance(e, Snapshot)),
    )


def until(view: View, step: int) -> View:
    """The view as it was when `step` was done."""
    n = int(np.searchsorted(view.steps, step, side="right"))
    return replace(
        view,
        steps=view.steps[:n],
        losses=view.losses[:n],
        learning_rates=view.learning_rates[:n],
        seconds=view.seconds[:n],
        evaluations=tuple(event for event in view.evaluations if event.step <= step),
        samples=tuple(event for event in view.samples if event.step <= step),
        trail=tuple(entry for entry in view.trail if entry[0] <= step),
    )


def _with_steps(view: View, new: Sequence[StepDone]) -> View:
    if not new:
        return view
    return replace(
        view,
        steps=np.append(view.steps, np.array([event.step for event in new], dtype=int)),
        losses=np.append(view.losses, [event.loss for event in new]),
        learning_rates=np.append(view.learning_rates, [event.learning_rate for event in new]),
        seconds=np.append(view.seconds, [event.seconds for event in new]),
    )


def _longer(held: tuple, new: list) -> tuple:
    return held + tuple(new)


def _last(events: Sequence[Evaluated | Sampled]) -> int:
    return events[-1].step if events else -1
