"""The full-transformer page: every number it shows, recomputed from raw arrays."""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.alphabet import BOS, EOS, PAD, RESIDUES
from core.settings import ASSETS
from core.transformer.attention import BLOCKED, MultiHeadAttention
from core.transformer.model import Transformer
from core.transformer.shape import ModelShape, Sizes
from core.transformer.tour import BOXES, FAMILIES, boxes_of
from core.transformer.trace import Trace
from pages.parts.full.box import AXES
from tests.typed import badly_set, typed

ENTRY_SCRIPT = Path(__file__).resolve().parents[2] / "streamlit_app.py"
SEQUENCE = "CASSIRSSYEQYF"
SPECIAL = {"PAD": PAD, "BOS": BOS, "end": EOS}
CHAPTERS = ["Positions", "Masks", "Weights", "Depth", "Cross-attention", "Decoding", "Checks"]
PICTURES = ["Table", "Waves", "Periods", "Similarity", "Rotation", "Toy", "Learned and rotary"]


def chart(app: AppTest, key: str) -> Any:
    return next(element for element in app.get("plotly_chart") if element.key == key)


def words(app: AppTest) -> str:
    said = "\n".join(element.value for element in [*app.markdown, *app.caption])
    return typed(said).replace(" %", "%")


def alts(app: AppTest) -> str:
    return typed("\n".join(chart.proto.alt for chart in app.get("plotly_chart"))).replace(" %", "%")


@pytest.fixture
def opened(open_page):
    def opened_with(**query: str) -> AppTest:
        app = open_page("full_transformer", **query)
        assert not app.exception
        return app

    return opened_with


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_opens_by_its_link(opened, chapter: str) -> None:
    app = opened(f_part=chapter)
    assert app.segmented_control("f_part").value == chapter
    assert not app.warning or chapter == "Cross-attention"
    assert not badly_set(app)


def test_chapters_follow_one_another(opened) -> None:
    app = opened()
    for chapter in CHAPTERS[1:]:
        app.button("f_part_next").click().run()
        assert not app.exception
        assert app.segmented_control("f_part").value == chapter
    assert not [button for button in app.button if button.key == "f_part_next"]


@pytest.mark.parametrize("sequence", ["CW", "ACDEFGHIKLMNPQRSTVWY" * 3])
def test_every_picture_of_positions_at_both_ends_of_length(opened, sequence: str) -> None:
    app = opened(seq=sequence)
    for picture in PICTURES:
        app.segmented_control("f_pic").set_value(picture).run()
        assert not app.exception
        assert len(app.get("plotly_chart")) >= 2


def test_the_longest_sequence_fits_every_chapter(opened) -> None:
    app = opened(seq="ACDEFGHIKLMNPQRSTVWY" * 3)
    for chapter in CHAPTERS:
        app.segmented_control("f_part").set_value(chapter).run()
        assert not app.exception
        if chapter == "Decoding":
            assert "60 letters are more than the" in app.error[0].value


@pytest.mark.parametrize(
    "damage",
    [
        {"f_part": "Nowhere"},
        {"f_box": "<script>"},
        {"f_box": "Encoder final norm"},  # pre-LN has it, the paper's model has not
        {"f_ln": "0"},
        {"f_d": "513"},
        {"f_n": "99999999999999999999"},
        {"f_sv": "-3"},
        {"f_pic": "Table2", "f_part": "Positions"},
        {"f_depth": "49", "f_part": "Depth"},
        {"f_run": "../../etc/passwd", "f_part": "Decoding"},
        {"f_step": "abc", "f_part": "Decoding"},
        {"f_layer": "7", "f_part": "Cross-attention"},
        {"f_fl": "3", "f_flow": "true"},
        {"f_fh": "5", "f_flow": "true"},
        {"f_dims_16": "16", "f_part": "Positions", "f_pic": "Waves"},
        {"f_drawn_for": "zz", "f_part": "Masks"},
    ],
)
def test_a_damaged_link_gives_the_default_and_a_sentence(opened, damage: dict[str, str]) -> None:
    app = opened(**damage)
    name = next(iter(damage))
    assert any(name in warning.value for warning in app.warning)
    assert len(app.get("plotly_chart")) >= 1


# The drawing.


