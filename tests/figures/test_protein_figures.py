"""The protein figures, judged by the data they hold."""

import numpy as np
import pytest

from core.alphabet import AMINO_ACIDS
from core.figures.protein_guess import probability_bars, yardstick
from core.figures.protein_letters import letter_path
from core.figures.protein_logo import letter_heights, sequence_logo
from core.figures.protein_maps import attention_map, log_odds_map
from core.figures.protein_origin import (
    confusion_map,
    origin_plot,
    roc_curve,
    similarity_by_layer,
)
from core.figures.protein_tracks import chain_strip, residue_track, two_tracks

CHAIN = "MSCASSIRSSYEQYFGP"
REGIONS = [("V", 1, 2), ("CDR3", 3, 15), ("J", 16, 17)]
HOVER = [f"{letter}{i}" for i, letter in enumerate(CHAIN, 1)]


def a_distribution() -> np.ndarray:
    return np.random.default_rng(7).dirichlet(np.ones(20))


def ticks_of(figure) -> dict[str, str]:
    return dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))


def test_bars_are_sorted_and_mark_the_true_letter_by_more_than_colour():
    p = a_distribution()
    figure = probability_bars(AMINO_ACIDS, p, "R")
    bars = figure.data[0]
    assert list(bars.x) == sorted(p, reverse=True)
    hatched = [n for n, shape in zip(bars.y, bars.marker.pattern.shape, strict=True) if shape]
    assert hatched == ["R"]
    named = [name for name, text in ticks_of(figure).items() if "true" in text]
    assert named == ["R"]
    assert f"{p[AMINO_ACIDS.index('R')]:.3f}" in ticks_of(figure)["R"]


def test_bars_without_a_true_letter_mark_nothing():
    figure = probability_bars(AMINO_ACIDS, a_distribution(), None)
    assert not any(figure.data[0].marker.pattern.shape)
    assert not any("true" in text for text in ticks_of(figure).values())


def test_a_vote_is_written_at_its_bar():
    figure = probability_bars(AMINO_ACIDS, a_distribution(), "R", voted="W")
    assert [name for name, text in ticks_of(figure).items() if "vote" in text] == ["W"]


def test_a_reference_stands_at_the_right_letters():
    p, other = a_distribution(), np.arange(20) / 190
    diamonds = probability_bars(AMINO_ACIDS, p, "R", reference=("chance", other)).data[1]
    assert diamonds.name == "chance"
    for letter, value in zip(diamonds.y, diamonds.x, strict=True):
        assert value == other[AMINO_ACIDS.index(letter)]


def test_track_has_a_bar_per_residue_and_a_band_per_region():
    values = np.linspace(0.1, 1.0, len(CHAIN))
    figure = residue_track(
        CHAIN, values, REGIONS, what="p", hover=HOVER, chosen=8, low_is_marked_below=0.2
    )
    assert np.allclose(figure.data[0].y, values)
    assert [s.x0 for s in figure.layout.shapes if s.type == "rect"] == [0.5, 2.5, 15.5]
    assert [n.text for n in figure.layout.annotations] == ["V", "CDR3", "J"]
    assert [t for t in figure.data[0].text if t] == list(CHAIN[:2])
    assert [s.x0 for s in figure.layout.shapes if s.type == "line"] == [8]


def test_two_tracks_mark_what_changed():
    first, second = np.zeros(17), np.ones(17)
    figure = two_tracks(
        [("a", first), ("b", second)], REGIONS, what="p", hover=HOVER, changed=[8, 11]
    )
    assert [s.x0 for s in figure.layout.shapes if s.type == "line"] == [8, 11]
    assert figure.data[0].line.dash != figure.data[1].line.dash


def test_strip_hides_only_the_chosen_residue_and_knows_every_position():
    strip = chain_strip(CHAIN, REGIONS, HOVER, hidden=8, per_row=5).data[0]
    assert strip.text[7] == "?"
    assert "".join(strip.text[:7]) + "".join(strip.text[8:]) == CHAIN[:7] + CHAIN[8:]
    assert [place for _, place in strip.customdata] == list(range(1, 18))
    assert strip.y[4] == 0
    assert strip.y[5] == -1
    assert "".join(chain_strip(CHAIN, REGIONS, HOVER).data[0].text) == CHAIN


