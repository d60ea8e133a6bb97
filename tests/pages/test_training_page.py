"""The training page through the entry script. No worker starts: the pool is kept still."""

import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

from core.runs import commands, history, store
from core.runs.database import FILE_NAME, connect
from core.runs.processes import own_identity
from core.runs.run import ACTIVE
from core.runs.supervisor import CHECKPOINT, checkpoint_folder
from core.settings import REPOSITORY, read_settings
from core.training.events import Evaluated, NotSaved, Sampled, Snapshot, StepDone
from core.training.recipe import PAPER, SPRINT, Watch
from pages.parts.training.scene import REPLAY_SECONDS


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    monkeypatch.setattr("core.runs.pool.ensure_workers", lambda *_: None)


@pytest.fixture
def db():
    connection = connect(read_settings().data_folder / FILE_NAME)
    yield connection
    connection.close()


def add(db, *, owner="a stranger", state="running", steps=17, **named):
    """A run of somebody, as far as `steps`, held by this very process."""
    run_id = store.add(db, SPRINT, Watch(), owner=owner, server=own_identity(), **named)
    if state != "queued":
        store.claim_next(db, own_identity(), max_running=9)
        for step in range(1, steps + 1):
            history.record(db, run_id, StepDone(step, 3 / step, 1e-3, 1.0, step / 10))
        history.record(db, run_id, Sampled(steps, "CASS", "SSAC", "SSAC"))
        history.record(db, run_id, Evaluated(steps, 997, 1000, 0.999))
        store.move(db, run_id, state, come_from=ACTIVE)
    return run_id


def one_snapshot(step):
    weights = np.full((2, 4, 4, 4), 0.25, dtype=np.float16)
    return Snapshot(step, tuple("<CAS"), tuple("CASS"), weights, (0.25, 0.25))


def words(app) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def alts(app) -> str:
    return "\n".join(chart.proto.alt for chart in app.get("vega_lite_chart"))


def button(app, label):
    return next(button for button in app.button if button.label == label)


def test_with_no_run_the_recorded_one_plays(open_page):
    app = open_page("training")
    assert not app.exception
    assert "Recorded run" in words(app)
    assert "of 3,000" in words(app)
    assert "Loss by step" in alts(app)


def test_the_recorded_run_ends_with_its_own_numbers_beside_the_published(open_page):
    app = open_page("training", run="recorded")
    assert "the newest numbers are beside it" in alts(app)
    app.session_state["_replay_from"] = time.time() - REPLAY_SECONDS - 1
    app.run()
    said = words(app)
    assert "step 3,000 of 3,000" in said
    assert "of 1,000** held-out strings exact" in said
    assert "(published: 95\N{NO-BREAK SPACE}%)" in said
    assert "asked for FYQEYSSRISSAC: 13 of 13 letters in place" in alts(app)


def places(block, kind="vega_lite_chart", at=()) -> list[tuple[int, ...]]:
    """Where every chart is in the page: a browser keeps what stays at its place."""
    if block.type == kind:
        return [at]
    children = getattr(block, "children", {}).items()
    return [place for number, child in children for place in places(child, kind, (*at, number))]


def test_nothing_on_stage_moves_to_another_place_when_the_replay_ends(open_page):
    app = open_page("training", run="recorded")
    app.session_state["_replay_from"] = time.time() - REPLAY_SECONDS / 2
    playing = places(app.run().main)
    assert not app.select_slider
    app.session_state["_replay_from"] = time.time() - REPLAY_SECONDS - 1
    assert places(app.run().main) == playing
    assert len(playing) == 6
    assert app.select_slider


def test_start_queues_a_run_and_the_address_leads_to_it(open_page, db):
    app = open_page("training", seq="CASSLGQ")
    button(app, "Start").click().run()
    assert not app.exception
    (run,) = store.newest(db)
    assert run.recipe == SPRINT
    assert run.watch.string == "CASSLGQ"
    assert app.session_state["run"] == str(run.id)
    assert run.state == "queued"


def test_a_click_that_a_browser_delivers_twice_starts_one_run_and_shows_it(open_page, db):
    app = open_page("training")
    button(app, "Start").click().run()
    app.session_state["run"] = "latest"  # the second message still carries the old choice
    button(app, "Start").click().run()
    (run,) = store.newest(db)
    assert app.session_state["run"] == str(run.id)