def recorded_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Shapes of what really flows through the model's modules, by their names."""
    torch.manual_seed(0)
    model = Transformer.from_shape(sizes.shape).eval()
    seen: dict[str, tuple[int, ...]] = {}
    for name, module in model.named_modules():
        module.register_forward_hook(
            lambda _, inputs, output, name=name: seen.update(
                {f"{name}:in": tuple(inputs[0].shape), f"{name}:out": tuple(output.shape)}
            )
        )
    trace = Trace()
    src = torch.ones(sizes.batch, sizes.n_src, dtype=torch.long)
    tgt = torch.ones(sizes.batch, sizes.n_tgt, dtype=torch.long)
    model(src, tgt, trace=trace)
    return seen | {name: tuple(w.shape) for name, w in trace.weights.items()}


MODULES = {
    "Source embedding": "src_embedding",
    "Self-attention": "encoder.layers.0.self_attention",
    "Encoder norm 1": "encoder.layers.0.around_attention",
    "Encoder feed-forward": "encoder.layers.0.feed_forward",
    "Encoder norm 2": "encoder.layers.0.around_feed_forward",
    "Output embedding": "tgt_embedding",
    "Causal self-attention": "decoder.layers.0.self_attention",
    "Decoder norm 1": "decoder.layers.0.around_self",
    "Cross-attention": "decoder.layers.0.cross_attention",
    "Decoder norm 2": "decoder.layers.0.around_cross",
    "Decoder feed-forward": "decoder.layers.0.feed_forward",
    "Decoder norm 3": "decoder.layers.0.around_feed_forward",
    "Generator": "generator",
    "Encoder final norm": "encoder.final_norm",
    "Decoder final norm": "decoder.final_norm",
}


@pytest.mark.parametrize("pre_norm", [False, True])
def test_shapes_and_counts_of_every_box_are_the_real_modules(pre_norm) -> None:
    sizes = Sizes(3, 7, 5, ModelShape(17, 19, 22, 11, 29, 2, pre_norm=pre_norm))
    seen = recorded_shapes(sizes)
    model = Transformer.from_shape(sizes.shape)
    boxes = boxes_of(sizes.shape)
    repeated = sum(box.part.count(sizes.shape) for box in boxes if box.repeated)
    once = sum(box.part.count(sizes.shape) for box in boxes if not box.repeated)
    assert 2 * repeated + once == sum(p.numel() for p in model.parameters())
    for box in boxes:
        if box.title not in MODULES:
            assert box.part.count(sizes.shape) == 0
            continue
        name = MODULES[box.title]
        flow = {array: sizes.of(axes) for array, axes in box.part.flow}
        assert sizes.of(box.part.flow[-1][1]) == seen[f"{name}:out"], box.title
        assert sizes.of(box.part.flow[0][1]) == seen[f"{name}:in"], box.title
        module = model.get_submodule(name)
        held = sum(p.numel() for p in module.parameters())
        if hasattr(module, "norm"):  # add & norm wraps a sublayer that it does not own
            held = sum(p.numel() for p in module.norm.parameters())
        assert box.part.count(sizes.shape) == held, box.title
        if "hidden" in flow:
            assert flow["hidden"] == seen[f"{name}.widen:out"]
    weights = {
        box.title: sizes.of(dict(box.part.flow)["weights"])
        for box in boxes
        if "weights" in dict(box.part.flow)
    }
    assert weights == {
        "Self-attention": seen["encoder.1.self"],
        "Causal self-attention": seen["decoder.1.self"],
        "Cross-attention": seen["decoder.1.cross"],
    }


def counted_layers(shape: ModelShape) -> dict[str, int]:
    """Weights of the first layer of each side of a real model."""
    model = Transformer.from_shape(shape)
    layers = {"encoder": model.encoder.layers[0], "decoder": model.decoder.layers[0]}
    return {side: sum(p.numel() for p in layer.parameters()) for side, layer in layers.items()}


