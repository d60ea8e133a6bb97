"""A run as files to take away: its numbers, its recipe, and a script that repeats it.

In: a run and its view. Out: text. Knows nothing of where it is saved.
"""

import csv
import io
import json
from typing import Any

from core.runs.view import View
from core.training.recipe import Recipe, Watch

_SCRIPT = '''"""Repeats one training run; prints one JSON object per event.

Run it in the root of the project (python repeat_run.py), or tell Python where that is
(PYTHONPATH=/where/the/project/is python repeat_run.py).
"""

import sys

try:
    from core.training.engine import train
    from core.training.events import to_json_line
    from core.training.recipe import Recipe, Watch
except ModuleNotFoundError as missing:
    sys.exit(f"There is no {{missing.name}} here. {{__doc__}}")

RECIPE = {recipe}
WATCH = {watch}
THREADS = {threads}  # another number rounds differently

if __name__ == "__main__":
    for event in train(Recipe.from_dict(RECIPE), watch=Watch.from_dict(WATCH), threads=THREADS):
        print(to_json_line(event))
'''


def metrics_csv(view: View) -> str:
    """One line per step: step, loss, learning rate, training seconds, and what was held out."""
    exact = {event.step: event for event in view.evaluations}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "loss", "learning_rate", "seconds", "exact", "of"])
    rows = zip(view.steps, view.losses, view.learning_rates, view.seconds, strict=True)
    for step, loss, rate, seconds in rows:
        found = exact.get(int(step))
        held_out = [found.exact, found.of] if found else ["", ""]
        writer.writerow([int(step), float(loss), float(rate), float(seconds), *held_out])
    return out.getvalue()


def recipe_json(recipe: Recipe, watch: Watch, **besides: Any) -> str:
    """Recipe, what was watched, and what else is known of the run."""
    values = {**besides, "recipe": recipe.to_dict(), "watch": watch.to_dict()}
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def script(recipe: Recipe, watch: Watch, threads: int | None = None) -> str:
    """A Python script that runs the same recipe again.

    The same device and number of CPU threads (None: what suits the machine) give the same losses.
    """
    settings = {"recipe": _pretty(recipe.to_dict()), "watch": _pretty(watch.to_dict())}
    return _SCRIPT.format(**settings, threads=threads)


def _pretty(values: dict[str, object]) -> str:
    lines = [f"    {name!r}: {value!r}," for name, value in values.items()]
    return "\n".join(["{", *lines, "}"])
