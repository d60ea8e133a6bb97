"""The traps page: every experiment opens, shows its computed number and survives bad links."""

from dataclasses import replace

import pytest
import torch

from core.runs import history, store
from core.runs.supervisor import Supervisor, checkpoint_folder
from core.settings import read_settings
from core.training.checkpoint import load_model
from core.training.events import Evaluated, Sampled, StepDone
from core.training.recipe import PAPER, Watch
from core.traps.importance_reverse import reverse_importance
from core.traps.importance_toy import toy_importance
from pages.parts.links import plain
from pages.parts.trained import RECORDED
from tests.typed import badly_set, typed

WITH_A_FIGURE = ["Importance", "Order", "Weights", "Any tokens", "Forgetting", "Cost"]
PARTS = [*WITH_A_FIGURE, "Self-check", "In short"]


def words(app):
    return typed("\n".join(element.value for element in app.markdown))


@pytest.mark.parametrize("part", PARTS)
def test_every_experiment_opens_by_its_link(open_page, part):
    app = open_page("traps", x=part)
    assert not app.exception
    assert not app.warning
    assert not badly_set(app)
    figures = app.get("plotly_chart")
    assert bool(figures) == (part in WITH_A_FIGURE)
    assert all(any(c.isdigit() for c in figure.proto.alt) for figure in figures)


def test_these_are_all_experiments(open_page):
    assert open_page("traps").segmented_control("x").options == PARTS


def test_nothing_but_the_open_experiment_is_computed(open_page):
    app = open_page("traps")
    assert {figure.key for figure in app.get("plotly_chart")} <= {"traps_importance", "traps_heads"}


@pytest.mark.parametrize("part", ["", "Nonsense", "<script>alert(1)</script>"])
def test_a_damaged_link_shows_the_first_experiment_and_says_so(open_page, part):
    app = open_page("traps", x=part)
    assert not app.exception
    assert "does not exist" in app.warning[0].value
    assert "Rank correlation" in words(app)


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ("Importance", "x_model"),
        ("Importance", "x_head"),
        ("Importance", "x_all"),
        ("Order", "x_order"),
        ("Order", "x_seed"),
        ("Any tokens", "x_abc"),
        ("Any tokens", "x_run"),
        ("Forgetting", "x_length"),
        ("Self-check", "x_q"),
        ("In short", "x_table"),
    ],
)
def test_a_damaged_value_is_named_and_the_default_shown(open_page, part, key):
    app = open_page("traps", x=part, **{key: "no such [thing](http://x)"})
    assert not app.exception
    assert f"{key}=" in app.warning[0].value
    assert bool(app.get("plotly_chart")) == (part in WITH_A_FIGURE)


def test_a_link_restores_sequence_and_head(open_page):
    head = "Head 3, previous residue"
    app = open_page("traps", seq="CASSLAPGATNEKLFF", x_head=head)
    assert not app.warning
    result = toy_importance("CASSLAPGATNEKLFF")
    rho = result.correlation(result.heads.index(head))
    assert f"ρ = {rho:+.2f}" in words(app)


def test_the_rank_correlation_is_the_computed_one(open_page):
    app = open_page("traps")
    assert f"ρ = {toy_importance('CASSIRSSYEQYF').correlation():+.2f}" in words(app)
    app.selectbox("x_head").select_index(1).run()
    assert f"ρ = {toy_importance('CASSIRSSYEQYF').correlation(0):+.2f}" in words(app)


@pytest.mark.parametrize("model", ["Reverse model", "TRB-mini"])
def test_a_head_of_one_model_is_not_asked_of_another(open_page, model):
    app = open_page("traps")
    app.selectbox("x_head").select_index(2).run()
    app.selectbox("x_model").set_value(model).run()
    assert not app.exception
    assert "Rank correlation" in words(app)


def test_a_visitors_run_is_read_and_named(open_page):
    supervisor = Supervisor(read_settings())
    with supervisor.reading() as db:
        number = store.add(db, replace(PAPER, name="mine *"), Watch(), owner="x")
    file = checkpoint_folder(supervisor.settings, number) / "last.pt"
    file.parent.mkdir(parents=True)
    content = torch.load(RECORDED, weights_only=True)
    content["model"] = {k: v * 0.5 for k, v in content["model"].items()}
    torch.save(content, file)
    app = open_page("traps", x_model="Reverse model", x_weights=str(number))
    assert not app.exception
    assert not app.warning
    said = "\n".join(caption.value for caption in app.caption)
    assert plain(f"Run {number}: mine * (queued)") in said
    result = reverse_importance(load_model(file)[0], "CASSIRSSYEQYF")
    assert f"ρ = {result.correlation():+.2f}" in words(app)
    assert (
        result.correlation()
        != reverse_importance(load_model(RECORDED)[0], "CASSIRSSYEQYF").correlation()
    )
    app = open_page("traps", x_model="Reverse model", x_weights="../x")
    assert "x_weights=" in app.warning[0].value
    assert any("Weights: Recorded paper run." in caption.value for caption in app.caption)


def test_one_table_compares_all_three_models(open_page):
    app = open_page("traps", x_all="true")
    assert not app.exception
    table = app.table[0].value
    assert list(table.columns) == ["Toy model", "Recorded paper run", "TRB-mini, not ESM-2"]
    assert table.loc["ρ, mean of heads"].tolist()[0] == "+0.46"
    assert not badly_set(app)


