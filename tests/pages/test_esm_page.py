"""The protein page through the entry script, on TRB-mini."""

import base64
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.alphabet import AMINO_ACIDS
from core.protein.cards import MODELS, WeightsError
from core.protein.chain import Chain, default_chain
from core.protein.download import DownloadProgress
from core.protein.embeddings import attention
from core.protein.germline import assemble
from core.protein.guess import guess
from core.protein.in_numpy import trb_mini
from core.protein.weights import load
from pages.parts.esm import choose, inside, pictures
from pages.parts.esm.lab_data import example_rows
from pages.parts.esm.pictures import PICTURES
from pages.parts.esm.words import (
    PUBLISHED,
    chain_code,
    compare_code,
    guess_code,
    lab_code,
    scan_code,
    strip_code,
)
from pages.parts.links import plain
from pages.parts.loaded_models import downloads

TORCH_FREE = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("streamlit_app.py", default_timeout=60).run()
app = app.switch_page("pages/esm.py").run()
assert not app.exception, app.exception
assert any("cannot see residue 115" in text.value for text in app.markdown)
assert any(text.value.startswith("Loading what these") for text in app.caption)
for slow in ("torch", "pandas"):
    assert slow not in sys.modules, f"the first guess loaded {slow}"
"""


def words_of(app) -> str:
    """All text that the page shows, in one piece."""
    elements = [*app.markdown, *app.caption, *app.info, *app.warning, *app.error]
    return "\n".join(element.value for element in elements)


def click(app, label: str):
    next(button for button in app.button if button.label.startswith(label)).click()
    return app.run()


def click_and_wait(app, label: str):
    """The page after a job in the background has ended."""
    app = click(app, label)
    for name in ("_e_jobs", "_e_lab_job"):
        if name in app.session_state:
            kept = app.session_state[name]
            for _, job in kept.values() if isinstance(kept, dict) else [kept]:
                assert job.wait(120)
    app.run()
    assert not app.exception
    return app


def scanned(app):
    """The page after its whole-chain scan."""
    return click_and_wait(app, "Hide each of the")


def figure(app, number: int) -> dict:
    """A Plotly figure of the page as a dictionary; 0 is the chain, 1 the bars."""
    return json.loads(app.get("plotly_chart")[number].proto.spec)


@pytest.fixture(scope="module")
def true_guess():
    return guess(trb_mini(), default_chain(), 115)


def test_opens_on_a_guess_of_the_arginine(open_page, true_guess):
    app = open_page("esm")
    assert not app.exception
    assert not app.error
    said = words_of(app)
    assert "TRB-mini, not ESM-2" in said
    assert f"p(R) = {true_guess.p_true:.3f}" in said
    assert f"Entropy {true_guess.entropy_bits:.2f}" in said
    assert len(app.get("plotly_chart")) == 2


def test_the_first_guess_does_not_wait_for_torch():
    finished = subprocess.run([sys.executable, "-c", TORCH_FREE], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_no_file_of_the_app_takes_fair_esms_name(open_page):
    """pages/esm.py has the name of fair-esm's package: its folder must not be searched first."""
    open_page("esm")
    found = importlib.util.find_spec("esm")
    assert Path(found.origin).parent.joinpath("pretrained.py").is_file()
    assert importlib.metadata.packages_distributions()["esm"] == ["fair-esm"]


def test_no_watcher_looks_into_torch():
    """Streamlit's watcher walked through torch.classes and filled the log."""
    settings = tomllib.loads(Path(".streamlit/config.toml").read_text())
    assert settings["server"]["fileWatcherType"] == "none"


def test_published_values_are_labelled_and_match_the_golden_numbers(open_page, golden):
    guesses = golden["esm"]["guesses"]
    assert PUBLISHED[1][:2] == ("C", guesses["cdr3_position_1_C"]["p_true"])
    assert PUBLISHED[6][:2] == ("R", guesses["cdr3_position_6_R"]["p_true"])
    assert [list(pair) for pair in PUBLISHED[6][2]] == guesses["cdr3_position_6_R"]["top"]
    app = open_page("esm", e_at="110")
    note = app.info[0].value
    assert note.startswith("Published, ESM-2 35M")
    assert "0.982" in note
    assert "Not computed here" in note
    app.number_input("e_at").set_value(50).run()
    assert not app.info


def test_published_values_stay_away_from_another_chain(open_page):
    app = open_page("esm", seq="CASSIRSAYEQYF", e_at="115")
    assert not app.exception
    assert not app.info


