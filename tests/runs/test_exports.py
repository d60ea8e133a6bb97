import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from core.runs import exports, view
from core.settings import REPOSITORY
from core.training.recipe import SPRINT, Recipe, Watch


def test_the_csv_holds_every_step_and_what_was_held_out(some_events):
    text = exports.metrics_csv(view.from_events(some_events()))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["step"]) for row in rows] == list(range(1, 8))
    assert float(rows[1]["loss"]) == pytest.approx(1.5)
    assert rows[2]["exact"] == "15"
    assert rows[3]["exact"] == ""


def test_the_json_gives_the_recipe_back():
    values = json.loads(exports.recipe_json(SPRINT, Watch(string="CASS"), run=7))
    assert Recipe.from_dict(values["recipe"]) == SPRINT
    assert Watch.from_dict(values["watch"]).string == "CASS"
    assert values["run"] == 7


def test_the_script_runs_and_repeats_the_run(tmp_path):
    recipe = replace(SPRINT, name='it\'s "mine"', steps=3, batch=2, d_model=8, num_heads=2, d_ff=8)
    watch = Watch(held_out=2, evaluate_every=0, sample_every=0, snapshot_every=0)
    file = tmp_path / "repeat_run.py"
    file.write_text(exports.script(recipe, watch, threads=1))
    lost = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True)
    assert lost.returncode == 1
    assert "PYTHONPATH=" in lost.stderr
    first, second = (_losses(file) for _ in range(2))
    assert len(first) == 3
    assert first == second


def _losses(file):
    done = subprocess.run(
        [sys.executable, file],
        cwd=file.parent,
        env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event["loss"] for event in events if event["event"] == "step"]
