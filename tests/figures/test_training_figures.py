import numpy as np
import pytest

from core.figures.training_antidiagonal import antidiagonal_chart
from core.figures.training_compare import loss_figure, overlay
from core.figures.training_letters import letter_film
from core.figures.training_live import exact_chart, learning_rate_chart, loss_chart
from core.figures.training_maps import all_heads, one_head

STEPS = np.array([1, 2, 3, 5, 7])
LOSSES = np.array([3.0, 2.0, np.nan, 1.0, 0.5])


def layers(chart):
    return chart.spec["layer"]


def test_the_loss_chart_holds_every_point_and_no_nan():
    chart = loss_chart(STEPS, LOSSES, LOSSES, last=11, floor=0.6)
    assert chart.columns["step"] == [1, 2, 3, 5, 7]
    assert chart.columns["raw"] == [3.0, 2.0, None, 1.0, 0.5]
    assert chart.spec["encoding"]["x"]["scale"]["domain"] == [0, 11]


def test_floor_and_marker_are_drawn_once_and_not_for_every_step():
    chart = loss_chart(STEPS, LOSSES, LOSSES, last=11, floor=0.6, marked=5)
    rules = [layer for layer in layers(chart) if layer["mark"]["type"] == "rule"]
    assert [rule["data"] for rule in rules] == [{"values": [{}]}] * 2
    assert rules[0]["encoding"]["y"]["datum"] == 0.6
    assert rules[1]["encoding"]["x"]["datum"] == 5


def test_published_losses_are_diamonds_of_their_own():
    chart = loss_chart(STEPS, LOSSES, LOSSES, last=11, floor=None, published={4: 0.9, 8: 0.7})
    assert chart.columns["published"][-2:] == [0.9, 0.7]
    assert chart.columns["raw"][-2:] == [None, None]
    assert any(layer["mark"].get("shape") == "diamond" for layer in layers(chart))
    assert "published losses, 0.700 at step 8" in chart.alt


def test_the_description_stays_the_same_while_points_come_in():
    few = loss_chart(STEPS[:2], LOSSES[:2], LOSSES[:2], last=11, floor=0.6)
    more = loss_chart(STEPS, LOSSES, LOSSES, last=11, floor=0.6)
    assert few.spec == more.spec


@pytest.mark.parametrize("zoom", [True, False])
def test_only_a_picture_that_stands_still_can_be_zoomed(zoom):
    chart = loss_chart(STEPS, LOSSES, LOSSES, last=11, floor=0.6, zoom=zoom)
    assert any("params" in layer for layer in layers(chart)) is zoom


def test_charts_of_nothing_say_so():
    none = np.empty(0)
    no_steps = none.astype(int)
    assert "No step" in loss_chart(no_steps, none, none, last=5, floor=None).alt
    assert "No learning rate" in learning_rate_chart(no_steps, none, last=5).alt
    assert "No held-out" in exact_chart(no_steps, none, none, last=5).alt


def test_the_alt_texts_give_the_numbers():
    rates = np.array([0.1, 0.5, 0.4, 0.3, 0.2])
    assert "highest 5.00e-01 at step 2" in learning_rate_chart(STEPS, rates, last=11).alt
    shares = np.array([0.0, 0.1, 0.2, 0.3, 0.997])
    assert "99.7\N{NO-BREAK SPACE}% at step 7" in exact_chart(STEPS, shares, shares, last=11).alt


def test_every_letter_is_right_wrong_or_missing():
    film = letter_film([1, 9], ["SAX", "SACQY"], "SACQ")
    fields = ("row", "place", "letter", "mark")
    cells = list(zip(*(film.columns[field] for field in fields), strict=True))
    rows = [[cell[1:] for cell in cells if cell[0] == row and cell[2]] for row in range(3)]
    assert [letter for _, letter, _ in rows[0]] == list("SACQ")
    assert rows[1] == [(1, "S", "✓"), (2, "A", "✓"), (3, "X", "✗"), (4, "·", "✗")]
    assert rows[2][-1] == (5, "Y", "✗")
    names = [name for name in film.columns["name"] if name]
    assert names == ["asked for", "step 1", "step 9"]
    assert "4 of 4 letters in place" in film.alt


def test_only_the_places_that_were_asked_for_are_numbered():
    film = letter_film([1], ["SACQYY"], "SACQ")
    places = film.spec["encoding"]["x"]
    assert places["axis"]["values"] == [1, 2, 3, 4]
    assert places["scale"]["domain"][-1] == 6


def test_the_film_is_described_alike_while_samples_come_in():
    assert letter_film([], [], "SACQ").spec == letter_film([1, 9], ["SAX", "SACQ"], "SACQ").spec


def test_each_tile_of_the_maps_has_its_place():
    weights = np.arange(2 * 3 * 5 * 7).reshape(2, 3, 5, 7) / 210
    chart = all_heads(weights, (0.25, 0.75))
    assert len(chart.columns["weight"]) == weights.size
    at = chart.columns["weight"].index(round(float(weights[1, 2, 4, 6]), 3))
    assert (chart.columns["x"][at], chart.columns["y"][at]) == (2 * 8 + 6, 1 * 6 + 4)
    places = set(zip(chart.columns["x"], chart.columns["y"], strict=True))
    assert len(places) == weights.size
    assert "layer 2 puts 75\N{NO-BREAK SPACE}%" in chart.alt


def test_one_head_names_its_largest_weight():
    weights = np.full((3, 2), 0.1)
    weights[2, 0] = 0.8
    chart = one_head(weights, ("BOS", "S", "A"), ("A", "S"), name="layer 1")
    assert "0.80, from 2 A to A 1" in chart.alt
    assert chart.columns["having read"][-1] == "2 A"


def test_the_anti_diagonal_of_each_layer_is_beside_the_published_one():
    chart = antidiagonal_chart(
        np.array([1, 4]), np.array([[0.1, 0.2], [0.3, 0.9]]), last=7, published=0.95
    )
    assert chart.columns["layer"] == ["layer 1", "layer 2"] * 2
    assert chart.columns["share"] == [0.1, 0.2, 0.3, 0.9]
    assert chart.spec["layer"][-1]["encoding"]["y"]["datum"] == 0.95
    assert chart.columns["name"] == [None, None, "layer 1", "layer 2"]
    assert "Last layer 90\N{NO-BREAK SPACE}% at step 4" in chart.alt


def test_overlaid_runs_differ_in_colour_and_dash_and_may_differ_in_length():
    figure = overlay(
        ["a", "b"],
        [np.arange(3.0), np.arange(5.0)],
        [np.ones(3), np.zeros(5)],
        title="Loss",
        floors=[0.6, 0.6],
    )
    first, second = figure.data
    assert (len(first.x), len(second.x)) == (3, 5)
    assert first.line.color != second.line.color
    assert first.line.dash != second.line.dash
    assert len(figure.layout.shapes) == 1


def test_the_figure_to_keep_has_raw_and_smoothed():
    figure = loss_figure(STEPS, LOSSES, LOSSES, name="run 3", floor=0.6)
    assert [line.name for line in figure.data] == ["run 3, smoothed", "raw"]


def test_the_floor_looks_like_none_of_the_compared_runs():
    runs = [np.arange(3.0)] * 5
    figure = overlay(list("abcde"), runs, runs, title="loss", floors=[0.6])
    floor = figure.layout.shapes[0].line
    looks = {trace.line.color for trace in figure.data}
    assert len(looks) == 5
    assert floor.color not in looks
