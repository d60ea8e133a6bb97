"""The cost of attention: memory counted by hand, growth on made-up measurements."""

import pytest

from core.traps import cost
from core.traps.cost import Measurement, growth, measure, quadratic


def made_up(length, factor=1e-6):
    return Measurement(length, length**2, factor * length**2, 24e-6 * length**2)


def test_memory_is_three_square_arrays_of_eight_bytes():
    found = measure([5, 11], rounds=1)
    assert [m.pairs for m in found] == [25, 121]
    assert [m.megabytes for m in found] == pytest.approx([3 * 8 * 25e-6, 3 * 8 * 121e-6])
    assert all(m.seconds > 0 for m in found)


def test_a_length_equal_to_the_width_counts_no_other_arrays():
    assert measure([64], rounds=1)[0].megabytes == pytest.approx(3 * 8 * 64**2 / 1e6)


def test_growth_of_an_exact_quadratic_is_four_per_doubling():
    assert growth([made_up(64), made_up(512), made_up(128)]) == pytest.approx((4, 4))


def test_the_quadratic_passes_through_the_longest_measurement():
    measured = [made_up(100, 3e-6), made_up(200)]
    assert quadratic(measured, [200.0, 100.0, 50.0]) == pytest.approx([0.04, 0.01, 0.0025])


@pytest.mark.parametrize("length", [0, 2049])
def test_lengths_beyond_the_limits_are_refused(length):
    with pytest.raises(ValueError, match="outside the 1 to 2,048"):
        measure([length])


def test_the_best_of_the_rounds_counts_and_rounds_go_over_all_lengths(monkeypatch):
    asked, seconds = [], iter([0.0, 5.0, 7.0, 3.0, 8.0])
    monkeypatch.setattr(cost, "_timed", lambda n, _: (asked.append(n), (next(seconds), 8))[1])
    assert [m.seconds for m in measure([5, 11], rounds=2)] == [3.0, 7.0]
    assert asked == [16, 5, 11, 5, 11]
