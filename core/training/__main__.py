"""`python -m core.training run`: train from the command line, one JSON object per event.

Events go to standard output, messages to standard error. Exit status: 0 finished, 1 failed,
stopped or the weights could not be saved, 2 bad input. Ctrl-C ends the run after the step it is
in, with a checkpoint if --save is given; a second one ends it at once. Under torchrun the
processes share each batch and the first one prints.
"""

import argparse
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.training.engine import Training
from core.training.events import Event, Failed, Finished, NotSaved, Saved, to_json_line
from core.training.parallel import World, joined_world
from core.training.recipe import RECIPES, Recipe, Watch


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        with joined_world() as world:
            return _run(options, world)
    except OSError as problem:  # standard output: what a checkpoint's file refuses is an event
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):  # else whoever read has seen enough
            reason = "the disk is full" if problem.errno == errno.ENOSPC else problem.strerror
            print(f"Failed: the events cannot be written: {reason}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped at once. {_where(options.save)}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace, world: World) -> int:
    try:
        training = Training(
            _recipe(options),
            device=options.device,
            watch=_watch(options),
            resume=options.resume,
            save_to=options.save,
            compiled=options.compile,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    with _first_interrupt(world) as interrupted:
        return _report(training, world, options.save, interrupted)


def _report(
    training: Training, world: World, save_to: Path | None, interrupted: threading.Event
) -> int:
    status, events = 0, training.events()
    for event in events:
        status = _tell(event, world, status)
        if interrupted.is_set() and not isinstance(event, Finished | Failed):
            if save_to:
                saved = training.save(save_to)
                while training.step < saved.step:  # a GPU is some steps ahead of its events
                    _tell(next(events), world, 0)
                _tell(saved, world, 0)
            print(f"\nStopped after step {training.step:,}. {_where(save_to)}", file=sys.stderr)
            return 1
    return status


def _tell(event: Event, world: World, status: int) -> int:
    """Print the event; the exit status that was `status` before it."""
    if world.speaks:
        print(to_json_line(event), flush=True)
    if isinstance(event, NotSaved | Failed):
        print(event.sentence, file=sys.stderr)
        return 1
    return 0 if isinstance(event, Saved) else status


@contextmanager
def _first_interrupt(world: World) -> Iterator[threading.Event]:
    """Set by the first Ctrl-C, so that no step is cut in two; the second one interrupts.

    Of several processes each would end after another step, so there the first one interrupts.
    """
    noted, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        noted.set()
        signal.signal(signal.SIGINT, before)

    if world.size == 1:
        signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _where(save_to: Path | None) -> str:
    if save_to is None:
        return "Nothing was saved; --save FILE would keep it."
    if not save_to.exists():
        return f"There is no checkpoint at {save_to}."
    return f"The last checkpoint written to {save_to} stays; --resume {save_to} goes on from it."


def _recipe(options: argparse.Namespace) -> Recipe:
    if options.recipe_file:
        try:
            recipe = Recipe.from_json(options.recipe_file.read_text("utf-8-sig"))
        except OSError as error:
            raise ValueError(f"{options.recipe_file} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{options.recipe_file} cannot be read as text: save it in the encoding UTF-8."
            ) from error
    else:
        recipe = RECIPES[options.recipe]
    changes = {"steps": options.steps, "seed": options.seed}
    given = {name: value for name, value in changes.items() if value is not None}
    return Recipe.from_dict({**recipe.to_dict(), **given})


def _watch(options: argparse.Namespace) -> Watch:
    every = options.evaluate_every
    if every is None:
        every = 10 if options.until_exact else 500
    return Watch(string=options.string, evaluate_every=every, until_exact=options.until_exact)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core.training", description=__doc__)
    run = parser.add_subparsers(required=True, metavar="run").add_parser("run", help="train")
    recipe = run.add_mutually_exclusive_group()
    recipe.add_argument("--recipe", choices=sorted(RECIPES), default="paper")
    recipe.add_argument("--recipe-file", type=Path, metavar="JSON", help="a recipe of your own")
    run.add_argument("--steps", type=int, metavar="N", help="other than the recipe's")
    run.add_argument("--seed", type=int, metavar="S", help="other than the recipe's")
    run.add_argument("--device", choices=["auto", "cpu", "cuda", "mps"], default="auto")
    run.add_argument(
        "--until-exact", type=int, metavar="N", help="stop once N of 1,000 strings are exact"
    )
    run.add_argument(
        "--evaluate-every", type=int, metavar="N", help="steps between evaluations; 0: at the end"
    )
    run.add_argument("--string", default=Watch().string, help="the string that is watched")
    run.add_argument("--save", type=Path, metavar="PT", help="write checkpoints here")
    run.add_argument("--compile", action="store_true", help="on a GPU: half a minute, then faster")
    run.add_argument("--resume", type=Path, metavar="PT", help="go on from this checkpoint")
    return parser


if __name__ == "__main__":
    sys.exit(main())