def test_a_vote_hides_the_answer_until_reveal(open_page, true_guess):
    app = open_page("esm", e_vote="true", e_at="115")
    secret = f"{true_guess.p_true:.3f}"
    assert secret not in words_of(app)
    assert len(app.get("plotly_chart")) == 1
    next(p for p in app.get("button_group") if p.label == "Your vote").set_value("G").run()
    assert secret not in words_of(app)
    app = click(app, "Reveal")
    assert secret in words_of(app)
    assert "Your vote: **G**" in words_of(app)
    app.number_input("e_at").set_value(116).run()
    assert "cannot see residue" not in words_of(app)


def test_a_vote_closes_the_sections_that_would_tell_the_answer(open_page):
    app = scanned(open_page("esm"))
    assert app.metric
    app.toggle("e_vote").set_value(True).run()
    assert not app.metric
    assert "Closed while a vote is held" in words_of(app)
    app.toggle("e_vote").set_value(False).run()
    assert app.metric


def test_every_picture_of_a_scan_opens_and_the_link_names_it(open_page):
    app = scanned(open_page("esm", e_view="Chance alone"))
    picture = next(g for g in app.get("button_group") if g.label == "Picture")
    assert picture.proto.wrap  # on a phone the last ones would lie outside, unseen
    for view in PICTURES:
        next(g for g in app.get("button_group") if g.label == "Picture").set_value(view).run()
        assert not app.exception
        assert len(app.get("plotly_chart")) == 3


def test_temperature_flattens_without_a_new_pass_and_the_code_knows_it(open_page, monkeypatch):
    codes = []
    monkeypatch.setattr(pictures, "show_figure", lambda *_, code, **__: codes.append(code))
    app = scanned(open_page("esm"))
    before = float(app.metric[1].value)
    app.slider("e_temp").set_value(3.0).run()
    assert not app.exception
    assert float(app.metric[1].value) < before
    assert "chain), 3.0)" in codes[-1]


def test_a_damaged_link_gives_the_defaults_and_a_sentence_for_each(open_page):
    damaged = {"e_at": "999", "e_model": "GPT", "e_show": "zz", "e_view": "<script>"}
    damaged |= {"e_temp": "-1", "e_with": "a cat", "e_layer": "7", "e_head": "0", "e_mp": "²"}
    damaged |= {"e_from": "9999", "e_ml": "AC"}
    app = open_page("esm", **damaged)
    assert not app.exception
    said = "\n".join(warning.value for warning in app.warning)
    for name in ("residue", "model", "section", "picture", "temperature", "comparison"):
        assert f"link's {name}" in said
    assert "link's layer" in said
    assert "link's head" in said
    assert "link's position" in said
    assert "link's residue that looks" in said
    assert "link's letter" in said
    assert "cannot see residue 115" in words_of(app)


def test_a_bad_cdr3_gets_a_sentence_and_the_last_chain_stays(open_page):
    app = open_page("esm")
    for text in ("", "C", "12345", "CA*SS", "CASSJF", "A" * 10_000, "<script>"):
        app.text_input("seq").set_value(text).run()
        assert not app.exception
        assert any("Still showing" in error.value for error in app.error)
        assert "cannot see residue 115" in words_of(app)


def test_a_cdr3_without_its_anchors_is_completed_only_on_request(open_page):
    app = open_page("esm", seq="ASSIRSSYEQY")
    assert "has no C" in app.error[0].value
    app = click(app, "Read it as CASSIRSSYEQYF")
    assert not app.error
    assert app.text_input("seq").value == "CASSIRSSYEQYF"


def test_an_unknown_gene_is_named_and_near_ones_offered(open_page):
    app = open_page("esm", e_v="TRBV99")
    assert not app.exception
    assert "TRBV99" in app.error[0].value
    assert "TRBV9" in app.error[0].value


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_named(open_page, content):
    app = open_page("esm")
    app.file_uploader[0].upload("mine.tsv", content, "text/tsv").run()
    assert not app.exception
    (error,) = app.error
    assert (
        error.value == f"mine.tsv: {plain('This file is empty: choose one with receptors in it.')}"
    )


def test_a_header_without_rows_is_said_to_hold_no_receptor(open_page):
    app = open_page("esm")
    app.text_area("e_rows").set_value("v\tcdr3\tj").run()
    assert "no receptor below it" in words_of(app)


def test_the_missing_leader_is_explained_for_the_model_that_is_used(open_page):
    notes = "\n".join(text.value for text in open_page("esm", e_v="TRBV9").text)
    assert "without the leader" in notes
    assert "TRB-mini learned from start there too" in notes


