import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.attention_maps import ghost_maps, head_maps
from core.figures.formula import Panel, row_bars
from core.figures.key_plane import grouped, query_key_plane
from core.figures.map_places import Strip, heads_strip
from core.figures.toy_sqrt import draw_bars, top_weight_histogram
from core.figures.toy_waves import reach
from core.figures.vectors import vector_strip
from core.toy.jobs import labels
from core.toy.model import run_toy
from core.written import percent

SEQUENCE = "CASSIRSSYEQYF"
RUN = run_toy(SEQUENCE)
NAMES = labels(SEQUENCE)
WEIGHTS = [step.weights for step in RUN.steps]


def texts(figure) -> list[list[str]]:
    return [list(trace.text) for trace in figure.select_traces({"mode": "text"})]


def test_head_maps_hold_every_weight_at_its_place():
    figure = head_maps(WEIGHTS, ["a", "b", "c", "d"], NAMES)
    cells = np.array(figure.data[0].z, dtype=float)
    far = cells.shape[0] - 13
    for block, (top, left) in zip(WEIGHTS, [(0, 0), (0, 14), (far, 0), (far, 14)], strict=True):
        assert np.allclose(cells[top : top + 13, left : left + 13], block, atol=5e-5)
    assert np.isnan(cells[:, 13]).all()
    assert far > 13
    assert np.isnan(cells[13:far]).all()
    assert texts(figure)[2] == ["a", "b", "c", "d"]
    assert texts(figure)[0] == NAMES * 2
    assert texts(figure)[1] == list(SEQUENCE) * 4


def test_a_click_on_a_cell_names_its_map_row_and_column():
    points = head_maps(WEIGHTS, "abcd", NAMES).data[-1]
    strip = heads_strip(4, 13)
    for point in (0, 5, 13, 44, 168, 169, 2 * 169, 4 * 169 - 1):
        which, row, column = strip.at(point)
        assert points.y[point] == strip.top(which) + row
        assert points.x[point] == strip.left(which) + column
        assert points.text[point] == f"{NAMES[row]} asks {NAMES[column]}"
        assert points.customdata[point] == pytest.approx(100 * WEIGHTS[which][row, column])
    # One element for all of them: the browser would need long for an element each.
    assert points.marker.maxdisplayed == 1


def test_in_a_long_sequence_a_click_names_a_row():
    names = labels(SEQUENCE * 3)
    weights = [step.weights for step in run_toy(SEQUENCE * 3).steps]
    points = head_maps(weights[:2], "ab", names).data[-1]
    assert len(points.x) == 2 * 39
    strip = heads_strip(2, 39)
    assert strip.at(44) == (1, 5, None)
    assert points.y[44] == 5
    assert strip.left(1) < points.x[44] < strip.width


def test_every_row_of_every_map_has_a_frame():
    frames = head_maps(WEIGHTS, "abcd", NAMES).data[1]
    for point in (0, 5, 13, 44, 51):
        which, row = divmod(point, 13)
        assert frames.y[point] == heads_strip(4, 13).top(which) + row
        assert frames.base[point] == heads_strip(4, 13).left(which) - 0.5


def test_ghost_maps_show_the_difference_symmetrically():
    after = np.full((13, 13), 1 / 13)
    figure = ghost_maps(WEIGHTS[0], after, NAMES, 1)
    difference = np.array(figure.data[1].z, dtype=float)[:, Strip(3, 13, 3).left(2) :]
    assert np.allclose(difference, after - WEIGHTS[0], atol=5e-5)
    assert figure.data[1].zmax == -figure.data[1].zmin == pytest.approx(abs(difference).max(), 1e-3)


def test_long_sequences_get_fewer_letters():
    run = run_toy("CASSIRSSYEQYF" * 4)
    figure = head_maps([s.weights for s in run.steps], "abcd", labels(run.sequence))
    assert texts(figure)[0][:2] == ["E10", "S20"]


