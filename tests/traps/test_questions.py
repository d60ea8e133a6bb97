"""Every question's computed answer is the one that a careful student gives."""

import re

import pytest

from core.traps.question import Question
from core.traps.questions_attention import causal_mask, positions, several_heads, square_root
from core.traps.questions_block import feed_forward_share, one_layer
from core.traps.questions_cross import cross_attention, cross_shape
from core.traps.questions_training import loss_floor

EXPECTED = {
    one_layer: "normalise, attend, add back; normalise, feed forward, add back",
    positions: "The same vectors, shuffled in the same way",
    several_heads: "1",
    square_root: "about 8",
    causal_mask: "6 to 13",
    cross_attention: "5 × 13",
    loss_floor: "0.61",
    feed_forward_share: "two thirds",
}


@pytest.mark.parametrize("ask", EXPECTED, ids=lambda ask: ask.__name__)
def test_the_computed_answer_is_right(ask):
    question = ask()
    assert question.options[question.answer] == EXPECTED[ask]
    assert len(set(question.options)) == len(question.options)


@pytest.mark.parametrize("ask", EXPECTED, ids=lambda ask: ask.__name__)
def test_the_feedback_quotes_a_number(ask):
    assert all(re.search(r"\d", said) for said in ask().evidence)


def test_only_one_order_of_operations_reproduces_the_block():
    said = one_layer().evidence
    assert ["give the block's output" in s for s in said].count(True) == 1


def test_all_four_heads_tell_the_serines_apart():
    assert "there are 4" in several_heads().evidence[0]


def test_the_shape_of_cross_attention_follows_both_lengths():
    assert cross_shape("CASSIRS", 3) == (3, 7)


def test_a_question_without_a_computed_answer_is_refused():
    with pytest.raises(ValueError, match="no computed answer"):
        Question("t", "p", ("a", "b"), 2, ("x", "y"))
    with pytest.raises(ValueError, match="no computed answer"):
        Question("t", "p", ("a", "b"), 0, ("x",))