def test_notes_are_open_as_soon_as_there_is_more_than_at_first(open_page):
    def is_open(**asked):
        app = open_page("esm", **asked)
        return next(e for e in app.expander if e.label.startswith("What was")).proto.expanded

    assert not is_open()
    assert is_open(seq="CASSIRSSYEQYFGPG")  # the same chain, read from something else


def test_a_pasted_chain_takes_the_place_of_the_genes(open_page):
    app = open_page("esm", e_chain="MKTAYIAKQRQISFVKSHFSRQ")
    assert not app.exception
    assert "Showing the pasted chain, 22 residues" in words_of(app)
    assert "TRB-mini knows human beta chains only" in words_of(app)
    assert all(app.text_input(key).disabled for key in ("e_v", "seq", "e_j"))


def test_what_follows_j_is_said_and_cut_on_request(open_page):
    app = open_page("esm", e_chain=default_chain().sequence + "EDLNKVFPPEVAVFEPSEAE")
    assert "Showing the pasted chain, 151 residues" in words_of(app)
    assert any("end with J, here at 131" in text.value for text in app.text)
    app = click(app, "Cut the chain after J")
    assert "Showing the pasted chain, 131 residues" in words_of(app)
    assert not any(button.label.startswith("Cut") for button in app.button)


def test_a_receptor_in_one_line_may_stand_in_the_chains_box(open_page):
    app = open_page("esm", e_chain="TRBV9 CASSVAGTEAFF TRBJ1-1")
    assert not app.error
    made = assemble("TRBV9", "CASSVAGTEAFF", "TRBJ1-1")
    assert f"Showing the pasted chain, {len(made)} residues" in words_of(app)
    app.text_area("e_chain").set_value("CASSIRSSYEQYF\nCASSLAPGATNEKLFF").run()
    assert "look like CDR3s" in app.error[0].value


def test_a_chain_that_fills_its_box_is_not_said_to_have_a_length(open_page):
    said = open_page("esm", e_chain="A" * 10_000).error[0].value
    assert said.startswith("This text has 5,000 characters or more")
    assert "at most 1,022 residues" in said
    assert open_page("esm", e_chain="A" * 1500).error[0].value.startswith("1,500 letters")


def test_a_last_letter_that_j_has_and_the_cdr3_lacks_is_added_on_request_only(open_page):
    app = open_page("esm", e_v="TRBV9", seq="CASSVAGTEAF", e_j="TRBJ1-1")
    assert any("give CASSVAGTEAFF" in text.value for text in app.text)
    app = click(app, "Read it as CASSVAGTEAFF")
    assert app.text_input("seq").value == "CASSVAGTEAFF"
    assert not any("left out, give" in text.value for text in app.text)


def test_a_pasted_mouse_chain_keeps_its_regions_and_its_species(open_page):
    mouse = assemble("TRBV13-2", "CASGDRGYEQYF", "TRBJ2-7", species="musmusculus")
    app = open_page("esm", e_chain=mouse.sequence)
    assert not app.exception
    assert any("TRBV13-2*01 of the mouse" in text.value for text in app.text)
    assert "this one is of another species" in words_of(app)


def test_rows_are_read_and_one_of_them_shown(open_page):
    app = open_page("esm")
    rows = "v_call\tj_call\tjunction_aa\nTRBV19*01\tTRBJ2-7*01\tCASSIRSSYEQYF\n"
    rows += "TRBV9\tTRBJ1-1\tCASSVAGTEAFF\nTRBV9\tTRBJ1-1\tCAS1\n"
    app.text_area("e_rows").set_value(rows).run()
    assert "Read as AIRR: 3 receptors, 2 can be shown, 1 cannot" in words_of(app)
    chooser = next(box for box in app.selectbox if box.label == "Receptor")
    chooser.select_index(1).run()
    app = click(app, "Show this receptor")
    assert not app.exception
    assert app.text_input("seq").value == "CASSVAGTEAFF"


def test_another_receptor_is_scanned_below(open_page):
    app = open_page("esm", e_show="Compare", e_with="another receptor")
    assert any("TRBV9\\*01 is assumed" in caption.value for caption in app.caption)
    app = click_and_wait(app, "Scan both chains")
    assert "CASSVAGTEAFF" in words_of(app)
    for bad, says in (("TRBV9 CAS1 TRBJ1-1", "position 4"), ("v,cdr3,j", "names 0 receptors")):
        app.text_input("e_other").set_value(bad).run()
        assert not app.exception
        assert says in app.error[0].value