@pytest.mark.parametrize(("letters", "side"), [("CASSI", "top left"), ("CASSIR", "top right")])
def test_the_last_title_of_narrow_maps_ends_with_its_map(letters, side):
    figure = head_maps([s.weights for s in run_toy(letters).steps[:2]], "ab", labels(letters))
    titles = list(figure.select_traces({"mode": "text"}))[2]
    right = heads_strip(2, len(letters)).width - 0.5
    assert right < figure.layout.xaxis.range[1] < right + 0.2
    assert titles.textposition[1] == side
    assert (titles.x[1] == right) == (side == "top left")
    assert titles.x[0] == -0.5


def test_row_bars_have_a_band_per_step_and_ghosts_only_when_given():
    panels = [Panel("one", WEIGHTS[0][5], WEIGHTS[0][4]), Panel("two", WEIGHTS[1][5])]
    figure = row_bars(panels, NAMES, 9)
    bars, ghosts = figure.data[1], figure.data[2]
    assert len(bars.x) == 26
    # A dash is two ends and a gap; its height is to the scale of the bar beside it.
    assert len(ghosts.x) == 3 * 13
    heights = np.array(ghosts.y[::3]) - bars.base[0]
    assert np.allclose(heights / bars.y[9], WEIGHTS[0][4] / WEIGHTS[0][5][9], atol=1e-4)
    assert np.allclose((np.array(ghosts.x[::3]) + ghosts.x[1::3]) / 2, range(13))
    assert bars.marker.color[9] == bars.marker.color[13 + 9] != bars.marker.color[8]
    assert bars.hovertext[9] == f"E10: one 0.6047<br>untouched {WEIGHTS[0][4][9]:.4g}"
    alone = row_bars([panels[1]], NAMES, 9)
    assert len(alone.data) == len(figure.data) - 1
    assert "untouched" not in "".join(alone.data[1].hovertext)
    assert texts(figure)[1] == NAMES
    assert texts(figure)[0][0].startswith("one  (0 to 0.6")


def test_row_bars_are_to_scale_within_their_band():
    figure = row_bars([Panel("up", WEIGHTS[0][5]), Panel("both", RUN.steps[0].scores[5])], NAMES, 0)
    bars = figure.data[1]
    upper, lower = np.array(bars.y[:13]), np.array(bars.y[13:])
    assert np.allclose(upper / upper.max(), WEIGHTS[0][5] / WEIGHTS[0][5].max(), atol=1e-4)
    assert np.allclose(lower / lower.max(), RUN.steps[0].scores[5] / 4, atol=1e-4)
    tops = np.array(bars.base) + np.array(bars.y)
    assert tops[:13].min() >= 1
    assert 0 <= tops[13:].min() < tops[13:].max() <= 1


def test_a_band_is_named_with_the_range_of_its_own_values():
    flat, low = np.zeros(3), np.array([-2.0, 0.0, -0.5])
    figure = row_bars([Panel("flat", flat, low), Panel("low", low, flat + 9)], NAMES[:3], 0)
    assert texts(figure)[0] == ["flat  (0 to 0)", "low  (−2 to 0)"]


def test_a_flat_row_does_not_divide_by_zero():
    assert set(row_bars([Panel("flat", np.zeros(3))], NAMES[:3], 0).data[1].y) == {0.0}


def test_vector_strip_keeps_values_and_a_gap():
    figure = vector_strip([RUN.vectors, RUN.output], ["x", "y"], NAMES, [["c"] * 8, ["d"] * 8])
    cells = np.array(figure.data[0].z, dtype=float)
    assert cells.shape == (13, 17)
    assert np.isnan(cells[:, 8]).all()
    assert np.allclose(cells[:, 9:], RUN.output, atol=5e-5)
    assert figure.data[0].zmax == -figure.data[0].zmin