def test_a_region_keeps_its_colour_when_others_are_missing():
    figure = chain_strip(CHAIN, REGIONS, HOVER)
    short = chain_strip(CHAIN[2:], [("CDR3", 1, 13), ("J", 14, 15)], HOVER[2:])
    assert figure.layout.shapes[1].fillcolor == short.layout.shapes[0].fillcolor
    assert figure.layout.shapes[0].fillcolor != short.layout.shapes[0].fillcolor


def test_log_odds_map_keeps_every_number_and_dots_the_true_letters():
    odds = np.random.default_rng(3).normal(size=(20, 17))
    figure = log_odds_map(CHAIN, list(AMINO_ACIDS), odds, REGIONS, hover=HOVER)
    heat, dots = figure.data
    assert np.array_equal(heat.z, odds)
    assert heat.zmin == -heat.zmax
    assert "".join(dots.y) == CHAIN


def test_logo_heights_by_hand():
    p = np.array([[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25] * 4])
    # two equal letters of four: 2 bits - 1 bit = 1 bit, half each; certain: 2 bits; flat: none.
    expected = np.array([[0.5, 0.5, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]])
    assert np.allclose(letter_heights(p), expected, atol=1e-6)


def test_logo_draws_a_certain_letter_once_and_at_full_height():
    p = np.zeros((2, 20))
    p[0, AMINO_ACIDS.index("C")] = 1
    p[1] = 0.05
    figure = sequence_logo(["C1", "A2"], list(AMINO_ACIDS), p, "CA")
    assert len(figure.layout.shapes) == 1
    assert figure.data[0].y[0] == pytest.approx(np.log2(20))
    assert figure.data[0].y[1] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("letter", list(AMINO_ACIDS))
def test_each_letter_fills_its_box_from_side_to_side(letter):
    path = letter_path(letter, 2.0, 3.0, 5.0, 9.0)
    points = [p.split(",") for p in path.replace("M", "L").replace("Z", "").split("L") if p]
    xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
    assert 2.0 <= min(xs) <= 2.2
    assert 2.8 <= max(xs) <= 3.0
    assert max(ys) == 9.0
    assert min(ys) == pytest.approx(5.0, abs=0.4)


def test_attention_map_keeps_rows_as_queries():
    weights = np.random.default_rng(5).dirichlet(np.ones(17), 17)
    heat = attention_map(weights, HOVER, REGIONS).data[0]
    assert np.array_equal(heat.z, weights)
    assert (heat.y[3], heat.x[11]) == ("A4", "E12")
    assert "from %{y}<br>to %{x}" in heat.hovertemplate


def test_yardstick_shades_the_columns_of_the_junction():
    p = np.array([0.9, 0.1, 0.8])
    figure = yardstick(["C", "R", "F"], [("model", p), ("OLGA", p / 2)], [False, True, False])
    assert [(s.x0, s.x1) for s in figure.layout.shapes] == [(0.5, 1.5)]
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol


def test_origin_plot_counts_each_group_and_draws_its_mean():
    figure = origin_plot(
        [("V-encodable", ["C1", "A2"], np.array([1.0, 0.5])), ("junction", ["R6"], np.array([0.1]))]
    )
    assert [s.y0 for s in figure.layout.shapes] == [0.75, 0.1]
    assert figure.layout.xaxis.ticktext == ("V-encodable<br>2 residues", "junction<br>1 residues")


def test_similarity_roc_and_confusion_keep_their_numbers():
    cosines = np.array([[1.0, 1.0], [0.5, -0.2]])
    lines = similarity_by_layer(["S3-S4", "S3-S7"], cosines)
    assert np.allclose(lines.data[1].y, [1.0, -0.2])
    assert lines.layout.yaxis.range[0] == pytest.approx(-0.2)
    roc = roc_curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.9, 1.0]), 0.7)
    assert "0.700" in roc.data[0].name
    counts = np.array([[3, 1], [2, 5]])
    assert np.array_equal(confusion_map(["flu", "other"], counts).data[0].z, counts)
