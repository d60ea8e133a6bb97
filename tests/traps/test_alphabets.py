"""The reverse task over other tokens: recipes that differ in their letters alone, and run."""

from dataclasses import replace

import pytest

from core.training.engine import train
from core.training.events import Finished, Sampled, StepDone
from core.training.recipe import SPRINT, check_watched
from core.traps.alphabets import ALPHABETS, own_alphabet


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda a: a.name)
def test_only_the_letters_differ_from_the_sprint_recipe(alphabet):
    assert replace(alphabet.recipe, name="sprint", letters=SPRINT.letters) == SPRINT
    assert check_watched(alphabet.recipe, alphabet.example) == alphabet.example


def test_an_alphabet_of_ones_own_is_cleaned_and_used():
    alphabet = own_alphabet(" cdef gab\n")
    assert alphabet.vocabulary.letters == "CDEFGAB"
    assert len(alphabet.example) == 13
    assert check_watched(alphabet.recipe, alphabet.example) == alphabet.example
    assert own_alphabet("CDEFGAB") == alphabet


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "AA",
        "A-B",
        "ÄB",
        "<script>",
        "AB" * 10_000,
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234567890",
    ],
)
def test_what_is_no_alphabet_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"\."):
        own_alphabet(text)


def test_digits_begin_to_be_learnt_within_a_few_steps():
    recipe = replace(ALPHABETS[2].recipe, steps=16, d_model=16, num_heads=2, d_ff=32, warmup=5)
    watch = replace(ALPHABETS[2].watch, held_out=5)
    events = list(train(recipe, device="cpu", watch=watch, threads=1))
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert sum(losses[-4:]) < sum(losses[:4])
    assert isinstance(events[-1], Finished)
    assert {e.source for e in events if isinstance(e, Sampled)} == {ALPHABETS[2].example}
    assert {e.expected for e in events if isinstance(e, Sampled)} == {ALPHABETS[2].example[::-1]}
