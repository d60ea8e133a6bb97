import random

import numpy as np
import pytest

from core.alphabet import AMINO_ACIDS
from core.toy.compare import change_sentence, edit_list, largest_change, output_shift
from core.toy.heads import HEADS
from core.toy.jobs import job_test
from core.toy.model import run_block, run_toy
from core.toy.what_if import (
    UNTOUCHED,
    Swap,
    WeightEdit,
    WhatIf,
    decode,
    edited_heads,
    edited_sequence,
    encode,
    original_weight,
)

SEQUENCE = "CASSIRSSYEQYF"
GHOST = run_toy(SEQUENCE)


def random_edits(dice: random.Random) -> WhatIf:
    entries = {
        (dice.randrange(4), dice.choice("qkv"), dice.randrange(8), dice.randrange(2))
        for _ in range(dice.randrange(6))
    }
    places = dice.sample(range(1, 61), dice.randrange(5))
    return WhatIf(
        tuple(Swap(place, dice.choice(AMINO_ACIDS)) for place in places),
        tuple(WeightEdit(*entry, dice.uniform(-100, 100)) for entry in entries),
        frozenset(dice.sample(range(4), dice.randrange(5))),
        dice.random() < 0.5,
        dice.random() < 0.5,
        dice.random() < 0.5,
    )


@pytest.mark.parametrize("seed", range(50))
def test_text_form_comes_back_as_the_same_value(seed):
    edits = random_edits(random.Random(seed))
    assert decode(encode(edits)) == (edits, None)
    assert encode(edits).replace("_", "").replace("-", "").replace(".", "").isalnum() or (
        edits == UNTOUCHED
    )


def test_text_form_by_hand():
    edits = WhatIf(
        (Swap(6, "A"),), (WeightEdit(0, "q", 1, 0, -2.5),), frozenset({2, 3}), False, False, True
    )
    assert encode(edits) == "6A_w1q2a-2.5_m34_nopos_noscale_causal"
    assert encode(UNTOUCHED) == ""
    assert decode("") == (UNTOUCHED, None)


