"""`python -m core.training run`: train from the command line, one JSON object per event.

Events go to standard output, messages to standard error. Exit status: 0 finished, 1 failed
or the weights could not be saved, 2 bad input. Under torchrun the processes share each batch and
the first one prints.
"""

import argparse
import sys
from pathlib import Path

from core.training.engine import Training
from core.training.events import Failed, NotSaved, Saved, to_json_line
from core.training.parallel import World, joined_world
from core.training.recipe import RECIPES, Recipe, Watch


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    with joined_world() as world:
        try:
            training = Training(
                _recipe(options),
                device=options.device,
                watch=_watch(options),
                resume=options.resume,
                save_to=options.save,
            )
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        return _report(training, world)


def _report(training: Training, world: World) -> int:
    status = 0
    for event in training.events():
        if world.speaks:
            print(to_json_line(event), flush=True)
        if isinstance(event, Saved):
            status = 0
        if isinstance(event, NotSaved | Failed):
            print(event.sentence, file=sys.stderr)
            status = 1
    return status


def _recipe(options: argparse.Namespace) -> Recipe:
    if options.recipe_file:
        try:
            recipe = Recipe.from_json(options.recipe_file.read_text())
        except OSError as error:
            raise ValueError(f"{options.recipe_file} cannot be read: {error.strerror}.") from error
    else:
        recipe = RECIPES[options.recipe]
    changes = {"steps": options.steps, "seed": options.seed}
    given = {name: value for name, value in changes.items() if value is not None}
    return Recipe.from_dict({**recipe.to_dict(), **given})


def _watch(options: argparse.Namespace) -> Watch:
    every = options.evaluate_every or (10 if options.until_exact else 500)
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
    run.add_argument("--evaluate-every", type=int, metavar="N", help="steps between evaluations")
    run.add_argument("--string", default=Watch().string, help="the string that is watched")
    run.add_argument("--save", type=Path, metavar="PT", help="write checkpoints here")
    run.add_argument("--resume", type=Path, metavar="PT", help="go on from this checkpoint")
    return parser


if __name__ == "__main__":
    sys.exit(main())