def test_another_sequence_moves_the_hidden_residue_inside_it(open_page):
    app = open_page("traps", x_model="TRB-mini")
    app.text_input("seq").set_value("CASS").run()
    assert not app.exception
    assert "share of the guess of S4" in str(app.get("plotly_chart")[0].proto.spec)


def test_a_string_too_long_for_the_reverse_model_gets_a_sentence(open_page):
    app = open_page("traps", x_model="Reverse model")
    app.text_input("seq").set_value("CASSIRSSYEQYF" * 2).run()
    assert not app.exception
    assert "26 letters is outside" in app.info[0].value
    assert app.get("plotly_chart")


def test_shuffling_with_positions_off_leaves_rounding(open_page):
    app = open_page("traps", x="Order", x_seed="4")
    assert "the same vectors, shuffled" in words(app)
    app.toggle("x_causal").set_value(True).run()
    assert "the causal mask tells the order" in words(app)


@pytest.mark.parametrize("seed", ["-1", "1e9", "abc"])
def test_a_damaged_shuffle_number_does_no_harm(open_page, seed):
    app = open_page("traps", x="Order", x_seed=seed)
    assert not app.exception
    assert "with positions off" in words(app)


def test_the_weights_are_two_thirds_feed_forward(open_page):
    app = open_page("traps", x="Weights")
    assert "66.7 % of a block's matrices are feed-forward, in all 4 models" in words(app)


def test_right_and_wrong_answers_are_told_apart_and_counted(open_page):
    app = open_page("traps", x="Self-check")
    app.radio[0].set_value(app.radio[0].options[0]).run()
    assert "Not this one" in app.warning[0].value
    app.radio[0].set_value(app.radio[0].options[2]).run()
    assert "Right." in app.success[0].value
    assert "0 of 1 answered" in app.caption[0].value
    next(b for b in app.button if b.label == "Next question").click().run()
    assert app.subheader[0].value.startswith("2.")
    app.radio[0].set_value(app.radio[0].options[0]).run()
    assert "1 of 2 answered" in app.caption[0].value


@pytest.fixture
def queued(monkeypatch):
    """Runs are put into the queue and no process is started for them."""
    monkeypatch.setattr(Supervisor, "_hand_out", lambda self, db: None)


def train_button(app):
    return next(button for button in app.button if button.label.startswith("Train it"))


def test_a_run_over_digits_is_started_shown_and_stopped(open_page, queued):
    app = open_page("traps", x="Any tokens", x_abc="Digits")
    train_button(app).click().run()
    assert not app.exception
    assert app.query_params["x_run"] == "1"
    assert "queued" in words(app)
    next(button for button in app.button if button.label == "Stop").click().run()
    assert not app.exception
    assert "stopped" in words(app)
    assert train_button(app)


def test_a_run_over_another_alphabet_is_not_shown_under_this_one(open_page, queued):
    app = open_page("traps", x="Any tokens", x_abc="Digits")
    train_button(app).click().run()
    app.segmented_control("x_abc").set_value("Nucleotides").run()
    assert not app.exception
    assert "queued" not in words(app)
    assert "know the alphabet" in words(app)


@pytest.mark.parametrize("run", ["7", "-1", "x", "9" * 30])
def test_a_link_to_a_run_that_is_not_here_shows_the_weights(open_page, run):
    app = open_page("traps", x="Any tokens", x_run=run)
    assert not app.exception
    assert "know the alphabet" in words(app)


def test_an_alphabet_of_ones_own_is_trained_on(open_page, queued):
    app = open_page("traps", x="Any tokens", x_abc="Your own", x_letters="xyz01")
    assert "8 tokens (PAD, BOS, EOS and XYZ01)" in words(app)
    train_button(app).click().run()
    assert not app.exception
    assert "queued" in words(app)


@pytest.mark.parametrize("text", ["", "<script>alert(1)</script>", "AAB", "A" * 10_000])
def test_a_bad_alphabet_gets_a_sentence(open_page, text):
    app = open_page("traps", x="Any tokens", x_abc="Your own")
    app.text_input("x_letters").set_value(text).run()
    assert not app.exception
    assert "Showing CDEFGAB" in app.error[0].value
    assert app.get("plotly_chart")


def test_an_installation_that_does_not_train_says_so(open_page, monkeypatch):
    monkeypatch.setenv("ONE_RECEPTOR_MAX_RUNNING", "0")
    app = open_page("traps", x="Any tokens")
    train_button(app).click().run()
    assert not app.exception
    assert "does not train" in app.warning[0].value


def test_a_finished_run_shows_what_it_reached(open_page, queued):
    app = open_page("traps", x="Any tokens", x_abc="Digits")
    train_button(app).click().run()
    with Supervisor(read_settings()).reading() as db:
        for event in (
            StepDone(400, 0.7, 1e-4, 0.5, 9.0),
            Evaluated(400, 997, 1000, 0.9996),
            Sampled(400, "3141592653589", "9853562951413", "9853562951413"),
        ):
            history.record(db, 1, event)
        store.move(db, 1, "finished", come_from=store.WAITING)
    app.run()
    assert not app.exception
    assert "997 of 1,000 held-out strings reversed exactly" in words(app)
    assert "13 of 13 letters in place" in app.get("vega_lite_chart")[1].proto.alt


@pytest.mark.parametrize("asked", ["99999", "abc", "1" * 40])
def test_a_run_that_does_not_exist_is_named(open_page, asked) -> None:
    app = open_page("traps", x="Any tokens", x_run=asked)
    assert not app.exception
    assert any("(x_run=" in warning.value for warning in app.warning)