@pytest.mark.parametrize(
    "damaged",
    ["x", "6X", "61A", "0A", "6A_6C", "w5q1a1", "w1z1a1", "w1q9a1", "w1q1c1", "w1q1a999", "m5",
     "w1q1anan", "6A_<script>", "w1q1a1_w1q1a2", "x" * 6000, "../../etc", "６A"],
)  # fmt: skip
def test_damaged_text_gives_the_untouched_model_and_a_sentence(damaged):
    edits, problem = decode(damaged)
    assert edits == UNTOUCHED
    assert problem is not None
    assert problem.endswith("Showing none.")
    assert len(problem) < 250


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Swap(61, "A"), "1 to 60"),
        (lambda: Swap(1, "B"), "20 letters"),
        (lambda: WeightEdit(4, "q", 0, 0, 0.0), "heads are 1 to 4"),
        (lambda: WeightEdit(0, "o", 0, 0, 0.0), "Wq, Wk and Wv"),
        (lambda: WeightEdit(0, "q", 8, 0, 0.0), "8 x 2"),
        (lambda: WeightEdit(0, "q", 0, 0, float("nan")), "outside"),
        (lambda: WeightEdit(0, "q", 0, 0, 100.1), "outside"),
        (lambda: WhatIf(muted=frozenset({4})), "muted"),
        (lambda: WhatIf(swaps=(Swap(1, "A"), Swap(1, "C"))), "twice"),
    ],
)
def test_impossible_edits_are_refused_in_words(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_equal_edits_are_equal_values_whatever_their_order():
    one = UNTOUCHED.with_swap(6, "A").with_swap(2, "C")
    other = UNTOUCHED.with_swap(2, "C").with_swap(6, "A")
    assert one == other
    assert hash(one) == hash(other)


def test_swapping_back_is_no_edit():
    there = UNTOUCHED.with_swap(6, "A")
    assert there.with_swap(6, "R").fitted(SEQUENCE) == UNTOUCHED
    assert there.fitted("CAS") == UNTOUCHED


def test_setting_a_weight_to_its_own_value_is_no_edit():
    own = [
        WeightEdit(index, matrix, row, column, float(getattr(head, f"w_{matrix}")[row, column]))
        for index, head in enumerate(HEADS)
        for matrix in "qkv"
        for row in range(8)
        for column in range(2)
    ]  # fmt: skip
    assert UNTOUCHED.with_weights(own) == UNTOUCHED
    changed = UNTOUCHED.with_weights([WeightEdit(2, "q", 6, 0, 1.0)])
    assert changed.with_weights(
        [WeightEdit(2, "q", 6, 0, original_weight(changed.weights[0]))]
    ) == (UNTOUCHED)


def test_edited_heads_change_one_entry_and_leave_the_originals():
    heads = edited_heads(WhatIf(weights=(WeightEdit(0, "k", 1, 0, 2.0),)))
    assert heads[0].w_k[1, 0] == 2.0
    assert HEADS[0].w_k[1, 0] == -2.0
    assert np.array_equal(heads[0].w_q, HEADS[0].w_q)
    assert heads[1] is HEADS[1]


def test_untouched_run_is_the_ghost_to_the_last_bit():
    again = run_toy(SEQUENCE, UNTOUCHED)
    assert np.array_equal(again.output, GHOST.output)
    assert largest_change(GHOST, again) is None
    assert change_sentence(GHOST, again).startswith("Nothing moved")


def test_swapping_r6_takes_the_charge_away():
    after = run_toy(SEQUENCE, WhatIf(swaps=(Swap(6, "A"),)))
    assert after.sequence == "CASSIASSYEQYF" == edited_sequence(SEQUENCE, after.what_if)
    change = largest_change(GHOST, after)
    assert (change.head, change.query, change.key) == (0, 5, 9)
    assert change.before == pytest.approx(0.605, abs=5e-4)
    assert change.after == pytest.approx(1 / 13)
    assert "A6 → E10 went from 60.5" in change_sentence(GHOST, after)


def test_flipping_the_key_sign_breaks_head_1():
    after = run_toy(SEQUENCE, WhatIf(weights=(WeightEdit(0, "k", 1, 0, 2.0),)))
    test = job_test(0, after.sequence, after.steps[0].weights)
    assert test.failed == (6, 10)
    assert not test.holds


def test_muting_moves_outputs_but_no_weight():
    after = run_toy(SEQUENCE, WhatIf(muted=frozenset({2})))
    assert largest_change(GHOST, after) is None
    shift = output_shift(GHOST, after)
    assert shift == pytest.approx(np.linalg.norm(GHOST.steps[2].blended, axis=1))
    assert change_sentence(GHOST, after).startswith("No attention weight moved; the output of")


def test_positions_off_leaves_the_neighbour_heads_blind():
    after = run_toy(SEQUENCE, WhatIf(positions=False))
    assert after.steps[2].weights == pytest.approx(np.full((13, 13), 1 / 13))
    assert np.array_equal(after.steps[0].weights, GHOST.steps[0].weights)


def test_scaling_off_and_causal_reach_every_head():
    after = run_toy(SEQUENCE, WhatIf(scale=False, causal=True))
    for step in after.steps:
        assert np.array_equal(step.scaled, step.scores)
        assert not np.triu(step.weights, 1).any()


def test_the_block_follows_the_edits():
    edited = run_toy(SEQUENCE, WhatIf(muted=frozenset({0}), causal=True))
    assert not np.allclose(run_block(edited).leaving, run_block(GHOST).leaving)
    assert np.array_equal(run_block(run_toy(SEQUENCE)).leaving, run_block(GHOST).leaving)


def test_edit_list_says_every_edit():
    edits = decode("6A_w1q2a-2.5_m34_nopos_noscale_causal")[0]
    assert edit_list(GHOST, run_toy(SEQUENCE, edits)) == [
        "R6 is now A",
        "head 1: Wq[CHG, 1] = −2.5",
        "head 3 muted",
        "head 4 muted",
        "positions off",
        "no division by √d_k",
        "causal mask",
    ]
