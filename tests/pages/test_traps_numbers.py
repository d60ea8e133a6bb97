"""Numbers in the sentences of the traps page, recomputed from the arrays that its figures draw.

The arrays themselves are recomputed in tests/traps.
"""

import base64
import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.traps.questions_attention import causal_mask, positions, square_root
from core.traps.questions_block import feed_forward_share, one_layer
from core.traps.questions_training import loss_floor
from pages.parts.traps.measured import cost_heading
from tests.typed import typed


def words(app) -> str:
    return typed("\n".join(e.value for e in (*app.markdown, *app.caption)))


def traces(app, key: str) -> list[dict]:
    """The traces of a figure with their arrays decoded, and its alt text under "alt"."""
    chart = next(c for c in app.get("plotly_chart") if c.key == key)
    found = json.loads(chart.proto.spec)["data"]
    alt = typed(chart.proto.alt)
    return [{name: decoded(value) for name, value in t.items()} | {"alt": alt} for t in found]


def decoded(value):
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
        shape = [int(n) for n in str(value.get("shape", len(array))).split(",")]
        return array.reshape(shape)
    return value


@pytest.mark.parametrize("model", ["Toy", "Reverse model", "TRB-mini"])
def test_importance(open_page, model):
    app = open_page("traps", x_model=model, x_all="true")
    above, below, *_ = traces(app, "traps_importance")
    received, effect = pd.Series(above["y"], above["x"]), pd.Series(below["y"], below["x"])
    places = received.round(10).rank(ascending=False), effect.round(12).rank(ascending=False)
    assert [list(map(float, t["text"])) for t in (above, below)] == [list(p) for p in places]
    rho = f"{places[0].corr(places[1]):+.2f}"
    each = np.array(traces(app, "traps_heads")[0]["y"], dtype=float)
    each = each[~np.isnan(each)]
    rho += f" for the mean, {each.min():+.2f} to {each.max():+.2f} by head"
    assert f"#### Rank correlation ρ = {rho}\n" in words(app)
    assert f"{effect.idxmax()} matters most" in words(app) or (
        f"{effect.idxmax()} is the most attended residue" in words(app)
    )
    assert f"Rank correlation ρ = {rho}." in above["alt"]
    said = f"from {each.min():+.2f} to {each.max():+.2f} ({sum(each < 0)} of {len(each)} point"
    assert said in words(app)
    assert said in traces(app, "traps_heads")[0]["alt"]
    row = app.table[0].value[above["alt"].split(":")[0]]
    assert [typed(cell) for cell in row] == [
        received.idxmax(),
        effect.idxmax(),
        f"{places[0].corr(places[1]):+.2f}",
        f"{each.min():+.2f} to {each.max():+.2f}",
        f"{sum(each < 0)} of {len(each)}",
    ]


@pytest.mark.parametrize("model", ["Toy block", "PyTorch encoder"])
@pytest.mark.parametrize("causal", ["false", "true"])
def test_order(open_page, model, causal):
    app = open_page("traps", x="Order", x_order=model, x_seed="2", x_causal=causal)
    off, on = (float(t["z"].max()) for t in traces(app, "traps_order"))
    small = f"{off:.1e}" if causal == "false" else f"{off:.2f}"
    assert f"#### {small} with positions off, {on:.2f} with positions on" in words(app)
    assert f"they differ by up to {on:.2f}" in traces(app, "traps_order")[0]["alt"]


def test_weights(open_page, golden):
    app = open_page("traps", x="Weights")
    known = golden["transformer"]
    share = 12 * known["parameters_ffn"] / known["parameters_all_layers"]
    assert f"Over the whole Base Transformer it is {share:.0%}".replace("%", " %") in words(app)
    table = app.dataframe[0].value.set_index("Model")
    table = table.rename(columns={"Ends": "Embeddings and output"})
    assert set(table["Attention / d²"]) == {4}
    assert set(table["Feed-forward / d²"]) == {8}
    drawn = traces(app, "traps_weights")
    assert table["Total"].tolist() == np.sum([t["customdata"] for t in drawn], axis=0).tolist()
    for trace in drawn:
        shares = 100 * np.array(trace["customdata"]) / table["Total"].to_numpy()
        assert trace["x"] == pytest.approx(shares)
        assert table[trace["name"]].tolist() == list(trace["customdata"])
    assert all(f"{total:,} weights" in drawn[0]["alt"] for total in table["Total"])