@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_box_opens_with_its_numbers(opened, pre_norm) -> None:
    app = opened(
        f_d="64", f_h="4", f_ff="256", f_n="3", f_b="5", f_ln="pre-LN" if pre_norm else "post-LN"
    )
    shape = ModelShape(10_000, 8_000, 64, 4, 256, 3, pre_norm=pre_norm)
    sizes = Sizes(5, 13, 14, shape)
    assert f"; {20 if pre_norm else 18} boxes." in alts(app)
    layers = counted_layers(shape)
    # The paper's boxes are tried one by one, of pre-LN those that the paper does not have.
    for box in [b for b in boxes_of(shape) if not pre_norm or b not in BOXES]:
        app.selectbox("f_box").set_value(box.title).run()
        assert not app.exception
        shown = words(app)
        for name, axes in box.part.flow:
            numbers = " × ".join(f"{n:,}" for n in sizes.of(axes))
            escaped = ", ".join(axis.replace("_", r"\_") for axis in axes)
            assert f"| {name} | ({escaped}) | {numbers} |" in shown
        count = box.part.count(shape)
        assert f"**{count:,}** weights" in shown
        for axis in {axis for _, axes in box.part.flow for axis in axes}:
            assert f"**{axis.replace('_', chr(92) + '_')}** {AXES[axis]}" in shown
        if box.repeated:
            share = f"{count / layers[box.side]:.1%}"
            assert f"({share} of a" in shown
            assert f"{box.side} layer), {3 * count:,} in all." in shown


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_pointer_reads_shape_and_weights_of_the_real_modules(opened, pre_norm) -> None:
    shape = ModelShape(10_000, 8_000, 64, 4, 128, 2, pre_norm=pre_norm)
    seen, model = recorded_shapes(Sizes(5, 13, 14, shape)), Transformer.from_shape(shape)
    by_hand = {
        "Source tokens": ("ids", (5, 13)),
        "Source positions": ("x + PE", (5, 13, 64)),
        "Output so far": ("ids", (5, 14)),
        "Output positions": ("x + PE", (5, 14, 64)),
        "Next letter": ("next ids", (5,)),
    }
    link = {"f_d": "64", "f_h": "4", "f_ff": "128", "f_n": "2", "f_b": "5"}
    app = opened(**link, f_ln="pre-LN" if pre_norm else "post-LN")
    chart = next(c for c in app.get("plotly_chart") if c.key == "f_drawing")
    hovers = json.loads(chart.proto.spec)["data"][0]["hovertext"]
    assert len(hovers) == (20 if pre_norm else 18)
    for hover in hovers:
        title, array, numbers, weights = re.fullmatch(
            r"(.+): (.+) \((.+)\), ([\d,]+) weights", hover
        ).groups()
        shown = tuple(int(n.replace(",", "")) for n in numbers.split("\u00a0×\u00a0"))
        count = int(weights.replace(",", ""))
        if title in by_hand:
            assert (array, shown, count) == (*by_hand[title], 0)
            continue
        module = model.get_submodule(MODULES[title])
        module = getattr(module, "norm", module)  # add & norm wraps a sublayer it does not own
        assert shown == seen[f"{MODULES[title]}:out"], title
        assert count == sum(p.numel() for p in module.parameters()), title


def test_sources_are_those_of_the_classes_that_run() -> None:
    by_title = {box.title: box.part.source() for box in BOXES}
    assert by_title["Cross-attention"].startswith("class MultiHeadAttention(nn.Module):")
    assert "def _embed(self" in by_title["Source embedding"]
    assert "torch.cat([ids, best[:, None]], 1)" in by_title["Next letter"]
    assert all(len(source) > 100 for source in by_title.values())


def test_a_box_that_the_other_placement_lacks_gives_way_to_the_first(opened) -> None:
    app = opened(f_ln="pre-LN", f_box="Encoder final norm")
    app.segmented_control("f_ln").set_value("post-LN").run()
    assert not app.exception
    assert app.selectbox("f_box").value == "Self-attention"


def test_families_grey_out_what_they_lack(opened) -> None:
    expected = {"encoder-decoder": 0, "encoder-only": 11, "decoder-only": 9}
    app = opened()
    for family in FAMILIES:
        app.segmented_control("f_family").set_value(family.name).run()
        assert family.examples in words(app)
        lacking = [box for box in BOXES if family.name not in box.members]
        assert len(lacking) == expected[family.name]


# Positions.


