"""Files from which a run goes on, or a trained model is taken: written whole or not at all.

Tensors and plain values only, so that loading never runs code from the file.
"""

import os
from pathlib import Path
from typing import Any

import torch

from core.training.model import build_model
from core.training.recipe import Recipe
from core.transformer.model import Transformer

FORMAT = 1
_MAY_DIFFER = {"name", "steps"}


def write_checkpoint(path: Path, recipe: Recipe, state: dict[str, Any], seconds: float) -> None:
    """Write to a neighbour file first: at any moment `path` is absent, old or complete.

    Raises OSError when the folder or the disk refuses it.
    """
    content = {"format": FORMAT, "recipe": recipe.to_dict(), "seconds": seconds, **state}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        torch.save(content, unfinished)
        os.replace(unfinished, path)
    except RuntimeError as error:  # what torch makes of a file that the system refuses
        raise OSError("the file cannot be written; is the disk full?") from error
    finally:
        unfinished.unlink(missing_ok=True)


def refusal(step: int, problem: OSError) -> str:
    """What `write_checkpoint` raised at `step`, as a sentence for whoever watches."""
    reason = problem.strerror or str(problem)
    return (
        f"The weights of step {step:,} could not be saved ({reason}). The last whole checkpoint "
        "stays, and the next one is tried as usual."
    )


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `write_checkpoint` wrote. Raises ValueError when the file is not a checkpoint."""
    if not path.is_file():
        raise ValueError(f"There is no checkpoint at {path}.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged or foreign file
        raise ValueError(
            f"{path.name} cannot be read as a checkpoint: this app did not save it, or it was "
            "damaged since."
        ) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path.name} is not a checkpoint that this app saved.")
    return content


def check_same_recipe(content: dict[str, Any], recipe: Recipe) -> None:
    """Raises ValueError naming the settings in which `recipe` differs from the checkpoint's.

    The name may differ, and the number of steps if there are any left to take.
    """
    held, wanted = content["recipe"], recipe.to_dict()
    different = [n for n in wanted if n not in _MAY_DIFFER and held.get(n) != wanted[n]]
    if different:
        changes = ", ".join(f"{n} ({held.get(n)} there, {wanted[n]} here)" for n in different)
        raise ValueError(f"This checkpoint was trained differently: {changes}.")
    if content["taken"] > recipe.steps:
        raise ValueError(
            f"The checkpoint is at step {content['taken']:,} and the recipe ends at "
            f"{recipe.steps:,}."
        )


def load_model(path: Path) -> tuple[Transformer, Recipe]:
    """The trained model on the CPU in evaluation mode, and the recipe that made it.

    Raises ValueError when the file is not a checkpoint.
    """
    content = read_checkpoint(path)
    recipe = Recipe.from_dict(content["recipe"])
    model = build_model(recipe)
    model.load_state_dict(content["model"])
    return model.eval(), recipe
