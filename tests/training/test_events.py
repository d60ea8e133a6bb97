"""Events survive the trip through a JSON line."""

import json
import math

import numpy as np
import pytest

from core.training.events import (
    Evaluated,
    Failed,
    Finished,
    Sampled,
    Saved,
    Snapshot,
    Started,
    StepDone,
    from_json_line,
    read_events,
    to_json_line,
)

EVENTS = [
    Started({"steps": 3}, {"string": "CA"}, "cpu", "a processor", 2, 1, 11, 0.6, {"torch": "2"}, 5),
    StepDone(7, 0.625, 0.003, 1.5, 2.25),
    Evaluated(7, 11, 13, 0.875),
    Sampled(7, "CAF", "FAC", "FAC"),
    Saved(7, "a.pt"),
    Failed(7, 0.5, "The loss diverged."),
    Finished(7, 1.5, 2.5, 11, 13, {"CAF": "FAC"}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_a_line_of_json_gives_the_event_back(event):
    line = to_json_line(event)
    assert "\n" not in line
    assert from_json_line(line) == event


def test_a_snapshot_keeps_its_weights():
    weights = np.random.default_rng(0).random((2, 3, 5, 7)).astype(np.float16)
    there = Snapshot(7, tuple("ABCDE"), tuple("ABCDEFG"), weights, (0.25, 0.5))
    back = from_json_line(to_json_line(there))
    assert isinstance(back, Snapshot)
    assert (back.step, back.rows, back.columns) == (there.step, there.rows, there.columns)
    assert back.antidiagonal == there.antidiagonal
    assert back.weights.dtype == np.float16
    np.testing.assert_allclose(back.weights, weights, atol=1e-3)


def test_a_loss_that_is_no_number_is_valid_json():
    line = to_json_line(StepDone(7, math.nan, 0.5, math.inf, 1.0))
    assert json.loads(line, parse_constant=pytest.fail)["loss"] is None
    back = from_json_line(line)
    assert isinstance(back, StepDone)
    assert math.isnan(back.loss)


@pytest.mark.parametrize(
    ("decoded", "right"),
    [
        ("FAC", (True, True, True)),
        ("FFC", (True, False, True)),
        ("FACC", (True, True, True, False)),
        ("F", (True,)),
        ("", ()),
    ],
)
def test_letters_are_right_or_wrong_by_their_place(decoded, right):
    sampled = Sampled(1, "CAF", decoded, "FAC")
    assert sampled.right == right
    assert sampled.exact == (decoded == "FAC")


def test_foreign_lines_are_refused_and_blank_ones_left_out():
    for line in ('{"event": "rain"}', "[1]", "nonsense"):
        with pytest.raises(ValueError, match=r"event|Expecting"):
            from_json_line(line)
    assert list(read_events(["\n", to_json_line(EVENTS[1]), ""])) == [EVENTS[1]]
