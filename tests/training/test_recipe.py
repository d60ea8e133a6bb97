"""Recipes: the paper's numbers, the bounds, and the trip through JSON."""

import subprocess
import sys
from dataclasses import fields, replace

import pytest

from core.alphabet import SequenceError
from core.training.limits import NUMBERS, SWITCHES
from core.training.recipe import PAPER, RECIPES, SPRINT, Recipe, Watch, check_watched


def test_the_paper_recipe_is_the_published_one(golden):
    optimiser, model = golden["reverse_task"]["optimiser"], golden["reverse_task"]["model"]
    assert PAPER.letters == golden["reverse_task"]["alphabet"]
    assert [PAPER.min_length, PAPER.max_length] == golden["reverse_task"]["lengths"]
    assert {name: getattr(PAPER, name) for name in model} == model
    assert [PAPER.beta1, PAPER.beta2] == optimiser["betas"]
    assert PAPER.epsilon == optimiser["eps"]
    assert PAPER.clip_norm == optimiser["clip_norm"]
    for name in ("warmup", "label_smoothing", "batch", "steps"):
        assert getattr(PAPER, name) == optimiser[name]
    assert (PAPER.optimiser, PAPER.schedule) == ("adam", "paper")


def test_the_sprint_learns_the_same_task_with_the_same_sizes(golden):
    for name in ("letters", "min_length", "max_length", *golden["reverse_task"]["model"]):
        if name != "dropout":
            assert getattr(SPRINT, name) == getattr(PAPER, name)


def test_every_setting_is_explained():
    named = {f.name for f in fields(Recipe)} - {"name", "schedule", "optimiser", "letters"}
    assert named == set(NUMBERS) | set(SWITCHES)
    for setting in (*NUMBERS.values(), *SWITCHES.values()):
        assert setting.sentence.endswith(".")


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_json_gives_the_recipe_back(recipe):
    assert Recipe.from_json(recipe.to_json()) == recipe


def test_watch_survives_json():
    watch = Watch(string="CASSF", until_exact=7, held_out=11)
    assert Watch.from_json(watch.to_json()) == watch


@pytest.mark.parametrize("name", NUMBERS)
def test_every_bound_is_enforced(name):
    setting = NUMBERS[name]
    for value in (setting.low - 1, setting.high * 2, "3", None, True, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=name):
            replace(PAPER, **{name: value})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 2.5}, "whole number"),
        ({"d_model": 60, "num_heads": 7}, "60 cannot be shared equally by 7 heads"),
        ({"d_model": 7, "num_heads": 7}, "odd"),
        ({"min_length": 12, "max_length": 11}, "12 letters.*longer"),
        ({"batch": 1024, "max_length": 64}, "65,536 letters per step"),
        ({"batch": 1024, "max_length": 32, "steps": 20_000}, "fewer steps"),
        (
            {"d_model": 256, "d_ff": 1024, "num_layers": 6, "batch": 512},
            "614 million numbers.*200 million is the most",
        ),
        ({"letters": "AAB"}, "each letter once"),
        ({"letters": "A"}, "at least two"),
        ({"letters": "<B>"}, "letters A to Z"),
        ({"letters": "abc"}, "upper case"),
        ({"schedule": "cosine"}, "paper or linear"),
        ({"optimiser": "sgd"}, "optimiser"),
        ({"positions": 1}, "on or off"),
        ({"name": ""}, "1 to 60"),
        ({"name": "\ud83e"}, "half of a character"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_what_is_wrong_is_said_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        Recipe.from_dict({**PAPER.to_dict(), **changes})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"),
        ("[]", "JSON"),
        ("3", "JSON"),
        ('{"steps": "many"}', "Steps"),
        ("[" * 100_000, "brackets within so many brackets"),
        ('{"steps": ' + "9" * 5000 + "}", "more digits than any setting"),
        ('{"steps": ' + "9" * 4000 + "}", r"Steps \(steps\) is 9{5,30}\.\.\.9{5,30}; "),
    ],
)
def test_json_that_is_no_recipe_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        Recipe.from_json(text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("seed", "a whole number from 0 to 2,147,483,647."),
        ("peak", "a number from 1e-06 to 1."),
        ("clip_norm", "a number from 0 to 1,000."),
    ],
)
def test_bounds_are_written_as_people_write_them(name, words):
    with pytest.raises(ValueError, match=words):
        replace(PAPER, **{name: -1})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"held_out": 0}, "held_out"),
        ({"until_exact": 1001}, "until_exact"),
        ({"sample_every": -1}, "sample_every"),
        ({"string": ""}, "empty"),
    ],
)
def test_watch_is_checked_too(changes, words):
    with pytest.raises(ValueError, match=words):
        Watch(**changes)


def test_the_watched_string_must_be_readable():
    assert check_watched(PAPER, "cassf") == "CASSF"
    with pytest.raises(SequenceError, match="position 3"):
        check_watched(PAPER, "CA1F")
    with pytest.raises(SequenceError, match="16"):
        check_watched(PAPER, "A" * 17)


def test_recipes_and_events_do_not_load_torch():
    code = (
        "import sys, core.training.recipe, core.training.events, core.training.schedule;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