def test_every_setting_reaches_the_recipe(open_page, db):
    app = open_page("training", r_base="Paper", r_p_steps="70", r_p_dropout="0.25")
    app.toggle("r_no_cross").set_value(True).run()
    button(app, "Start").click().run()
    (run,) = store.newest(db)
    assert (run.recipe.steps, run.recipe.dropout, run.recipe.cross_attention) == (70, 0.25, False)
    assert run.recipe.batch == PAPER.batch
    assert run.recipe.name == "paper, steps 70, dropout 0.25, no cross_attention"


def test_settings_that_the_schedule_does_not_use_are_closed(open_page):
    app = open_page("training", r_base="Paper")
    linear_only = ("peak", "final_fraction", "decay_power")
    assert all(app.number_input(f"r_p_{name}").disabled for name in linear_only)
    assert not app.number_input("r_p_warmup").disabled
    app.selectbox("r_p_schedule").set_value("linear").run()
    assert not any(app.number_input(f"r_p_{name}").disabled for name in linear_only)


def test_settings_that_do_not_fit_get_a_sentence_and_no_start(open_page):
    app = open_page("training", r_s_d_model="30", r_s_num_heads="4")
    assert any("cannot be shared equally by 4 heads" in error.value for error in app.error)
    assert button(app, "Start").disabled


@pytest.mark.parametrize("value", ["99999999999", "-5", "nonsense", "<script>"])
def test_a_damaged_setting_in_the_address_never_passes_the_limits(open_page, db, value):
    app = open_page("training", r_s_steps=value)
    assert not app.exception
    assert any("Steps in the address must be a number" in each.value for each in app.warning)
    button(app, "Start").click().run()
    assert not app.exception
    for run in store.newest(db):
        assert 1 <= run.recipe.steps <= 20_000


@pytest.mark.parametrize("value", ["99", "9" * 30, "nonsense", "<b>", "", "-1"])
def test_a_damaged_run_in_the_address_shows_the_latest_and_says_so(open_page, db, value):
    add(db, name="the only one")
    app = open_page("training", run=value)
    assert not app.exception
    assert "the only one: running" in words(app)
    assert any("not here" in warning.value for warning in app.warning)


def test_a_link_shows_its_run_to_everybody(open_page, db):
    first, _ = add(db, name="the first"), add(db, name="the second")
    history.record(db, first, one_snapshot(17))
    app = open_page("training", run=str(first))
    said = words(app)
    assert "the first: running" in said
    assert f"step 17 of {SPRINT.steps}" in said
    assert "997 of 1,000" in said
    assert "(published for the paper recipe: 95\N{NO-BREAK SPACE}%)" in said
    assert "the second: running" in words(open_page("training", run="latest"))


def test_only_the_starter_can_press_stop(open_page, db):
    run_id = add(db)
    app = open_page("training", run=str(run_id))
    assert button(app, "Stop").disabled
    app.session_state["_visitor_key"] = "starter"
    db.execute("UPDATE runs SET owner = ?", (store.owner_hash("starter"),))
    app.run()
    button(app, "Stop").click().run()
    assert commands.waiting_commands(db, run_id)[0][0] == "stop"


def test_the_page_shows_a_stop_as_obeyed_also_when_the_run_began_after_it_was_drawn(open_page, db):
    run_id = add(db, owner=store.owner_hash("starter"), state="starting")
    app = open_page("training", run=str(run_id))
    app.session_state["_visitor_key"] = "starter"
    app.run()
    store.move(db, run_id, "running", come_from=ACTIVE)

    def obey():
        own = connect(read_settings().data_folder / FILE_NAME)
        while not commands.take_commands(own, run_id):
            time.sleep(0.01)
        time.sleep(0.1)  # a step, and writing the checkpoint
        store.move(own, run_id, "stopped", come_from=ACTIVE)
        own.close()

    worker = threading.Thread(target=obey)
    worker.start()
    button(app, "Stop").click().run()
    worker.join()
    assert ": stopped" in words(app)


def test_the_owner_key_opens_every_run_and_stays_entered(open_page, db, monkeypatch):
    monkeypatch.setenv("ONE_RECEPTOR_OWNER_KEY", "of the house")
    app = open_page("training", run=str(add(db)))
    app.text_input("key_box").set_value("wrong").run()
    assert button(app, "Stop").disabled
    assert any("This key does not open this run." in error.value for error in app.error)
    app.text_input("key_box").set_value("of the house").run()
    assert not button(app, "Stop").disabled
    assert not button(app.run(), "Stop").disabled


