"""A run as files to take away: its numbers, its recipe, and a script that repeats it.

In: a run and its view. Out: text. Knows nothing of where it is saved.
"""

import csv
import io
import json

from core.runs.store import Run
from core.runs.view import View
from core.training.recipe import Recipe, Watch

_SCRIPT = '''"""Repeats one training run; prints one JSON object per event.

Run it in the root of the project: python repeat_run.py
"""

from core.training.engine import train
from core.training.events import to_json_line
from core.training.recipe import Recipe, Watch

RECIPE = {recipe}
WATCH = {watch}

if __name__ == "__main__":
    for event in train(Recipe.from_dict(RECIPE), watch=Watch.from_dict(WATCH)):
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


def recipe_json(run: Run) -> str:
    """Recipe, what was watched, and what it ran on."""
    values = {
        "run": run.id,
        "name": run.name,
        "state": run.state,
        "recipe": run.recipe.to_dict(),
        "watch": run.watch.to_dict(),
        "ran_on": run.about,
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def script(recipe: Recipe, watch: Watch) -> str:
    """A Python script that runs the same recipe again; the same device gives the same losses."""
    return _SCRIPT.format(recipe=_pretty(recipe.to_dict()), watch=_pretty(watch.to_dict()))


def _pretty(values: dict[str, object]) -> str:
    lines = [f"    {name!r}: {value!r}," for name, value in values.items()]
    return "\n".join(["{", *lines, "}"])
