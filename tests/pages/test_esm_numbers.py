"""Every number on the protein page, computed again here from fair-esm's forward or by hand."""

import csv
import itertools
import math
import re

import numpy as np
import pytest
import torch

from core.alphabet import AMINO_ACIDS
from core.protein.cards import model_card
from core.protein.chain import Chain, default_chain
from core.protein.embeddings import mean_vector
from core.protein.germline import assemble
from core.protein.guess import guess
from core.protein.lab import cross_validate
from core.protein.receptors import read_receptors
from core.protein.scan import scan
from core.protein.weights import load
from core.settings import ASSETS
from pages.parts.esm.lab_data import example_rows
from pages.parts.loaded_models import loading
from tests.pages.test_esm_page import click, click_and_wait, figure, scanned, words_of
from tests.protein.conftest import save_published

CHAIN = default_chain()


def own(table, chain=CHAIN):
    """p of each residue that stands there."""
    rows = zip(table, chain.sequence, strict=True)
    return [float(row[AMINO_ACIDS.index(letter)]) for row, letter in rows]


def perplexity(truth):
    return math.exp(sum(-math.log(p) for p in truth) / len(truth))


@pytest.fixture(scope="module")
def mini():
    return load("trb-mini")


@pytest.fixture(scope="module")
def table(mini):
    return scan(mini, CHAIN)


@pytest.fixture(scope="module")
def inside(mini):
    """What fair-esm's own forward keeps: vectors and attention of every layer."""
    with torch.no_grad(), mini.lock:
        return mini.module(mini.tokens(CHAIN)[None], repr_layers=range(7), need_head_weights=True)


def test_the_numbers_under_a_scan_and_at_a_temperature(open_page, table):
    app = scanned(open_page("esm"))
    for temperature in (1.0, 2.5):
        app.slider("e_temp").set_value(temperature).run()
        warmed = table ** (1 / temperature)
        warmed /= warmed.sum(axis=1, keepdims=True)
        truth = own(warmed)
        nats = [-math.log(p) for p in truth]
        best = sum(p == max(row) for p, row in zip(truth, warmed, strict=True))
        assert best == 129
        assert {metric.label: metric.value for metric in app.metric} == {
            "guessed first": f"{best} of 131",
            "mean p(true)": f"{sum(truth) / 131:.3f}",
            "mean −log p(true)": f"{sum(nats) / 131:.3f}",
            "pseudo-perplexity": f"{perplexity(truth):.3f}",
        }


def test_the_groups_of_the_cdr3_and_the_distance_from_chance_alone(open_page, table):
    app = scanned(open_page("esm", e_view="Chance alone"))
    assert f"differs from it by {distance_from_chance(table):.3f} on average" in words_of(app)
    picture = next(g for g in app.get("button_group") if g.label == "Picture")
    picture.set_value("Germline or junction").run()
    truth, best = own(table), table.max(axis=1)
    places = {"V germline": "CASSI", "junction": "RS", "J germline": "SYEQYF"}
    assert "".join(places.values()) == CHAIN.cdr3_sequence
    start, want = 109, []
    for origin, letters in places.items():
        part = range(start, start := start + len(letters))
        want.append(
            (
                origin,
                len(letters),
                sum(truth[i] == best[i] for i in part),
                round(sum(truth[i] for i in part) / len(part), 3),
                round(sum(-math.log(truth[i]) for i in part) / len(part), 3),
            )
        )
    assert list(app.dataframe[0].value.itertuples(index=False, name=None)) == want


