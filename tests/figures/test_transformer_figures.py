"""Figures of the full Transformer, by their data."""

import re

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.architecture import DrawnBox, architecture
from core.figures.masks import mask_grid
from core.figures.parameters import weight_treemap
from core.figures.positions import (
    encoding_heatmap,
    period_curve,
    score_map,
    similarity_curve,
    waves,
)
from core.figures.transformer_attention import cross_map
from core.figures.transformer_decoding import candidate_bars
from core.figures.transformer_depth import norms_by_layer
from core.figures.transformer_flow import flowing

BOXES = [
    DrawnBox("in", "CASS", "encoder", "tokens", "in"),
    DrawnBox("self", "Self-attention", "encoder", "attention", "self", repeated=True),
    DrawnBox("out", "BOS", "decoder", "tokens", "out", faded=True),
    DrawnBox("cross", "Cross-attention", "decoder", "attention", "cross", repeated=True),
    DrawnBox("head", "Generator", "decoder", "head", "head"),
]


FIGURES = {
    "architecture": lambda: architecture(BOXES, "cross", "cross", 7),
    "mask": lambda: mask_grid(np.eye(2, dtype=bool), ["A 1", "C 2"], ["A", "C"], "t"),
    "treemap": lambda: weight_treemap(["Encoder/Norms", "Generator"], [3, 5], "All"),
    "table": lambda: encoding_heatmap(np.zeros((3, 4))),
    "waves": lambda: waves(np.arange(3.0), [np.arange(3.0)], ["a"], 2),
    "periods": lambda: period_curve(range(0, 4, 2), np.array([6.3, 60.0])),
    "similarity": lambda: similarity_curve(np.ones(3)),
    "scores": lambda: score_map(np.eye(3), "t"),
    "cross": lambda: cross_map(np.eye(2), ["C", "A"], ["G", "I"], "asks", "answers"),
    "candidates": lambda: candidate_bars(["A"], [0.9], [-0.1], [True]),
    "norms": lambda: norms_by_layer({"post": np.ones(2), "pre": np.ones(2)}, 0, "t"),
    "flow": lambda: flowing(np.eye(2), ["C", "A"], None),
    "flow of tokens": lambda: flowing(np.eye(2), ["C", "A"], ["PAD", "A"]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_plotly_knows_every_property(name: str) -> None:
    figure = FIGURES[name]()
    assert "datarevision" in figure.to_dict()["layout"]  # drawn once by the browser
    checked = go.Figure(figure.to_dict())  # raises ValueError for a property or value unknown
    assert len(checked.data) == len(figure.data) > 0


def test_every_box_is_one_bar_with_its_key() -> None:
    figure = architecture(BOXES, "cross", "cross", 7)
    bars = figure.data[0]
    assert list(bars.customdata) == [box.key for box in BOXES]
    assert list(bars.y) == [0, 1, 0, 1, 2]
    assert list(bars.selectedpoints) == [3]
    texts = [trace for trace in figure.data[1:] if trace.mode == "text"]
    assert {label for trace in texts for label in trace.text} == {box.label for box in BOXES}
    assert [note.text for note in figure.layout.annotations].count("7 ×") == 2
    colour = {label: trace.textfont.color for trace in texts for label in trace.text}
    assert colour["BOS"] != colour["CASS"]
    # A click on a bar must not pale what stands beside it.
    assert all(trace.unselected.textfont.color == trace.textfont.color for trace in texts)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_stream_passes_a_sublayer_and_its_norm_by(pre_norm: bool) -> None:
    pair = [
        DrawnBox("self", "Self-attention", "encoder", "attention", "self", repeated=True),
        DrawnBox("norm", "Norm", "encoder", "norm", "norm", repeated=True),
    ]
    boxes = [BOXES[0], *(pair[::-1] if pre_norm else pair), *BOXES[2:]]
    figure = architecture(boxes, "cross", "cross", 7)
    lines = next(trace for trace in figure.data[1:] if trace.mode == "lines")
    start = next(at for at, x in enumerate(lines.x) if x is not None and x < -0.45) - 1
    below, end = lines.y[start], lines.y[start + 3]
    assert 0 < below < 1  # under the lower box of the two
    assert end > 2 if pre_norm else end == 2  # above both, or in the norm
    symbols = next(trace.marker.symbol for trace in figure.data[1:] if trace.mode == "markers")
    assert ("cross" in symbols) == pre_norm


def test_a_mask_says_who_may_look_at_whom() -> None:
    mask = np.tril(np.ones((3, 3), dtype=bool))
    drawn = mask_grid(mask, ["BOS", "C 2", "A 3"], ["▸", "C", "A"], "Both")
    grid, left, below = drawn.data
    assert [(y, text.strip()) for y, text in zip(left.y, left.text, strict=True)] == [
        (0, "▸"),
        (1, "C"),
        (2, "A"),
    ]
    assert dict(zip(below.x, below.text, strict=True)) == {0: "▸", 1: "C", 2: "A"}
    assert (np.array(grid.z) == mask).all()
    assert grid.customdata[2][0] == "A 3 may look at BOS"
    assert grid.customdata[0][1] == "BOS may not look at C 2"
    marks = re.findall(r"M([^,]+),([^H]+)H([^M]+)", drawn.layout.shapes[0].path)
    dots = [(int(y), (float(left) + float(right)) / 2) for left, y, right in marks]
    assert dots == [(row, column) for row in range(3) for column in range(row + 1)]


def test_a_treemap_adds_up_inside_out() -> None:
    paths = ["Source embedding", "Encoder/Layer 1/Norms", "Encoder/Layer 2/Norms", "Generator"]
    tree = weight_treemap(paths, [100, 3, 4, 50], "All").data[0]
    values = dict(zip(tree.ids, tree.values, strict=True))
    parents = dict(zip(tree.ids, tree.parents, strict=True))
    assert values == {
        "All": 157,
        "Source embedding": 100,
        "Encoder": 7,
        "Encoder/Layer 1": 3,
        "Encoder/Layer 1/Norms": 3,
        "Encoder/Layer 2": 4,
        "Encoder/Layer 2/Norms": 4,
        "Generator": 50,
    }
    assert tree.text[tree.ids.index("Encoder")] == f"{700 / 157:.1f}\N{NO-BREAK SPACE}%"
    for node, parent in parents.items():
        if node in {"Encoder", "Encoder/Layer 1", "All"}:
            inside = [values[n] for n, p in parents.items() if p == node]
            assert sum(inside) == values[node]
        assert parent == "" or parent in values


def test_positions_show_what_they_are_given() -> None:
    table = np.arange(12.0).reshape(3, 4) / 12
    assert (np.array(encoding_heatmap(table).data[0].z) == table).all()
    assert list(similarity_curve(table[0]).data[0].y) == list(table[0])
    periods = period_curve([0, 2], np.array([6.3, 60.0]))
    assert list(periods.data[0].x) == [0, 2]
    assert periods.layout.yaxis.type == "log"
    scores = score_map(np.array([[-2.0, 1.0], [0.0, 1.5]]), "t").data[0]
    assert (scores.zmin, scores.zmax) == (-2, 2)


def test_waves_mark_whole_positions_only() -> None:
    positions = np.array([0, 0.5, 1, 1.5, 2])
    figure = waves(positions, [positions * 2, positions * 3], ["a", "b"], 2)
    assert [trace.name for trace in figure.data[::2]] == ["a", "b"]
    assert list(figure.data[3].x) == [0, 1]
    assert list(figure.data[3].y) == [0, 3]
    assert figure.data[0].line.dash != figure.data[2].line.dash


def test_norms_start_at_the_layer_they_belong_to() -> None:
    figure = norms_by_layer({"post": np.array([1.0, 2]), "pre": np.array([3.0, 4])}, 1, "t")
    assert [list(trace.x) for trace in figure.data] == [[1, 2], [1, 2]]
    assert [list(trace.y) for trace in figure.data] == [[1, 2], [3, 4]]


def test_cross_map_names_both_letters() -> None:
    weights = np.array([[0.25, 0.75]])
    drawn = cross_map(weights, ["C"], ["G", "I"], "asks", "answers").data[0]
    assert drawn.customdata[0][1] == "C 1 gives I 2: 75.0\N{NO-BREAK SPACE}%"
    assert drawn.zmin == 0
    assert drawn.zmax == 0.75


@pytest.mark.parametrize("kept", [[True, False], [False, True]])
def test_kept_candidates_are_ticked_not_only_coloured(kept: list[bool]) -> None:
    figure = candidate_bars(["F + Y", "F + I"], [0.9, 0.1], [-0.1, -2.3], kept)
    ticked = [text.startswith("✓ ") for text in figure.layout.yaxis.ticktext]
    assert ticked == kept
    assert list(figure.data[0].x) == [0.9, 0.1]
    assert figure.data[0].hovertext[1] == "F + I: 10.00\N{NO-BREAK SPACE}%, score −2.300"


def test_what_flows_keeps_its_letters_and_signs() -> None:
    values = np.array([[0.5, -2.0], [1.0, 0.0]])
    drawn = flowing(values, ["C", "A"], None).data[0]
    assert (drawn.zmin, drawn.zmax) == (-2, 2)
    assert drawn.customdata[1][0] == "A 2, dimension 0"
    figure = flowing(np.array([[0.9, 0.1]]), ["C"], ["EOS", "A"])
    assert figure.data[0].zmin == 0
    assert dict(zip(figure.data[2].x, figure.data[2].text, strict=True)) == {0: "■", 1: "A"}
    assert figure.data[0].customdata[0][0] == "C 1, EOS"