def test_alphabets(open_page):
    app = open_page("traps", x="Any tokens", x_abc="Digits")
    blocks, ends = (np.array(t["customdata"]) for t in traces(app, "traps_alphabets"))
    share = 100 * ends / (blocks + ends)
    assert f"#### {share.min():.1f} % to {share.max():.1f} % of the weights" in words(app)
    assert f"The {blocks[0]:,} weights of the blocks" in words(app)
    assert "the 13 tokens (PAD, BOS, EOS and 0123456789)" in words(app)


def test_forgetting(open_page, monkeypatch):
    # A clock by which the n-th measured pass takes 3n, n and 2n milliseconds.
    ticks = (tick for n in range(1, 100) for tries in (3, 1, 2) for tick in (0.0, n * tries / 1000))
    clock = SimpleNamespace(perf_counter=ticks.__next__)
    monkeypatch.setattr("core.traps.influence.time", clock)
    app = open_page("traps", x="Forgetting", x_length="25")
    # Four networks at each of 2, 4, 8, 13, 25 … letters, the RNN first and attention last.
    assert "25 letters takes 17.00 ms in the RNN, 25 steps" in words(app)
    assert "and 20.00 ms with attention, one step (best of 3" in words(app)
    lines = {
        t["name"]: dict(zip(t["x"], t["y"], strict=True)) for t in traces(app, "traps_forgetting")
    }
    attention, rnn, gru = (lines[name][25] for name in ("Attention", "RNN", "GRU"))
    said = words(app)
    assert f"#### {100 * attention:.1f} % against {rnn:.0e} in an RNN" in said
    assert f"the first of 25 letters makes {100 * attention:.1f} %" in said
    assert "an equal share would be 4.0 %" in said
    assert f"GRU: {gru:.0e}." in said
    trained = lines["Attention, trained to reverse"].values()
    assert f"{100 * min(trained):.0f} % to {100 * max(trained):.0f} % at 8 to 16 letters" in said
    assert f"GRU: {gru:.0e}." in traces(app, "traps_forgetting")[0]["alt"].replace("\u00a0", " ")


def test_cost(open_page):
    app = open_page("traps", x="Cost")
    time, memory = (np.array(t["y"]) for t in traces(app, "traps_cost")[1::2])
    assert cost_heading(time[-1] / time[-2], 4.0) in words(app)
    assert memory[-1] == pytest.approx(3 * 2048**2 * 8 / 1e6)
    said = f"2,048 letters make {2048**2:,} pairs, {time[-1]:.0f} ms and {memory[-1]:.0f} MB"
    assert said in words(app)
    assert said in traces(app, "traps_cost")[0]["alt"]


def test_a_time_that_hardly_grew_is_called_disturbed():
    usual = "#### Twice the length: 3.7 times the time, 4.0 times the memory"
    assert cost_heading(3.74, 4.0) == usual
    disturbed = cost_heading(0.9, 4.0)
    assert disturbed.startswith("#### Twice the length: 4.0 times the memory\n")
    assert "0.9 times" in disturbed
    assert "Measure again" in disturbed


def test_what_the_questions_say():
    random = np.random.default_rng(0)
    queries, keys = random.normal(size=(1000, 1, 64)), random.normal(size=(1000, 13, 64))
    scores = np.einsum("nqd,nkd->nk", queries, keys)
    raw, scaled = (
        np.median(np.max(e / e.sum(1, keepdims=True), axis=1))
        for e in (np.exp(scores), np.exp(scores / 8))
    )
    said = square_root().evidence[0].replace("\u00a0", " ")
    assert f"spread by {scores.std():.1f}," in said
    assert f"13 keys {100 * raw:.0f} % of the weight" in said
    assert f"it gives {100 * scaled:.0f} %" in said
    right, other = 0.9 + 0.1 / 23, 0.1 / 23
    floor = -right * math.log(right) - 22 * other * math.log(other)
    sure = -right * math.log(0.9999) - 22 * other * math.log(0.0001 / 22)
    said = loss_floor().evidence[0]
    assert f"letter {right:.3f} and shares the rest among 22 tokens" in said
    assert f"costs {floor:.3f}." in said
    assert f"the loss is {sure:.3f}. Guessing blindly costs {math.log(23):.2f}." in said
    assert "move by up to" in positions().evidence[0]
    assert feed_forward_share().evidence[0].startswith("512 of 768 weights:")
    forbidden = causal_mask().evidence[0]
    assert forbidden.startswith("Outputs 6 to 13 moved, the earlier ones by 0:")
    assert sum("miss the block's output by up to" in said for said in one_layer().evidence) == 3
