import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.toy.model import run_toy
from core.toy.softmax_experiment import top_weights
from core.toy.what_if import decode
from tests.typed import badly_set, typed

SEQUENCE = "CASSIRSSYEQYF"
REPOSITORY = Path(__file__).resolve().parents[2]
FIGURES = [
    "maps",
    "ghost",
    "row",
    "plane",
    "vectors",
    "serines",
    "reach",
    "draw",
    "many",
]
FIGURES += ["stage", "stream"]


def opened(**parameters: str) -> AppTest:
    app = AppTest.from_file(str(REPOSITORY / "streamlit_app.py"), default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    app.switch_page("pages/toy_model.py").run()
    assert not app.exception
    return app


def text(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.info, *app.warning, *app.error]
    return " ".join(part.value for part in parts).replace("\u00a0", " ")


def test_opens_on_the_strongest_row_with_every_reading():
    app = opened()
    shown = text(app)
    for line in ("R6 gives 60 % to E10", "36 % to itself", "78 % to I5", "78 % to S7"):
        assert line in shown
    for rows in ("9 of 9", "6 of 6", "12 of 12"):
        assert f"{rows} rows do its job" in shown
    assert "1 of 1 row does its job" in text(opened(seq="CA"))
    assert r"\frac{4}{\sqrt{2}} = 2.83" in shown
    assert len(app.get("plotly_chart")) == 2


def test_picking_a_residue_and_a_head_changes_the_row():
    app = opened()
    app.pills(key="t_r").set_value(10).run()
    app.segmented_control(key="t_h").set_value(3).run()
    assert not app.exception
    assert "One row, number by number: E10 in head 3" in text(app)
    weight = run_toy(SEQUENCE).steps[2].weights[9, 8]
    assert f"E10 gives Y9 {100 * weight:.1f} %" in text(app)


def test_a_long_sequence_has_a_slider_instead_of_a_wall_of_pills():
    app = opened(seq=SEQUENCE * 2, t_r="S20")
    assert not app.pills
    assert "One row, number by number: S20 in head 1" in text(app)
    app.select_slider(key="t_r").set_value(10).run()
    assert "One row, number by number: E10 in head 1" in text(app)
    # Over the border and back, the residue stays.
    app.text_input(key="seq").set_value(SEQUENCE).run()
    assert app.pills(key="t_r").value == 10
    app.text_input(key="seq").set_value(SEQUENCE * 2).run()
    assert app.select_slider(key="t_r").value == 10


@pytest.mark.parametrize("times", [2, 3])
def test_where_cells_are_too_small_to_click_it_says_so(times):
    app = opened(seq=SEQUENCE * times)
    assert ("a click chooses the row" in text(app)) == (times == 3)


def test_following_another_key():
    app = opened()
    app.selectbox(key="t_k").set_value("R6").run()
    assert r"q_{R6}\cdot k_{R6} = 2\cdot (-2) + 0\cdot 0 = -4" in text(app)


def test_a_link_names_head_residue_and_key():
    app = opened(t_h="2", t_r="Y9", t_k="Y12")
    assert "One row, number by number: Y9 in head 2" in text(app)
    assert "Y9 asks, Y12 answers" in text(app)


def test_a_link_may_call_a_swapped_residue_by_its_old_name():
    app = opened(t_w="10D", t_r="E10", t_k="E10")
    assert "One row, number by number: D10 in head 1" in text(app)
    assert "D10 asks, D10 answers" in text(app)
    assert not app.warning


def test_a_swap_beyond_the_end_of_the_sequence_is_named():
    assert "beyond the 13 of this sequence" in opened(t_w="14K").warning[0].value
    assert not opened(t_w="13K").warning


def test_a_link_to_a_residue_lets_that_one_be_swapped():
    app = opened(t_e="Swap a residue", t_r="E10")
    assert app.pills(key="toy_swap").label == "E10 becomes"


def test_a_key_that_the_mask_hides_is_not_followed():
    app = opened(t_r="C1", t_k="F13", t_w="causal")
    assert "The mask hides F13 from C1" in text(app)
    assert "The mask hides 12 of 13 residues from C1" in text(app)
    assert "is muted: zeros" not in text(app)
    assert "Head 1 is muted: zeros" in text(opened(t_w="m1"))


def test_swapping_shows_the_ghost_and_restore_takes_it_back():
    app = opened()
    app.segmented_control(key="t_e").set_value("Swap a residue").run()
    app.pills(key="toy_swap").set_value("A").run()
    assert not app.exception
    assert "A6 → E10 went from 60.5 % to 7.7 %" in text(app)
    assert app.query_params["t_w"] == "6A"
    assert len(app.get("plotly_chart")) == 3
    app.button(key="toy_restore").click().run()
    assert "t_w" not in app.query_params
    assert "R6 gives 60 % to E10" in text(app)


def test_switches_and_muting():
    app = opened()
    app.segmented_control(key="t_e").set_value("Switch something off").run()
    app.toggle(key="toy_positions").set_value(False).run()
    assert "0 of 12 rows do its job" in text(app)
    # An edit redraws other parts than the panel; the test sees what the last run drew.
    assert not app.toggle
    app.run().pills(key="toy_muted").set_value([3]).run()
    app.run().toggle(key="toy_causal").set_value(True).run()
    app.run().toggle(key="toy_scale").set_value(False).run()
    assert not app.exception
    assert app.query_params["t_w"] == "m3_nopos_noscale_causal"
    assert "It is muted." in text(app)
    assert "division switched off" in text(app)


def test_a_link_restores_the_edits_and_a_weight_edit_breaks_the_head():
    app = opened(t_w="w1k2a2")
    assert "7 of 9 rows do its job; not R6, E10" in text(app)
    assert "head 1: Wk[CHG, 1] = 2" in text(app)


def test_the_weight_table_shows_the_edited_head():
    app = opened(t_w="w1k2a2", t_e="Change a weight")
    table = app.data_editor[0].value
    assert table.loc["CHG", "Wk 1"] == 2
    assert table.shape == (8, 6)


def test_a_head_whose_job_no_row_can_test_has_not_failed():
    shown = text(opened(seq="CA"))
    assert ":material/remove: No row here can test its job." in shown
    assert ":material/cancel:" not in shown


def test_a_damaged_link_says_so_and_shows_the_untouched_model():
    app = opened(t_w="<script>", t_h="9", t_r="Z99", t_n="7", t_b="nonsense")
    said = [warning.value for warning in app.warning]
    assert "cannot be read" in said[0]
    for name in (
        "head (t_h=9)",
        "residue that asks (t_r=Z99)",
        "d_k (t_n=7)",
        "stage (t_b=nonsense)",
    ):
        assert any(name in sentence for sentence in said)
    assert "R6 gives 60 % to E10" in text(app)


@pytest.mark.parametrize(
    ("typed", "says"),
    [("", "There is no sequence"), ("C", "2 to 60"), ("CAS1", "position 4"), ("CA*S", "position 3"),
     ("CAX", "position 3"), ("CÅS", "position 2"), ("A" * 10_000, "2 to 60"),
     ("<script>", "position 1"), ("A" * 61, "2 to 60")],
)  # fmt: skip
def test_bad_input_keeps_the_last_good_picture(typed, says):
    app = opened()
    app.text_input(key="seq").set_value("CASR").run()
    app.text_input(key="seq").set_value(typed).run()
    assert not app.exception
    assert says in app.error[0].value
    assert "Still showing CASR" in app.error[0].value


def test_header_and_lower_case_are_cleaned_and_said():
    app = opened()
    app.text_input(key="seq").set_value(">x\ncassirssyeqyf").run()
    assert "Lower-case" in text(app)
    assert "R6 gives 60 % to E10" in text(app)


@pytest.mark.parametrize("sequence", ["RE", "GG", "W" * 60, SEQUENCE * 2])
def test_other_sequences_with_every_chapter_open(sequence):
    chapters = {f"t_c{number}": "true" for number in range(1, 8)}
    app = opened(seq=sequence, t_w="1A_nopos_m1", **chapters)
    assert len(app.get("plotly_chart")) >= 9
    assert not badly_set(app)
    app.button(key="toy_restore").click().run()
    assert not app.exception
    assert ("The slow wave repeats every 18.85" in text(app)) == (len(sequence) > 19)


def test_closed_chapters_are_not_computed():
    assert len(opened().get("plotly_chart")) == 2
    assert len(opened(t_c1="true").get("plotly_chart")) == 3


def test_bag_of_letters_measures_both_ways():
    app = opened(t_c4="true", t_s="5")
    off, on = (float(typed(metric.value)) for metric in app.metric)
    assert off < 1e-13 < 0.1 < on


def test_square_root_numbers_are_those_of_the_draws():
    app = opened(t_c6="true")
    many = top_weights(64, 13, 1000, 0)
    shown = text(app)
    for values in (many.unscaled, many.scaled):
        assert f"{100 * np.median(values):.1f} %" in shown
    app.button(key="toy_redraw").click().run()
    assert app.query_params["t_d"] == "1"
    assert text(app) != shown


def test_same_letters_differ_by_what_the_outputs_say():
    spread = np.ptp(run_toy(SEQUENCE).output[[2, 3, 6, 7]], axis=0).max()
    app = opened(t_c3="true")
    assert f"differ by up to **{spread:.2f}**" in text(app)
    assert "heads 3 and 4" in text(app)
    assert "no head" in text(opened(t_c3="true", t_w="nopos"))


def test_code_under_every_figure_runs_and_prints():
    chapters = {f"t_c{number}": "true" for number in range(1, 8)}
    app = opened(t_w="6A_causal", **chapters)
    for figure in FIGURES:
        app.session_state[f"toy_{figure}_more"] = True
    app.run()
    blocks = [block.value for block in app.code]
    # The proof of the bag of letters has its own.
    assert len(blocks) == len(FIGURES) + 1
    program = "\n".join(block.replace("print(", "print('ran', ", 1) for block in blocks)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert len(re.findall(r"^ran ", done.stdout, re.MULTILINE)) >= len(blocks)


def test_check_against_pytorch_passes_live():
    app = opened(t_c8="true")
    single, double = (float(typed(metric.value)) for metric in app.metric)
    assert 0 < single < 1e-5
    assert double < 1e-12
    assert "agree with" in text(app)


def test_opening_the_page_does_not_load_torch():
    entry = str(REPOSITORY / "streamlit_app.py")
    code = (
        "import sys\nfrom streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({entry!r}, default_timeout=60).run()\n"
        "app.switch_page('pages/toy_model.py').run()\n"
        "assert len(app.get('plotly_chart')) == 2\nprint('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.strip() == "False"


def test_the_page_uses_the_edits_it_is_given():
    edits = decode("6A")[0]
    weight = run_toy(SEQUENCE, edits).steps[0].weights[5].max()
    assert f"every residue the same {100 * weight:.0f} %" in text(opened(t_w="6A"))