def test_numbers_of_the_table_and_of_the_waves(opened) -> None:
    row = [math.sin(1), math.cos(1), math.sin(10000 ** (-2 / 32)), math.cos(10000 ** (-2 / 32))]
    shown = ", ".join(f"{value:.3f}" for value in row)
    app = opened(f_pic="Table", f_pd="32", f_pl="20")
    assert f"Position 1 begins {shown}" in words(app)
    assert "Positions 0 to 19 by 32 dimensions" in alts(app)
    waves = [f(n * 10000 ** (-i / 32)) for n in range(20) for i in range(0, 32, 2)
             for f in (math.sin, math.cos)]  # fmt: skip
    assert f"values {min(waves):.2f} to {max(waves):.2f}." in alts(app)
    app = opened(f_pic="Waves", f_pd="32")
    assert f"dimension 14 repeats after {2 * math.pi * 10000 ** (14 / 32):,.1f}" in words(app)
    app = opened(f_pic="Periods", f_rd="128")
    assert f"to {2 * math.pi * 10000 ** (126 / 128):,.1f}" in words(app)


def test_numbers_of_similarity_and_rotation(opened) -> None:
    angles = np.array([0, 1, 10])[:, None] * 10000.0 ** (-np.arange(0, 64, 2) / 64)
    codes = np.concatenate([np.sin(angles), np.cos(angles)], 1)
    cosine = codes @ codes[0] / np.linalg.norm(codes, axis=1) / np.linalg.norm(codes[0])
    app = opened(f_pic="Similarity", f_rd="64")
    assert f"1 apart {cosine[1]:.4f}, 10 apart {cosine[2]:.4f}" in words(app)
    app = opened(f_pic="Rotation", f_shift="7", f_pd="8")
    error = float(re.search(r"Largest difference: (\S+)", words(app))[1])
    assert error < 1e-12
    turns = [math.degrees(7 * 10000 ** (-i / 8)) % 360 for i in (0, 6)]
    assert f"from {turns[0]:.1f}° down to {turns[1]:.2g}°" in words(app)


def test_numbers_of_the_toys_waves(opened) -> None:
    app = opened(f_pic="Toy")
    assert f"{2 * math.pi:.2f}, {6 * math.pi:.2f}" in words(app)
    last = ", ".join(f"{f(12 / s):.3f}" for s in (1, 3) for f in (math.sin, math.cos))
    assert f"The last residue holds {last}." in alts(app)


def test_numbers_of_rotary(opened) -> None:
    query, key = np.random.default_rng(0).normal(size=(2, 32))
    frequency = 10000.0 ** (-np.arange(0, 32, 2) / 32)
    turn = np.exp(1j * np.arange(13)[:, None] * frequency)
    q, k = (v[0::2] + 1j * v[1::2] for v in (query, key))
    scores = np.real((q * turn) @ np.conj(k * turn).T)
    angles = np.arange(13)[:, None] * frequency
    table = np.stack([np.sin(angles), np.cos(angles)], 2).reshape(13, 32)
    added = (query + table) @ (key + table).T
    spread = max(np.ptp(np.diagonal(added, d)) for d in range(-12, 13))
    app = opened(f_pic="Learned and rotary")
    assert f"scores {scores.min():.2f} to {scores.max():.2f}" in alts(app)
    assert f"with added sinusoids by **{spread:.2f}**" in words(app)
    assert float(re.search(r"differ there by at most \*\*(\S+)\*\*", words(app))[1]) < 1e-12


# Masks.


def test_numbers_of_the_masks(opened) -> None:
    app = opened(f_part="Masks", seq="CASSIRSSYEQYF", f_two="CASS")
    length, real = 14, 5
    both = sum(1 for q in range(length) for k in range(length) if k <= q and k < real)
    causal = length * (length + 1) // 2
    expected = f"Of 196 pairs are allowed: padding {length * real}, causal {causal}, both {both}."
    assert expected in words(app)
    assert BLOCKED == -(10.0**9)
    assert "a blocked score becomes -10⁹ before the softmax" in words(app)
    table = app.table[0].value
    assert list(table.loc["it reads"]) == ["BOS", *SEQUENCE]
    assert list(table.loc["it must name"]) == [*SEQUENCE, "EOS"]
    app.segmented_control("f_drawn_for").set_value("the first sequence").run()
    assert f"padding 196, causal {causal}, both {causal}." in words(app)


def test_the_alt_text_of_each_mask_counts_its_own_pairs(opened) -> None:
    said = alts(opened(f_part="Masks", seq="CASSIRS", f_two="CASSLGFEQYF"))
    rows, columns = np.indices((12, 12))
    for name, count in (("Padding", 144), ("Causal", int((columns <= rows).sum())), ("Both", 78)):
        assert f"{name} mask, 12 by 12: {count} of 144 pairs are allowed." in said