def test_another_model_needs_its_own_weights(open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    app = open_page("esm", e_show="Compare", e_with="another model")
    assert not app.exception
    assert any(button.label.startswith("Download ESM-2 8M") for button in app.button)


def test_attention_of_a_chosen_head_is_that_of_the_core(open_page):
    from core.protein.embeddings import attention

    app = open_page("esm", e_show="Attention", e_layer="2", e_head="3")
    assert not app.exception
    assert "Layer 2, head 3" in words_of(app)
    chain = default_chain()
    weights = attention(load("trb-mini"), chain, 2)[2]
    shown = figure(app, 3)["data"][0]["y"]
    row = weights[chain.token_index(115), chain.residue_tokens]
    assert np.allclose(decoded(shown), row, atol=1e-6)


def decoded(values) -> np.ndarray:
    """Plotly sends arrays as base64."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.array(values)


def test_the_four_serines_are_alike_going_in_and_not_inside(open_page):
    app = open_page("esm", e_show="One letter, many places")
    assert not app.exception
    assert "**S** stands at 4 places" in words_of(app)
    lines = figure(app, 2)["data"]
    assert len(lines) == 6
    assert all(decoded(line["y"])[0] == pytest.approx(1, abs=1e-6) for line in lines)
    assert min(decoded(line["y"]).min() for line in lines) < 0.9


def test_receptors_without_a_label_are_left_out_aloud(open_page):
    app = open_page("esm", e_show="In the lab")
    rows = example_rows(7).replace("none", "")
    app.file_uploader[1].upload("mine.tsv", rows.replace("RS\n", "R\n", 1).encode()).run()
    assert "Left out for want of a label or CDR3: 4 receptors." in words_of(app)


def test_made_up_receptors_are_labelled_by_their_letters():
    rows = [line.split("\t") for line in example_rows(11).splitlines()[1:]]
    assert len(rows) == 11
    assert all(("RS" in cdr3[4:]) == (label == "RS") for _, cdr3, _, label in rows)


def test_every_model_is_listed_under_its_own_name(open_page):
    app = open_page("esm", e_show="The models")
    assert not app.exception
    listed = app.dataframe[0].value
    assert list(listed["model"]) == [card.label for card in MODELS]
    assert load("trb-mini").fingerprint in words_of(app)


def test_missing_weights_are_said_and_nothing_is_fetched_by_itself(
    open_page, monkeypatch, tmp_path
):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    app = open_page("esm", e_model="ESM-2 35M")
    assert not app.exception
    offer = next(info.value for info in app.info if "not on this machine" in info.value)
    assert str(tmp_path) in offer
    assert any(button.label.startswith("Download ESM-2 35M") for button in app.button)
    assert not list(tmp_path.rglob("*.pt"))


def test_offline_switch_leaves_no_download_button(open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("ONE_RECEPTOR_OFFLINE", "1")
    app = open_page("esm", e_model="ESM-2 8M")
    assert "ONE_RECEPTOR_OFFLINE" in words_of(app)
    assert not any(button.label.startswith("Download") for button in app.button)


@pytest.fixture
def download(monkeypatch, tmp_path):
    """A download that the test steers: `download.go` lets it continue, `download.end` ends it."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    go, fail = threading.Event(), threading.Event()

    def steps(card, destination, *, offline=False, **_):
        yield DownloadProgress(30_000_000, 134_000_000, destination)
        while not go.wait(0.02):
            yield DownloadProgress(30_000_000, 134_000_000, destination)
        if fail.is_set():
            raise WeightsError("The line broke. Nothing was kept.")

    monkeypatch.setattr("core.protein.download.download_steps", steps)
    yield SimpleNamespace(go=go, fail=fail)
    go.set()


def download_job(app):
    return downloads()["esm2-35m"]


def test_a_download_shows_its_progress_and_can_be_cancelled(open_page, download):
    app = click(open_page("esm", e_model="ESM-2 35M"), "Download ESM-2 35M")
    while download_job(app).latest is None:
        time.sleep(0.01)
    app.run()
    assert "30 of 134 MB" in app.get("progress")[0].proto.text
    other = open_page("esm", e_model="ESM-2 35M")
    assert "30 of 134 MB" in other.get("progress")[0].proto.text
    app = click(app, "Cancel")
    assert download_job(app).wait(10)
    app.run()
    assert "Cancelled; nothing was kept." in words_of(app)
    assert any(button.label.startswith("Download ESM-2 35M") for button in app.button)


def test_a_failed_download_says_why(open_page, download):
    app = click(open_page("esm", e_model="ESM-2 35M"), "Download ESM-2 35M")
    download.fail.set()
    download.go.set()
    assert download_job(app).wait(10)
    app.run()
    assert "The line broke" in app.error[0].value


def test_a_cancelled_scan_leaves_the_button_and_says_how_far_it_came(open_page, monkeypatch):
    import core.protein.cache as cache
    from core.protein.scan import scan_steps

    def slow(_, model, chain):
        for step in scan_steps(model, chain, batch=4):
            time.sleep(0.2)
            yield step

    monkeypatch.setattr(cache, "cached_scan_steps", slow)
    app = click(open_page("esm"), "Hide each of the")
    assert app.get("progress")
    app = click(app, "Cancel")
    _, job = app.session_state["_e_jobs"]["scan"]
    assert job.wait(10)
    app.run()
    assert "Stopped after" in words_of(app)
    assert any(button.label.startswith("Hide each of the") for button in app.button)


def test_snippets_print_the_numbers_on_the_page(capsys, true_guess):
    exec(guess_code(default_chain(), "trb-mini", 115), {})
    first = capsys.readouterr().out.splitlines()[0]
    assert str(true_guess.p_true) in first


def test_scan_script_prints_a_row_per_residue(capsys):
    exec(scan_code(default_chain(), "trb-mini"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("pseudo-perplexity 1.0")
    assert len(lines) == 132
    row = [float(x) for x in lines[115].split()[4:]]
    assert len(row) == len(AMINO_ACIDS)
    assert np.isclose(sum(row), 1, atol=1e-3)


def test_compare_script_prints_both_columns(capsys):
    chain = assemble("TRBV9", "CASSVAGTEAFF", "TRBJ1-1", leader=False)
    exec(compare_code(("trb-mini", chain), ("trb-mini", chain.mutated(100, "W"))), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(chain)
    assert float(rows[99][3]) == pytest.approx(float(rows[99][2]) - float(rows[99][1]), abs=2e-4)


def test_lab_script_repeats_the_report(capsys, monkeypatch, tmp_path):
    (tmp_path / "receptors.tsv").write_text(example_rows(24))
    monkeypatch.chdir(tmp_path)
    exec(lab_code("trb-mini", "motif", True), {})
    assert float(capsys.readouterr().out.splitlines()[1]) == 0.5


def test_the_scripts_of_attention_and_of_one_letter_print_what_is_shown(capsys):
    chain, model = default_chain(), load("trb-mini")
    exec(inside._attention_code(chain, "trb-mini", 2, 3, "[115]"), {})
    letter, position, *row = capsys.readouterr().out.split()
    true = attention(model, chain, 2)[2, chain.token_index(115), chain.residue_tokens]
    assert (letter, position) == ("R", "115")
    assert np.array(row, float) == pytest.approx(true, abs=6e-5)
    exec(inside._same_letter_code(chain, "trb-mini", "S"), {})
    first, *layers = capsys.readouterr().out.splitlines()
    assert first == "places 112 113 116 117"
    assert len(layers) == model.num_layers + 1


def test_every_script_of_a_scanned_page_runs_and_prints(open_page, monkeypatch, capsys):
    scripts: dict[str, str] = {}
    monkeypatch.setattr(
        "pages.parts.downloads.downloads", lambda key, *, code, **_: scripts.update({code: key})
    )
    assert not scanned(open_page("esm")).exception
    assert {"e_strip", "e_bars", "e_track"} <= set(scripts.values())
    for code, key in scripts.items():
        capsys.readouterr()
        exec(compile(code, key, "exec"), {})
        assert capsys.readouterr().out, key


@pytest.mark.parametrize("chain", [default_chain(), Chain("MKTAYIAKQR")])
def test_the_script_of_the_letters_prints_what_they_show(chain, capsys):
    exec(strip_code(chain), {})
    header, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    shown = choose._chain_table(chain)
    assert header == list(shown)
    assert rows == [[str(x or "") for x in row] for row in zip(*shown.values(), strict=True)]


def test_chain_code_rebuilds_the_chain():
    space: dict = {}
    exec("from core.protein.chain import Chain\n" + chain_code(default_chain()), space)
    assert space["chain"].sequence == default_chain().sequence
    assert space["chain"].regions == default_chain().regions


def test_markdown_signs_are_made_harmless():
    assert plain("TRBV19*01 [x](y) <b>") == r"TRBV19\*01 \[x\]\(y\) \<b\>"