@pytest.mark.parametrize("entered", ["wrong", "of the house"])
def test_an_entered_key_never_takes_the_place_of_the_visitors_own(
    open_page, db, monkeypatch, entered
):
    monkeypatch.setenv("ONE_RECEPTOR_OWNER_KEY", "of the house")
    app = open_page("training", run=str(add(db)), r_more="Runs")
    own = app.session_state["_visitor_key"]
    app.text_input("key_box").set_value(entered).run()
    assert [code.value for code in app.code] == [own]
    button(app, "Start").click().run()
    assert store.newest(db)[0].owner == store.owner_hash(own)


def test_an_interrupted_run_says_why_and_can_go_on(open_page, db):
    run_id = add(db, owner=store.owner_hash("starter"))
    file = checkpoint_folder(read_settings(), run_id) / CHECKPOINT
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    store.move(db, run_id, "interrupted", come_from=ACTIVE, error="The server went away.")
    app = open_page("training", run=str(run_id))
    app.session_state["_visitor_key"] = "starter"
    app.run()
    assert any("The server went away." in error.value for error in app.error)
    button(app, "Go on from the last checkpoint").click().run()
    assert store.get(db, run_id).state == "queued"


def test_a_run_without_a_checkpoint_offers_no_going_on(open_page, db):
    run_id = add(db, state="interrupted")
    app = open_page("training", run=str(run_id))
    assert "No checkpoint was saved before it ended" in words(app)
    assert not any("checkpoint" in button.label for button in app.button)


def test_a_name_is_text_and_nothing_else(open_page, db):
    add(db, name="<b>x</b> ![y](http://z/t.png) **w**")
    said = words(open_page("training"))
    assert r"\<b\>x\</b\>" in said
    assert r"\!\[y\]\(http\://z/t.png\)" in said


def test_a_queued_run_says_its_place(open_page, db, monkeypatch):
    monkeypatch.setattr("core.runs.pool.is_warm", lambda *_: True)
    add(db)
    run_id = add(db, state="queued")
    assert "queued, place 1" in words(open_page("training", run=str(run_id)))
    store.move(db, run_id, "interrupted", come_from=("queued",))
    app = open_page("training", run=str(run_id))
    assert button(app, "Queue it again").disabled  # for a stranger
    assert "No checkpoint" not in words(app)


def test_a_run_that_failed_says_so_in_words(open_page, db):
    run_id = add(db)
    store.move(db, run_id, "failed", come_from=ACTIVE, error="The loss is not a number.")
    app = open_page("training", run=str(run_id))
    assert "failed" in words(app)
    assert any("not a number" in error.value for error in app.error)


def test_a_checkpoint_that_could_not_be_written_is_told_while_the_run_goes_on(open_page, db):
    run_id = add(db)
    history.record(db, run_id, NotSaved(9, "The weights of step 9 could not be saved."))
    app = open_page("training", run=str(run_id))
    assert any("weights of step 9" in warning.value for warning in app.warning)


def test_a_broken_recipe_says_what_was_taken_away(open_page, db):
    recipe = replace(SPRINT, cross_attention=False, num_heads=1)
    store.add(db, recipe, Watch(), owner="a stranger", server=own_identity())
    said = words(open_page("training", run="latest"))
    assert "No cross-attention: the decoder never sees the source" in said
    assert "One head: one attention pattern" in said
    assert "No causal mask" not in said


def test_a_process_that_cannot_start_is_explained(open_page, db, monkeypatch):
    monkeypatch.setattr("core.runs.pool.startup_failure", lambda *_: "No module named 'torch'")
    add(db, state="queued")
    app = open_page("training")
    assert any("No module named 'torch'" in warning.value for warning in app.warning)


@pytest.mark.parametrize("section", ["What you see", "Runs", "Take away"])
def test_every_section_opens(open_page, db, section):
    add(db)
    for run in ("recorded", "latest"):
        app = open_page("training", run=run, r_more=section)
        assert not app.exception


def test_a_visitors_own_string_is_reversed_by_saved_weights_named_by_their_step(
    open_page, monkeypatch
):
    answer = Future()
    answer.set_result(Sampled(2999, "CASSLGQ", "QGLSSAC", "QGLSSAC"))
    monkeypatch.setattr("core.runs.asking.Asking.ask", lambda *_: answer)
    address = {"run": "recorded", "r_more": "Your own string"}
    app = open_page("training", **address, r_try="casslgq")
    assert "**CASSLGQ** by the weights saved at **step 2,999**" in words(app)
    assert "asked for QGLSSAC: 7 of 7 letters in place" in alts(app)
    app = open_page("training", **address, r_try="CASSLGQB")
    assert any("B" in error.value for error in app.error)


