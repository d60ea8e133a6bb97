"""The training run as a stream of events: step, look, report, save, until done or diverged.

In: a recipe and how to watch it. Out: `core.training.events`, plain values. Knows nothing of
processes, databases or pages; whoever reads the events decides when to stop reading.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from core.alphabet import Vocabulary
from core.training.captured_step import steps_of
from core.training.checkpoint import check_same_recipe, read_checkpoint, refusal, write_checkpoint
from core.training.devices import choose_device, sensible_threads
from core.training.divergence import DivergenceWatch
from core.training.evaluate import decode_string, decoded, exactness, held_out, snapshot
from core.training.events import (
    Evaluated,
    Event,
    Failed,
    Finished,
    NotSaved,
    Sampled,
    Saved,
    StepDone,
)
from core.training.introduction import introduction
from core.training.learner import Learner
from core.training.parallel import this_world
from core.training.recipe import Recipe, Watch, check_watched
from core.training.schedule import learning_rate

LONGEST_SILENCE = 0.25  # seconds between two looks at what is wished for, where steps are shorter


def train(recipe: Recipe, **options: Any) -> Iterator[Event]:
    """Train and yield what happens; `options` as of `Training`, which also saves at any moment."""
    yield from Training(recipe, **options).events()


class Training:
    """One run. Between two events it stands still, and `save` writes all it needs to go on.

    `resume` is a checkpoint to go on from, with the same losses as if the run had never stopped
    (same device and threads). `save_to` is where checkpoints go, every `watch.save_every` steps
    and at the end; None writes none. `compiled` is for a GPU, see `Learner`. Stop it by not asking
    for the next event. An evaluation may take seconds: set `breathe`, which it calls again and
    again, and may raise to end the run there.

    Raises ValueError for a device that is missing, a string that the model cannot read, or a
    checkpoint that does not fit.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        device: str = "auto",
        watch: Watch | None = None,
        resume: Path | None = None,
        save_to: Path | None = None,
        threads: int | None = None,
        compiled: bool = False,
    ):
        self._began = time.perf_counter()
        self.recipe, self.watch = recipe, watch or Watch()
        self._string = check_watched(recipe, self.watch.string)
        torch.set_num_threads(threads or sensible_threads())
        chosen = choose_device(device)
        if compiled and chosen.type == "cpu":
            raise ValueError("Compiling pays on a GPU only; the CPU has a faster way by hand.")
        self._learner = Learner(recipe, chosen, this_world(), compiled=compiled)
        self._steps = steps_of(self._learner)
        self._save_to, self._save_failed = save_to, False
        self.step, self.seconds, self._pace = 0, 0.0, 0.0
        self._looked_at = 0  # the last step at which all that was due has been looked at
        self.breathe: Callable[[], None] = lambda: None
        if resume is not None:
            self._go_on_from(resume)
        self._held_out = held_out(recipe, self.watch.held_out, self._learner.device)
        self._divergence = DivergenceWatch(len(Vocabulary(recipe.letters)))

    def events(self) -> Iterator[Event]:
        """Started, then steps and looks at them, then Finished, or Failed if it diverges."""
        yield introduction(self._learner, self.watch, self.step)
        reached = False
        while not reached and (self.step < self.recipe.steps or self._looked_at < self.step):
            # First the look that was cut short where the run goes on from, if there is one.
            for step_or_failure in self._advance() if self._looked_at == self.step else ():
                yield step_or_failure
                if isinstance(step_or_failure, Failed):
                    return
            for seen in self._look():
                yield seen
                reached = reached or self._reached(seen)
        yield from self._finish()

    def save(self, path: Path) -> Saved | NotSaved:
        """Write a checkpoint of this moment; of several processes all call it, the first writes.

        On a GPU the weights may be a few steps ahead of the last event; `step` is theirs.
        A disk that refuses it is no reason to stop: the event says so, and the old file stays.
        """
        state = self._learner.state()
        state["seconds_total"] = time.perf_counter() - self._began
        state["looked_at"] = self._looked_at
        try:
            if self._learner.world.speaks:
                write_checkpoint(path, self.recipe, state, self.seconds)
        except OSError as problem:
            self._save_failed = True
            return NotSaved(state["taken"], refusal(state["taken"], problem))
        self._save_failed = False
        return Saved(state["taken"], str(path))

    def _go_on_from(self, path: Path) -> None:
        content = read_checkpoint(path)
        check_same_recipe(content, self.recipe)
        self._learner.restore(content)
        self.step, self.seconds = content["taken"], content["seconds"]
        self._began -= content.get("seconds_total", self.seconds)  # earlier versions did not say
        self._looked_at = content.get("looked_at", self.step)  # nor this

    def _advance(self) -> Iterator[StepDone | Failed]:
        count = self._steps_until_next_look()
        before, began = self.seconds, time.perf_counter()
        self._steps(count)
        losses, norms = self._learner.logs(self.step + 1, self.step + count)
        self.seconds += time.perf_counter() - began
        self._pace = (self.seconds - before) / count
        for number in range(count):
            self.step += 1
            # Steps taken in one go on a GPU share its time equally.
            seconds = before + (self.seconds - before) * (number + 1) / count
            rate = learning_rate(self.recipe, self.step)
            done = StepDone(self.step, float(losses[number]), rate, float(norms[number]), seconds)
            yield done
            sentence = self._divergence.trouble(done)
            if sentence:
                yield Failed(self.step, rate, sentence)
                return

    def _steps_until_next_look(self) -> int:
        left = self.recipe.steps - self.step
        in_time = max(1, int(LONGEST_SILENCE / self._pace)) if self._pace else 1
        return min(left, self._steps.at_once, in_time, *self.watch.ahead(self.step))

    def _look(self) -> Iterator[Event]:
        watch, step, model = self.watch, self.step, self._learner.model
        first, last = step == 1, step == self.recipe.steps
        if first or last or _due(step, watch.sample_every):
            decoded = decode_string(model, self.recipe, self._string)
            yield Sampled(step, self._string, decoded, self._string[::-1])
        if first or last or _due(step, watch.snapshot_every):
            seen = snapshot(model, self.recipe, self._string, step)
            if seen is not None:
                yield seen
        if last or _due(step, watch.evaluate_every):
            yield self._evaluated()
        self._looked_at = step
        if last or _due(step, watch.save_every):
            yield from self._keep()

    def _keep(self) -> Iterator[Saved | NotSaved]:
        """The checkpoint that is due; of several in a row that fail, the first one is told."""
        if self._save_to is None:
            return
        told, event = self._save_failed, self.save(self._save_to)
        if not (told and self._save_failed):
            yield event

    def _evaluated(self) -> Evaluated:
        found = exactness(self._learner.model, self.recipe, self._held_out, None, self.breathe)
        return Evaluated(self.step, found.exact, found.of, found.letters_right)

    def _reached(self, event: Event) -> bool:
        wanted = self.watch.until_exact
        return wanted is not None and isinstance(event, Evaluated) and event.exact >= wanted

    def _finish(self) -> Iterator[Event]:
        model, at_end = self._learner.model, self.step == self.recipe.steps
        if not at_end:
            yield from self._keep()
        # Once more by decoding freely, the slow way, because this is the number that is quoted.
        found = exactness(model, self.recipe, self._held_out, decoded, self.breathe)
        yield Finished(
            steps=self.step,
            seconds=self.seconds,
            seconds_total=time.perf_counter() - self._began,
            exact=found.exact,
            of=found.of,
            decoded={self._string: decode_string(model, self.recipe, self._string)},
        )


def _due(step: int, every: int) -> bool:
    return bool(every) and step % every == 0