def test_vector_strip_names_as_many_columns_as_have_room():
    names = [f"A{n}" for n in range(1, 27)]
    few = vector_strip([RUN.vectors], [""], NAMES, [["c1"] * 8])
    many = vector_strip([np.zeros((13, 26))], [""], NAMES, [names])
    assert list(few.data[2].text) == ["c1"] * 8
    assert list(many.data[2].text) == [name if i % 2 else "" for i, name in enumerate(names)]
    assert many.data[0].text[0][2] == "C1 A3"


def test_plane_groups_keys_at_the_same_place_and_adds_their_weights():
    steps = RUN.steps[0]
    groups = grouped(steps.keys)
    assert sorted(i for members in groups for i in members) == list(range(13))
    assert [2, 3, 6, 7, 8, 10, 11] in groups
    assert [9] in groups
    figure = query_key_plane(steps.queries[5], steps.keys, steps.weights[5], NAMES, "R6")
    keys = next(trace for trace in figure.data if trace.name == "keys")
    assert any(f"E10<br>{percent(0.605)}" in text for text in keys.text)
    assert len(keys.x) == len(groups)


def test_plane_of_a_zero_query_has_no_arrow_line():
    steps = RUN.steps[0]
    figure = query_key_plane(steps.queries[0], steps.keys, steps.weights[0], NAMES, "C1")
    assert not any(trace.mode == "lines" for trace in figure.data)


def test_histogram_counts_every_draw():
    values = np.array([0.1, 0.1, 0.99, 1.0])
    figure = top_weight_histogram(values, values)
    assert sum(figure.data[0].y) == 4
    assert figure.data[0].y[-1] == 2


def test_draw_bars_and_reach_show_what_they_are_given():
    figure = draw_bars(np.array([0.75, 0.25]), np.array([0.5, 0.5]))
    assert list(figure.data[0].y) == [0.75, 0.25]
    assert list(figure.data[1].y) == [0.5, 0.5]
    line = reach(np.array([-1, 0, 1]), np.array([0.7, 0.2, 0.1]), [-1.0])
    assert list(line.data[0].x) == [-1, 0, 1]
    assert len(line.layout.shapes) == 1


FIGURES = [
    head_maps(WEIGHTS, "abcd", NAMES),
    ghost_maps(WEIGHTS[0], WEIGHTS[1], NAMES, 1),
    row_bars([Panel("one", WEIGHTS[0][5], WEIGHTS[0][4])], NAMES, 9),
    vector_strip([RUN.vectors], ["x"], NAMES, [["c"] * 8]),
    query_key_plane(RUN.steps[0].queries[5], RUN.steps[0].keys, WEIGHTS[0][5], NAMES, NAMES[5]),
    draw_bars(np.array([1.0]), np.array([1.0])),
    top_weight_histogram(np.array([0.5]), np.array([0.5])),
    reach(np.array([0]), np.array([1.0]), [0.0]),
]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_built_without_plotlys_checks_pass_them(figure):
    plain = json.loads(figure.to_json())
    checked = json.loads(go.Figure(plain).to_json())
    for ours, theirs in zip(plain["data"], checked["data"], strict=True):
        assert {**ours, "colorscale": 0} == {**theirs, "colorscale": 0}
        assert [c for _, c in ours.get("colorscale", [])] == [
            c for _, c in theirs.get("colorscale", [])
        ]
    assert plain["layout"].keys() - {"title"} <= checked["layout"].keys()


@pytest.mark.parametrize("figure", FIGURES)
def test_nothing_in_a_plain_figure_makes_plotly_draw_it_twice(figure):
    drawn = figure.to_dict()
    assert drawn["layout"]["datarevision"] == 1
    assert "template" not in drawn["layout"]
    # An array packed in one dimension is a new one for Plotly each time that it is read.
    values = [value for trace in drawn["data"] for value in trace.values()]
    packed = [value for value in values if isinstance(value, dict) and "bdata" in value]
    assert all("," in value.get("shape", "") for value in packed)