def distance_from_chance(table):
    """Mean difference of p(true) in the CDR3 from the shipped table's."""
    with (ASSETS / "recombination_yardstick.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["given"].startswith("TRBV19")]
    chance = [
        float(row[row["residue"]]) / sum(float(row[letter]) for letter in AMINO_ACIDS)
        for row in rows
    ]
    return sum(abs(p - q) for p, q in zip(own(table)[109:122], chance, strict=True)) / 13


def test_what_a_mutation_changes(open_page, mini, table):
    app = open_page("esm", e_show="Compare", e_mp="60", e_ml="W")
    app = click_and_wait(app, "Scan the chain and its mutant")
    assert [trace["name"] for trace in figure(app, 2)["data"]] == ["Q60", "W60"]
    mutant = Chain(CHAIN.sequence[:59] + "W" + CHAIN.sequence[60:])
    before, after = own(table), own(scan(mini, mutant), mutant)
    totals = [sum(math.log(p) for p in truth) for truth in (before, after)]
    said = f"goes from {totals[0]:.2f} to {totals[1]:.2f} (**{totals[1] - totals[0]:+.2f}**)"
    assert said.replace("-", "−") in words_of(app)
    changes = sorted((q - p for p, q in zip(before, after, strict=True)), key=lambda x: -abs(x))
    assert app.dataframe[0].value["change"].tolist() == [round(x, 3) for x in changes[:8]]


def test_two_receptors_each_with_its_own_numbers(open_page, mini, table):
    app = open_page("esm", e_show="Compare", e_with="another receptor")
    said = words_of(click_and_wait(app, "Scan both chains"))
    other = assemble("TRBV9", "CASSVAGTEAFF", "TRBJ1-1")
    for chain, truth in ((CHAIN, own(table)), (other, own(scan(mini, other), other))):
        mean = sum(truth) / len(chain)
        assert f"{len(chain)} residues, mean p(true) {mean:.3f}, pseudo-perplexity " in said
        assert f"pseudo-perplexity {perplexity(truth):.3f}." in said


@pytest.fixture
def random_8m(tmp_path, monkeypatch):
    """ESM-2 8M's shape with random weights, as a published file where the app looks for it."""
    card = model_card("esm2-8m")
    save_published(card, tmp_path / card.file)
    monkeypatch.setenv("ONE_RECEPTOR_MODELS", str(tmp_path))
    yield load(card.name)
    loading.clear(card.name)


def test_two_models_each_under_its_own_name(open_page, mini, random_8m):
    chain = Chain("MKTAYIAKQRQISF")
    app = open_page("esm", e_chain=chain.sequence, e_model="ESM-2 8M", e_at="5")
    one = guess(random_8m, chain, 5)
    assert f"**ESM-2 8M** cannot see residue 5 and says **{one.top(1)[0][0]}**" in words_of(app)
    assert f"p(Y) = {one.p_true:.3f}**, −log p = {-math.log(one.p_true):.2f}" in words_of(app)
    assert f"The model put {one.outside:.3f} on tokens other than" in words_of(app)
    app = open_page("esm", e_chain=chain.sequence, e_show="Compare", e_with="another model")
    said = words_of(click_and_wait(app, "Scan with both models"))
    for model in (mini, random_8m):
        value = perplexity(own(scan(model, chain), chain))
        shown = f"{value:.3f}" if value < 1000 else f"{value:,.0f}"
        assert f"**{model.label}** {shown}" in said


def test_the_habit_of_a_head_and_where_one_residue_looks(open_page, inside):
    said = words_of(open_page("esm", e_show="Attention", e_layer="2", e_head="5", e_from="115"))
    weights = inside["attentions"][0, 1, 4].double().numpy()
    residues = weights[1:-1, 1:-1]
    outside = sum(1 - row.sum() for row in residues) / 131
    assert f"On average {outside:.3f} of a residue's attention goes to the start" in said
    means = {d: np.mean([residues[i, i + d] for i in range(131) if 0 <= i + d < 131])
             for d in range(-64, 65)}  # fmt: skip
    far = max(means, key=means.get)
    where = f"{abs(far)} place{'s' * (abs(far) > 1)} {'after' if far > 0 else 'before'} itself"
    assert f"looks most {where if far else 'at itself'} (weight {means[far]:.3f})" in said
    row = residues[114]
    top = re.search(r"looks most at ([A-Z])(\d+) .*? \(([\d.]+)\);", said)
    assert int(top[2]) == row.argmax() + 1
    assert (top[1], top[3]) == (CHAIN.sequence[row.argmax()], f"{row.max():.3f}")


def test_how_alike_the_four_serines_are(open_page, inside):
    said = words_of(open_page("esm", e_show="One letter, many places"))
    by_layer = []
    for layer in range(7):
        vectors = inside["representations"][layer][0, [112, 113, 116, 117]].double().numpy()
        by_layer.append(
            np.mean([a @ b / math.sqrt(a @ a * (b @ b))
                     for a, b in itertools.combinations(vectors, 2)])
        )  # fmt: skip
    lowest = int(np.argmin(by_layer))
    assert f"a mean cosine similarity of **{by_layer[0]:.3f}**" in said
    assert f"after the last layer (6) it is **{by_layer[6]:.3f}**" in said
    assert f"the lowest, after layer {lowest}, is **{by_layer[lowest]:.3f}**" in said


def test_the_labs_numbers_are_those_of_its_report(open_page, mini):
    app = click(open_page("esm", e_show="In the lab"), "Try made-up receptors")
    assert "They are no data" in words_of(app)
    app = click_and_wait(app, "Embed and classify 60")
    receptors = read_receptors(example_rows()).good
    vectors = np.array([mean_vector(mini, r.chain, cdr3_only=True) for r in receptors])
    labels = [r.fields["motif"] for r in receptors]
    report = cross_validate(vectors, labels, [r.chain.cdr3_sequence for r in receptors])
    assert {metric.label: metric.value for metric in app.metric} == {
        "balanced accuracy": f"{report.accuracy:.3f}",
        "guessing gives": "0.500",
        "with leakage": f"{report.accuracy_with_leak:.3f}",
    }
    assert report.accuracy > 0.9
    assert "RS: 30, none: 30" in words_of(app)
    assert "ROC of none against the rest." in words_of(app)


def test_the_place_of_a_vote_in_the_models_list(open_page, mini):
    app = open_page("esm", e_vote="true", e_at="115")
    next(p for p in app.get("button_group") if p.label == "Your vote").set_value("W").run()
    expected = guess(mini, CHAIN, 115).probabilities
    place = 1 + sum(p > expected[AMINO_ACIDS.index("W")] for p in expected)
    assert f"Your vote: **W**, number {place} in its list." in words_of(click(app, "Reveal"))