def test_it_says_openly_that_length_13_is_trained(open_page):
    app = open_page("training", run="recorded", r_more="What you see")
    assert "strings of 13 letters are among the training lengths" in words(app)


def test_the_slider_stays_where_it_was_left_while_the_run_goes_on(open_page, db):
    run_id = add(db, state="paused")
    for step in (5, 10, 15):
        history.record(db, run_id, one_snapshot(step))
    app = open_page("training", run=str(run_id))
    assert app.select_slider[0].value == 15
    app.select_slider[0].set_value(10).run()
    history.record(db, run_id, one_snapshot(17))
    app.run()
    assert app.select_slider[0].value == 10


def test_a_link_to_a_step_stands_still_at_it_and_the_slider_writes_it(open_page, db):
    run_id = add(db)
    for step in (5, 10, 15):
        history.record(db, run_id, one_snapshot(step))
    app = open_page("training", run=str(run_id), r_step="12")
    assert not app.toggle("r_follow").value
    assert app.select_slider[0].value == 10
    app.select_slider[0].set_value(5).run()
    assert app.query_params["r_step"] == "5"
    app.select_slider[0].set_value(15).run()
    assert "r_step" not in app.query_params
    app.select_slider[0].set_value(5).run()
    app.toggle("r_follow").set_value(True).run()
    assert "r_step" not in app.query_params


def test_a_link_to_a_step_of_the_recorded_run_does_not_wait_for_its_replay(open_page):
    app = open_page("training", run="recorded", r_step="2500")
    assert "Cross-attention at step 2,500" in words(app)
    button(app, "Play again").click().run()
    assert "Cross-attention at step 2,500" not in words(app)
    assert "r_step" not in app.query_params


@pytest.mark.parametrize("value", ["18", "0", "-1", "9" * 5000, "nonsense", "<b>", ""])
def test_a_damaged_step_in_the_address_shows_the_newest_and_says_so(open_page, db, value):
    run_id = add(db)
    for step in (1, 15):
        history.record(db, run_id, one_snapshot(step))
    app = open_page("training", run=str(run_id), r_step=value)
    assert not app.exception
    assert app.select_slider[0].value == 15
    assert any("must be a number from 1 to 17" in warning.value for warning in app.warning)


def test_a_link_to_no_section_and_no_head_says_so(open_page, db):
    run_id = add(db)
    history.record(db, run_id, one_snapshot(1))
    app = open_page("training", run=str(run_id), r_more="nonsense", r_near="layer 9, head 1")
    assert not app.exception
    for key in ("r_more", "r_near"):
        assert any(f"({key}=" in warning.value for warning in app.warning)


def test_a_link_compares_its_runs_and_says_which_are_gone(open_page, db):
    first, second = add(db, name="the first"), add(db, name="the second")
    app = open_page("training", r_more="Runs", r_runs=f"{first},{second}")
    assert not app.exception
    assert "Smoothed loss (nats per letter) of 2 runs" in str(app.get("plotly_chart")[0].proto)
    assert not any("compares runs" in warning.value for warning in app.warning)
    app = open_page("training", r_more="Runs", r_runs=f"99,<b>,{first}")
    assert not app.exception
    assert any("compares runs that are not here" in warning.value for warning in app.warning)
    drawn = str(app.get("plotly_chart")[0].proto)
    assert "the first" in drawn
    assert "the second" not in drawn


def test_a_place_that_does_not_train_still_plays_the_recording(open_page, monkeypatch):
    monkeypatch.setenv("ONE_RECEPTOR_MAX_RUNNING", "0")
    app = open_page("training")
    assert not app.exception
    assert button(app, "Start").disabled
    assert "Recorded run" in words(app)


def test_a_folder_that_cannot_be_written_is_named_and_the_recording_plays(
    open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("ONE_RECEPTOR_DATA", "/dev/null/runs")
    app = open_page("training")
    assert not app.exception
    assert any("`ONE_RECEPTOR_DATA`" in warning.value for warning in app.warning)
    assert button(app, "Start").disabled
    assert "Recorded run" in words(app)


def test_no_message_is_a_reference_that_a_browser_may_have_forgotten():
    message = ForwardMsg()
    message.delta.new_element.markdown.body = "a chart's many rows " * 10**5
    populate_hash_if_needed(message)
    assert not message.metadata.cacheable


def test_the_web_server_never_loads_torch_for_training():
    code = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("streamlit_app.py", default_timeout=60).run()
app.switch_page("pages/training.py").run()
assert not app.exception, app.exception
assert app.title[0].value == "Training"
print("torch" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-1] == "False"