def test_a_bad_second_sequence_keeps_the_picture(opened) -> None:
    app = opened(f_part="Masks")
    app.text_input("f_two").set_value("CAS1").run()
    assert not app.exception
    assert "Still showing CASSLGF" in app.error[0].value
    assert len(app.get("plotly_chart")) == 4


# Weights.


def test_both_counts_are_the_golden_total(opened, golden: dict[str, Any]) -> None:
    app = opened(f_part="Weights")
    known = golden["transformer"]
    values = {metric.label: metric.value for metric in app.metric}
    assert values["By formula"] == f"{known['parameters_total']:,}"
    assert values["Counted on the real model"] == f"{known['parameters_total']:,}"
    hidden = 12 * known["parameters_ffn"] / known["parameters_all_layers"]
    attention = 18 * known["parameters_attention_sublayer"] / known["parameters_all_layers"]
    outside = known["parameters_embeddings_and_output"] / known["parameters_total"]
    for share in (hidden, attention, outside):
        assert f"**{share:.1%}**" in words(app)


def test_the_formulas_and_the_treemap_show_the_golden_counts(opened, golden) -> None:
    app, known = opened(f_part="Weights"), golden["transformer"]
    (formulas,) = [e.value for e in app.latex if "aligned" in e.value and "4d^2" in e.value]
    for name in ("attention_sublayer", "ffn", "encoder_layer", "decoder_layer"):
        assert f"{known[f'parameters_{name}']:,}".replace(",", "{,}") in formulas
    assert r"N = 2d &= 1{,}024" in formulas
    outside = known["parameters_embeddings_and_output"]
    assert f"feed-forward {12 * known['parameters_ffn']:,}, attention " in alts(app)
    assert f"attention {18 * known['parameters_attention_sublayer']:,}, embeddings" in alts(app)
    assert f"embeddings and generator {outside:,}." in alts(app)
    (tree,) = json.loads(chart(app, "f_treemap").proto.spec)["data"]
    drawn = dict(zip(tree["ids"], zip(tree["values"], tree["text"], strict=True), strict=True))
    hidden = 6 * known["parameters_ffn"]
    share = f"{100 * hidden / known['parameters_total']:.1f}\u00a0%"
    assert drawn["Encoder, 6 layers/Feed-forward"] == (hidden, share)
    assert drawn["Decoder, 6 layers/Feed-forward"] == (hidden, share)


def test_sliders_and_presets_change_both_counts(opened) -> None:
    app = opened(f_part="Weights")
    next(button for button in app.button if button.label == "Reverse task").click().run()
    model = Transformer(23, 23, 64, 4, 256, 2, 0.1, 18)
    held = f"{sum(p.numel() for p in model.parameters()):,}"
    assert [metric.value for metric in app.metric] == [held, held, "0"]
    app.select_slider("f_n").set_value(3).run()
    app.segmented_control("f_ln").set_value("pre-LN").run()
    model = Transformer(23, 23, 64, 4, 256, 3, 0.1, 18, pre_norm=True)
    held = f"{sum(p.numel() for p in model.parameters()):,}"
    assert [metric.value for metric in app.metric] == [held, held, "0"]


# Depth.


def independent_norms(depth: int, pre_norm: bool) -> tuple[list[float], list[float]]:
    """The experiment again with torch.nn layers carrying the same weights."""
    from core.transformer.into_torch import copy_encoder_layer
    from core.transformer.model import initialise
    from core.transformer.stacks import Encoder

    torch.manual_seed(0)
    x, reading = torch.randn(2, 13, 32), torch.randn(2, 13, 32)
    shape = ModelShape(1, 1, 32, 4, 128, depth, dropout=0.0, pre_norm=pre_norm)
    ours = Encoder(shape)
    initialise(ours)
    layers = []
    for layer in ours.layers:
        theirs = torch.nn.TransformerEncoderLayer(
            32, 4, 128, dropout=0.0, batch_first=True, norm_first=pre_norm
        )
        copy_encoder_layer(layer, theirs)
        layers.append(theirs)
    stream = [x]
    for theirs in layers:
        stream.append(theirs(stream[-1]))
    out = torch.nn.functional.layer_norm(stream[-1], (32,)) if pre_norm else stream[-1]
    (torch.einsum("bld,bld->", out, reading) / (2 * 13)).backward()
    gradients = [
        math.sqrt(sum(float((p.grad**2).sum()) for p in theirs.parameters())) for theirs in layers
    ]
    lengths = [float((s.detach() ** 2).sum(-1).sqrt().mean()) for s in stream]
    return lengths, gradients


