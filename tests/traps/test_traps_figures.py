"""Figures carry the arrays that they were given."""

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.home_sequence import sequence_tiles
from core.figures.traps_growth import SMALLEST_SHARE, cost, fading
from core.figures.traps_order import shuffle_differences
from core.figures.traps_rankings import head_agreement, two_rankings
from core.figures.traps_weights import weight_shares
from core.toy.residue_vectors import residue_vectors

TWO = np.array([0.5, 0.3])
FIGURES = {
    "rankings": lambda: two_rankings(("C1", "A2"), TWO, TWO, TWO, TWO, effect_title="Effect"),
    "heads": lambda: head_agreement(("a", "b"), TWO),
    "shuffle": lambda: shuffle_differences(("C1", "A2"), np.eye(2), np.eye(2)),
    "weights": lambda: weight_shares(["a"], {"Attention": [1], "Feed-forward": [3]}),
    "fading": lambda: fading([2, 200], {"RNN": {2: 0.3, 200: 1e-70}}, 2),
    "cost": lambda: cost([10, 20], [0.001, 0.004], [1.0, 4.0], [10.0], [0.001]),
    "home": lambda: sequence_tiles("CASS", residue_vectors("CASS")),
}


@pytest.mark.parametrize("name", FIGURES)
def test_plotly_knows_every_property(name):
    figure = FIGURES[name]()
    checked = go.Figure(figure.to_dict())  # raises ValueError for a property or value unknown
    assert len(checked.data) == len(figure.data) > 0


def test_rankings_draw_both_rows_with_ranks():
    received, effect = np.array([0.5, 0.3, 0.2]), np.array([1.0, 3.0, 2.0])
    figure = two_rankings(
        ("C1", "A2", "S3"), received, effect, np.array([1.0, 2, 3]), np.array([3.0, 1, 2]),
        effect_title="Effect",
    )  # fmt: skip
    assert list(figure.data[0].y) == pytest.approx([50, 30, 20])
    assert list(figure.data[1].y) == [1, 3, 2]
    assert list(figure.data[1].text) == ["3", "1", "2"]
    for bars, ranks in zip(figure.data[:2], figure.data[2:], strict=True):
        assert (list(ranks.x), list(ranks.y), ranks.text) == (list(bars.x), list(bars.y), bars.text)
    # The lower row grows downwards.
    assert figure.layout.yaxis2.range[0] > figure.layout.yaxis2.range[1]


def test_of_many_letters_only_the_first_ranks_are_written():
    ranks = np.arange(1.0, 18)
    figure = two_rankings([f"A{n}" for n in range(1, 18)], ranks, ranks, ranks, ranks[::-1],
                          effect_title="Effect")  # fmt: skip
    assert list(figure.data[2].text) == ["1", "2", "3", "4", "5", *[""] * 12]
    assert list(figure.data[3].text) == [*[""] * 12, "5", "4", "3", "2", "1"]
    assert len(figure.data[0].text) == 17


def test_negative_effects_stay_inside_the_picture():
    effect = np.array([-2.0, 3.0])
    figure = two_rankings(
        ("C1", "A2"), np.array([0.5, 0.5]), effect, np.ones(2), np.ones(2), effect_title="Effect"
    )
    assert min(figure.layout.yaxis2.range) < -2


def test_heads_that_point_the_wrong_way_have_another_colour():
    figure = head_agreement(("Head 1, a", "Head 2, b"), np.array([0.5, -0.5]))
    assert len(set(figure.data[0].marker.color)) == 2


def test_heads_of_one_layer_stand_together_above_its_number():
    names = [f"Layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)]
    figure = head_agreement(names, np.linspace(-1, 1, 6))
    steps = np.diff(figure.data[0].x)
    assert steps.argmax() == 2  # between the layers
    assert figure.layout.xaxis.title.text == "Layer"
    middles = dict(zip(figure.layout.xaxis.ticktext, figure.layout.xaxis.tickvals, strict=True))
    assert middles == {"1": figure.data[0].x[1], "2": figure.data[0].x[4]}


def test_both_shuffle_maps_share_one_scale():
    off, on = np.zeros((5, 7)), np.full((5, 7), 2.5)
    figure = shuffle_differences([f"A{i}" for i in range(5)], off, on)
    assert [trace.zmax for trace in figure.data] == [2.5, 2.5]
    assert np.array_equal(figure.data[1].z, on)


def test_shares_of_weights_add_up_to_a_hundred():
    figure = weight_shares(["a", "b"], {"Attention": [1, 2], "Feed-forward": [3, 2]})
    assert [list(trace.x) for trace in figure.data] == [[25, 50], [75, 50]]
    assert list(figure.data[1].customdata) == [3, 2]


def test_shares_too_small_to_draw_keep_their_true_value_for_the_pointer():
    figure = fading([2, 200], {"RNN": {2: 0.3, 200: 1e-70}}, 2)
    assert list(figure.data[1].y) == [0.3, SMALLEST_SHARE]
    assert list(figure.data[1].customdata) == [0.3, 1e-70]
    assert list(figure.data[0].y) == [0.5, 0.005]
    assert list(figure.data[2].x) == [2, 2]


def test_cost_is_drawn_in_milliseconds_beside_its_quadratic():
    figure = cost([10, 20], [0.001, 0.004], [1.0, 4.0], [10.0, 20.0], [0.001, 0.004])
    lines = {(trace.name, trace.xaxis): list(trace.y) for trace in figure.data}
    assert lines["Measured here", None] == pytest.approx([1, 4])
    assert lines["Exactly quadratic", "x2"] == pytest.approx([1, 4])


def test_the_tiles_of_the_home_page_are_the_toys_vectors():
    vectors = residue_vectors("CASSIRSSYEQYF")
    figure = sequence_tiles("CASSIRSSYEQYF", vectors)
    drawn = np.nan_to_num(np.array(figure.data[0].z, dtype=float))
    assert drawn == pytest.approx(vectors[:, :4].T)
    assert np.array(figure.data[1].y) == pytest.approx(vectors[:, 4])
    assert np.array(figure.data[2].y) == pytest.approx(vectors[:, 6])
    assert figure.data[0].text[0][5] == "-1"
    assert figure.data[0].text[1][0] == ""
