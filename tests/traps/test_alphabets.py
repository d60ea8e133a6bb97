"""The reverse task over other tokens: recipes that differ in their letters alone, and run."""

from dataclasses import replace

import pytest

from core.training.engine import train
from core.training.events import Finished, Sampled, StepDone
from core.training.recipe import SPRINT, check_watched
from core.traps.alphabets import ALPHABETS


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda a: a.name)
def test_only_the_letters_differ_from_the_sprint_recipe(alphabet):
    assert replace(alphabet.recipe, name="sprint", letters=SPRINT.letters) == SPRINT
    assert check_watched(alphabet.recipe, alphabet.example) == alphabet.example


def test_digits_begin_to_be_learnt_within_a_few_steps():
    recipe = replace(ALPHABETS[2].recipe, steps=30, d_model=16, num_heads=2, d_ff=32, warmup=5)
    watch = replace(ALPHABETS[2].watch, held_out=5)
    events = list(train(recipe, device="cpu", watch=watch, threads=1))
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert sum(losses[-5:]) < sum(losses[:5])
    assert isinstance(events[-1], Finished)
    assert {e.source for e in events if isinstance(e, Sampled)} == {ALPHABETS[2].example}
    assert {e.expected for e in events if isinstance(e, Sampled)} == {ALPHABETS[2].example[::-1]}