def test_numbers_of_depth(opened) -> None:
    app = opened(f_part="Depth", f_depth="5")
    (post, post_g), (pre, pre_g) = independent_norms(5, False), independent_norms(5, True)
    shown = words(app)
    assert (
        f"leaves post-LN with length **{post[-1]:.1f}** and pre-LN with **{pre[-1]:.1f}**" in shown
    )
    assert f"(in: {pre[0]:.1f})" in shown
    assert f"**{max(post_g) / min(post_g):.1f}** times the smallest in post-LN" in shown
    assert f"**{max(pre_g) / min(pre_g):.1f}** times in pre-LN" in shown
    assert f"**{post_g[-1]:.1f}** against **{pre_g[-1]:.1f}**" in shown
    assert f"post-LN (the paper): {post[0]:.2f} to {post[-1]:.2f}" in alts(app)
    assert f"pre-LN (most models since): {pre_g[0]:.2f} to {pre_g[-1]:.2f}" in alts(app)


# Cross-attention.


def plain_cross_weights(
    attention: MultiHeadAttention, x: torch.Tensor, memory: torch.Tensor
) -> torch.Tensor:
    """(h, n_query, n_key) by matrix products, head after head."""
    d, h = x.shape[-1], attention.num_heads
    w, b = attention.project_qkv.weight, attention.project_qkv.bias
    q, k = x @ w[:d].T + b[:d], memory @ w[d : 2 * d].T + b[d : 2 * d]
    parts = zip(q.split(d // h, -1), k.split(d // h, -1), strict=True)
    return torch.stack([torch.softmax(a @ c.T / math.sqrt(d // h), -1) for a, c in parts])


def test_numbers_of_untrained_cross_attention(opened) -> None:
    app = opened(f_part="Cross-attention", f_seed="3", f_layer="1", f_head="2")
    assert "Illustration only" in app.warning[0].value
    torch.manual_seed(3)
    model = Transformer(23, 23, 64, 4, 256, 2).eval()
    keys, queries = (torch.tensor([RESIDUES.encode(s)]) for s in ("GILGFVFTL", SEQUENCE))
    with torch.no_grad():
        layer = model.decoder.layers[0]
        x = model._embed(model.tgt_embedding, queries)
        mask = torch.ones(1, 13, 13, dtype=torch.bool).tril()
        x = layer.around_self(x, lambda y: layer.self_attention(y, may_attend=mask))
        weights = plain_cross_weights(layer.cross_attention, x[0], model.encode(keys)[0])[1]
    row, column = divmod(int(weights.argmax()), 9)
    expected = (
        f"Strongest: {SEQUENCE[row]} {row + 1} gives {weights[row, column]:.1%} to "
        f"{'GILGFVFTL'[column]} {column + 1}; even sharing would be {1 / 9:.1%}"
    )
    assert expected in words(app)


def recorded_model() -> Transformer:
    content = torch.load(ASSETS / "recorded_paper_run.pt", weights_only=True, map_location="cpu")
    model = Transformer(23, 23, 64, 4, 256, 2, 0.1, 18)
    model.load_state_dict(content["model"])
    return model.eval()


def test_numbers_of_trained_cross_attention(opened, golden) -> None:
    app = opened(f_part="Cross-attention", f_cross="Trained run", f_tlayer="2", f_thead="1")
    model, trace = recorded_model(), Trace()
    src = torch.tensor([RESIDUES.encode(SEQUENCE)])
    tgt = torch.tensor([(BOS, *RESIDUES.encode(SEQUENCE[::-1]))])
    with torch.no_grad():
        model(src, tgt, trace=trace)
    means = []
    for number in (1, 2):
        weights = trace.weights[f"decoder.{number}.cross"][0]
        means.append(np.mean([weights[h, i, 12 - i] for h in range(4) for i in range(13)]))
    assert "It writes **FYQEYSSRISSAC**" in words(app)
    assert f"layer 1 {means[0]:.1%}, layer 2 {means[1]:.1%}" in words(app)
    shown = trace.weights["decoder.2.cross"][0][0]
    row, column = divmod(int(shown.argmax()), 13)
    asks = ["BOS", *SEQUENCE[::-1]]
    assert (
        f"Strongest: {asks[row]} {row + 1} gives {shown[row, column]:.1%} to "
        f"{SEQUENCE[column]} {column + 1}." in alts(app)
    )
    published = golden["reverse_task"]["published_cross_attention_antidiagonal_mean_layer2"]
    assert f"Published for layer 2 of the paper recipe: {published:.0%}." in words(app)


# Decoding.


@pytest.mark.parametrize("width", [1, 3])
def test_numbers_of_a_decoding_step(opened, width: int) -> None:
    app = opened(f_part="Decoding", f_beam=str(width), f_step="4")
    table = app.dataframe[0].value
    table = table.assign(**{n: [float(typed(v)) for v in table[n]] for n in table.columns[2:]})
    model, src = recorded_model(), torch.tensor([RESIDUES.encode(SEQUENCE)])
    assert table["kept"].sum() == width
    for row in table.itertuples(index=False):
        begun, last = row.candidate.split(" + ")
        token = SPECIAL[last] if last in SPECIAL else RESIDUES.encode(last)[0]
        ids = [BOS, *RESIDUES.encode(begun), token]
        with torch.no_grad():
            log_p = model(src, torch.tensor([ids[:-1]]))[0].log_softmax(-1)
        each = [float(log_p[n, ids[n + 1]]) for n in range(len(ids) - 1)]
        assert row[2] == pytest.approx(each[-1], abs=2e-4)
        assert row[3] == pytest.approx(sum(each), abs=2e-4)
        assert row[4] == pytest.approx(sum(each) / ((5 + len(each)) / 6) ** 0.6, abs=2e-4)
    best = table.iloc[0]
    candidate = re.escape(best["candidate"])
    shown = re.search(rf"\*\*{candidate} with ([\d.]+)%, score (-[\d.]+)\*\*", words(app))
    assert shown
    assert float(shown[2]) == pytest.approx(best["score"], abs=0.00056)
    assert float(shown[1]) == pytest.approx(100 * math.exp(best.iloc[2]), abs=0.061)
    assert list(table["score"]) == sorted(table["score"], reverse=True)
    assert f"{SEQUENCE} → FYQEYSSRISSAC**, exactly reversed." in words(app)


def test_walking_with_the_buttons(opened) -> None:
    app = opened(f_part="Decoding")
    for step in (2, 3):
        app.button("f_forward").click().run()
        assert not app.exception
        assert app.slider("f_step").value == step
        assert f"Step {step} of 14" in words(app)
    app.button("f_back").click().run()
    assert app.slider("f_step").value == 2
    app.slider("f_step").set_value(14).run()
    app.text_input("seq").set_value("CASSLGFF").run()
    assert not app.exception
    assert "Step 9 of 9" in words(app)


# Checks.


def test_parity_table_is_within_rounding_and_can_be_drawn_again(opened) -> None:
    app = opened(f_part="Checks")
    first = app.table[0].value.map(typed).astype(float)
    assert (first["float32"] < 1e-5).all()
    assert (first["float64"] < 1e-10).all()
    assert "**14 of 14** are within rounding (below 10⁻⁵ in float32 and 10⁻¹⁰ in" in words(app)
    app.number_input("f_pseed").set_value(1).run()
    second = app.table[0].value.map(typed).astype(float)
    assert (second["float64"] < 1e-10).all()
    assert list(second["float32"]) != list(first["float32"])


def test_a_finished_run_can_be_chosen_and_a_damaged_file_is_named(opened, monkeypatch) -> None:
    from core.runs import store
    from core.runs.supervisor import Supervisor, checkpoint_folder
    from core.settings import read_settings
    from core.training.recipe import PAPER, Watch

    supervisor = Supervisor(read_settings())
    with supervisor.reading() as db:
        number = store.add(db, PAPER, Watch(), owner="x")
    file = checkpoint_folder(supervisor.settings, number) / "last.pt"
    file.parent.mkdir(parents=True)
    shutil.copy(ASSETS / "recorded_paper_run.pt", file)
    app = opened(f_part="Decoding", f_run=str(number))
    assert app.selectbox("f_run").value == str(number)
    assert "exactly reversed" in words(app)
    file.write_bytes(b"not a checkpoint")
    app.button("f_forward").click().run()
    assert not app.exception
    assert "last.pt cannot be read as a checkpoint" in app.error[0].value


def test_without_any_trained_model_the_page_says_where_to_train_one(opened, monkeypatch) -> None:
    monkeypatch.setattr("pages.parts.trained.RECORDED", ASSETS / "no_such_file.pt")
    for chapter in (
        {"f_part": "Decoding"},
        {"f_part": "Cross-attention", "f_cross": "Trained run"},
    ):
        app = opened(**chapter)
        assert "no trained model here yet" in app.info[0].value


def test_the_first_screen_does_not_load_torch() -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest;"
        f"app = AppTest.from_file({str(ENTRY_SCRIPT)!r}, default_timeout=60).run();"
        "app.switch_page('pages/full_transformer.py').run(); assert not app.exception;"
        "assert len(app.get('plotly_chart')) == 2; sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ENTRY_SCRIPT.parent, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


# What leaves a box.


def test_numbers_that_leave_a_box(opened) -> None:
    app = opened(f_flow="true", f_box="Cross-attention", f_fl="1")
    model = recorded_model()
    src = torch.tensor([RESIDUES.encode(SEQUENCE)])
    tgt = torch.tensor([(BOS, *RESIDUES.encode(SEQUENCE[::-1]))])
    seen = {}
    module = model.decoder.layers[0].cross_attention
    module.register_forward_hook(lambda _, inputs, output: seen.update(out=output[0]))
    with torch.no_grad():
        scores = model(src, tgt)[0]
    for values, title in ((seen["out"], "Cross-attention"), (scores, "Generator")):
        app.selectbox("f_box").set_value(title).run()
        assert not app.exception
        row, column = divmod(int(values.abs().argmax()), values.shape[1])
        letter = ["BOS", *SEQUENCE[::-1]][row]
        tokens = ["PAD", "BOS", "EOS", *RESIDUES.letters]
        where = f"dimension {column}" if title == "Cross-attention" else tokens[column]
        expected = f"Largest: {values[row, column]:.2f} at {letter} {row + 1}, {where}."
        assert expected in words(app)
        assert f"{values.shape[0]} letters by {values.shape[1]} numbers" in alts(app)
        assert f"rows are {values.shape[1]} wide" in words(app)
    app.text_input("seq").set_value("ACDEFGHIKLMNPQRSTVWY").run()
    assert "20 letters; this run read at most 16" in app.error[0].value


def test_whom_each_attention_looks_at_in_one_head(opened) -> None:
    app = opened(f_flow="true", f_box="Self-attention", f_fl="1", f_fh="3")
    model, trace = recorded_model(), Trace()
    source, output = list(SEQUENCE), ["BOS", *SEQUENCE[::-1]]
    tgt = torch.tensor([(BOS, *RESIDUES.encode(SEQUENCE[::-1]))])
    with torch.no_grad():
        model(torch.tensor([RESIDUES.encode(SEQUENCE)]), tgt, trace=trace)
    for title, name, asks, answers in (
        ("Self-attention", "encoder.1.self", source, source),
        ("Causal self-attention", "decoder.1.self", output, output),
        ("Cross-attention", "decoder.1.cross", output, source),
    ):
        app.selectbox("f_box").set_value(title).run()
        assert not app.exception
        weights = trace.weights[name][0, 2].numpy()
        row, column = np.unravel_index(weights.argmax(), weights.shape)
        share = f"{weights[row, column]:.1%} to {answers[column]} {column + 1}."
        expected = f"Strongest: {asks[row]} {row + 1} gives {share}"
        assert expected in words(app)
        assert f"{title}, layer 1, head 3 of the recorded run. {expected}" in alts(app)
        # The causal mask: exactly nothing goes to later letters.
        assert ("0.0% goes to letters still to come" in words(app)) == (output is answers)


def test_the_boxes_can_be_walked_in_the_order_of_the_forward_pass(opened) -> None:
    app = opened(f_box="Encoder norm 2")
    for title in ("Output so far", "Output embedding"):
        app.button("f_next_box").click().run()
        assert not app.exception
        assert app.selectbox("f_box").value == title
    app.selectbox("f_box").set_value("Next letter").run()
    app.button("f_next_box").click().run()
    assert app.selectbox("f_box").value == "Source tokens"
