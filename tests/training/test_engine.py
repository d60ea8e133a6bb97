"""The run as a stream: order, repeatability, going on from a checkpoint, failing in words."""

import math
import resource
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.training.checkpoint import load_model, read_checkpoint
from core.training.engine import Training, train
from core.training.evaluate import decode_string
from core.training.events import (
    Evaluated,
    Failed,
    Finished,
    NotSaved,
    Sampled,
    Saved,
    Snapshot,
    Started,
    StepDone,
)
from core.training.recipe import PAPER, SPRINT, Watch

TINY = replace(
    PAPER, name="tiny", d_model=12, num_heads=3, d_ff=20, batch=7, steps=11, warmup=5, max_length=9
)
WATCH = Watch("CASSF", held_out=13, evaluate_every=4, sample_every=3, snapshot_every=5)


def run(recipe=TINY, watch=WATCH, **options):
    return list(train(recipe, device="cpu", watch=watch, threads=1, **options))


def losses(events):
    return [(e.step, e.loss, e.gradient_norm) for e in events if isinstance(e, StepDone)]


def steps_of(events, kind):
    return [e.step for e in events if isinstance(e, kind)]


def test_events_come_in_order():
    events = run()
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert steps_of(events, StepDone) == list(range(1, 12))
    assert steps_of(events, Sampled) == [1, 3, 6, 9, 11]
    assert steps_of(events, Snapshot) == [1, 5, 10, 11]
    assert steps_of(events, Evaluated) == [4, 8, 11]
    assert steps_of(events, Saved) == []
    in_order = [e.step for e in events[1:-1]]
    assert in_order == sorted(in_order)


def test_what_the_first_and_last_event_say():
    first, *_, last = run()
    assert first.recipe == TINY.to_dict()
    assert (first.device, first.threads, first.processes) == ("cpu", 1, 1)
    assert first.versions["torch"] == torch.__version__
    assert 0 < last.seconds < last.seconds_total
    assert (last.steps, last.of) == (11, 13)
    assert list(last.decoded) == ["CASSF"]


def test_the_paper_models_size_and_floor():
    training = Training(replace(PAPER, steps=1), device="cpu", watch=Watch(held_out=1), threads=1)
    started = next(training.events())
    attention, feed_forward, norm = 4 * 64**2 + 4 * 64, 2 * 64 * 256 + 256 + 64, 2 * 64
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    assert started.parameters == 2 * (encoder + decoder) + 2 * 23 * 64 + 64 * 23 + 23
    assert started.smoothing_floor == pytest.approx(0.611, abs=0.001)


@pytest.mark.parametrize("recipe", [TINY, replace(TINY, dropout=0.0)], ids=["dropout", "none"])
def test_the_same_seed_gives_the_same_run(recipe):
    torch.manual_seed(1)
    one = run(recipe)
    torch.manual_seed(2)
    two = run(recipe)
    assert losses(one) == losses(two)
    assert losses(one) != losses(run(replace(recipe, seed=1)))


def test_watching_does_not_change_learning():
    rarely = Watch("C", held_out=1, evaluate_every=0, sample_every=0, snapshot_every=0)
    assert losses(run()) == losses(run(watch=rarely))


def test_global_randomness_is_left_alone():
    state = torch.get_rng_state()
    run()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(("silence", "together"), [(1e9, [1, 2, 1, 2, 2, 1, 2]), (0, [1] * 11)])
def test_where_steps_are_slow_few_are_taken_between_two_looks_at_wishes(
    monkeypatch, silence, together
):
    monkeypatch.setattr("core.training.engine.LONGEST_SILENCE", silence)
    training = Training(TINY, device="cpu", watch=replace(WATCH, snapshot_every=0), threads=1)
    taken, plain = [], training._steps

    class ManyAtOnce:
        at_once = 50

        def __call__(self, steps):
            taken.append(steps)
            plain(steps)

    training._steps = ManyAtOnce()
    list(training.events())
    assert taken == together  # with a look at every third and fourth step


@pytest.mark.parametrize("stop_at", [1, 4, 7])
def test_a_run_goes_on_from_a_checkpoint_with_the_same_losses(tmp_path, stop_at):
    whole, path = losses(run()), tmp_path / "stopped.pt"
    training = Training(TINY, device="cpu", watch=WATCH, threads=1)
    before = []
    for event in training.events():
        before.append(event)
        if isinstance(event, StepDone) and event.step == stop_at:
            assert training.save(path) == Saved(stop_at, str(path))
            break
    rest = run(resume=path)
    assert rest[0].resumed_from == stop_at
    assert losses(before) + losses(rest) == whole
    assert rest[-1].seconds > read_checkpoint(path)["seconds"]


class Ended(Exception):
    """The run shall end now."""


@pytest.mark.parametrize("steps", [11, 8])  # the look at 8 is one on the way, and the last one
def test_a_look_that_was_cut_short_is_made_where_the_run_goes_on(tmp_path, steps):
    recipe, path = replace(TINY, steps=steps), tmp_path / "stopped.pt"
    training = Training(recipe, device="cpu", watch=WATCH, threads=1)

    def breathe():
        if training.step == 8:
            raise Ended

    training.breathe, before, rest = breathe, [], []
    with pytest.raises(Ended):
        before.extend(training.events())
    training.save(path)
    rest.extend(run(recipe, resume=path))
    whole, both = run(recipe), before + rest
    assert losses(both) == losses(whole)
    looks = Evaluated, Sampled, Snapshot
    assert {(kind, step) for kind in looks for step in steps_of(both, kind)} == {
        (kind, step) for kind in looks for step in steps_of(whole, kind)
    }
    assert rest[-1].exact == whole[-1].exact


def test_a_checkpoint_of_an_earlier_version_is_gone_on_from(tmp_path):
    path = tmp_path / "early.pt"
    run(replace(TINY, steps=4), save_to=path)
    content = torch.load(path, weights_only=True)
    (alone,) = content.pop("streams")  # what they hold lay beside the weights
    del content["seconds_total"]
    torch.save(content | alone | {"seconds": 50.0}, path)
    resumed = run(resume=path)
    assert losses(resumed) == losses(run())[4:]
    assert 50 < resumed[-1].seconds < resumed[-1].seconds_total


def test_a_finished_run_can_be_made_longer(tmp_path):
    path = tmp_path / "done.pt"
    run(save_to=path)
    longer = replace(TINY, steps=17, name="longer")
    assert losses(run(resume=path) or []) == []
    assert losses(run(longer, resume=path)) == losses(run(longer))[11:]


def test_checkpoints_are_written_whole_and_give_the_model(tmp_path):
    path = tmp_path / "folder" / "run.pt"
    events = run(save_to=path, watch=replace(WATCH, save_every=4))
    assert steps_of(events, Saved) == [4, 8, 11]
    assert [p.name for p in path.parent.iterdir()] == ["run.pt"]
    model, recipe = load_model(path)
    assert recipe == TINY
    assert not model.training
    assert decode_string(model, recipe, "CASSF") == events[-1].decoded["CASSF"]


def test_a_folder_that_refuses_checkpoints_is_named_once_and_tried_again(tmp_path):
    blocked, watch = tmp_path / "folder", replace(WATCH, save_every=2)
    blocked.write_text("a file where the folder should be")
    events = []
    for event in train(TINY, watch=watch, threads=1, save_to=blocked / "run.pt", device="cpu"):
        events.append(event)
        if isinstance(event, StepDone) and event.step == 7:
            blocked.unlink()
    assert losses(events) == losses(run())
    assert steps_of(events, NotSaved) == [2]  # step 4 and 6 are tried, and not told again
    assert steps_of(events, Saved) == [8, 10, 11]
    (told,) = [event.sentence for event in events if isinstance(event, NotSaved)]
    assert "weights of step 2 could not be saved" in told


def test_a_run_whose_last_save_fails_finishes_all_the_same(tmp_path):
    blocked = tmp_path / "folder"
    blocked.write_text("a file where the folder should be")
    events = run(save_to=blocked / "run.pt")
    assert steps_of(events, NotSaved) == [11]
    assert isinstance(events[-1], Finished)


def test_a_disk_that_is_full_leaves_the_last_whole_checkpoint(tmp_path):
    path, training = tmp_path / "run.pt", Training(TINY, device="cpu", watch=WATCH, threads=1)
    training.save(path)
    whole, (soft, hard) = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))  # no file may grow beyond this
    try:
        refused = training.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(refused, NotSaved)
    assert "is the disk full?" in refused.sentence
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]
    assert isinstance(training.save(path), Saved)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (replace(TINY, dropout=0.2), "dropout"),
        (replace(TINY, seed=3, batch=5), r"seed \(0 there, 3 here\), batch"),
        (replace(TINY, steps=5), "ends at 5"),
    ],
)
def test_a_checkpoint_of_another_recipe_is_refused(tmp_path, recipe, words):
    run(save_to=tmp_path / "a.pt")
    with pytest.raises(ValueError, match=words):
        run(recipe, resume=tmp_path / "a.pt")


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    damaged, foreign = tmp_path / "damaged.pt", tmp_path / "foreign.pt"
    damaged.write_text("root:x:0:0\n")  # torch says "list index out of range"
    torch.save({"model": 1}, foreign)
    words = {
        damaged: "cannot be read as a checkpoint: this app did not save it",
        foreign: "not a checkpoint that this app saved",
        tmp_path / "absent.pt": "no checkpoint",
    }
    for path, sentence in words.items():
        with pytest.raises(ValueError, match=sentence):
            run(resume=path)


class _Opens:
    """Unpickled, it would create the file it is told."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_checkpoint_cannot_run_code(tmp_path):
    trap, mark = tmp_path / "trap.pt", tmp_path / "ran"
    torch.save({"format": 1, "model": _Opens(mark)}, trap)
    with pytest.raises(ValueError, match="cannot be read"):
        run(resume=trap)
    assert not mark.exists()


def test_divergence_is_named_with_step_and_rate():
    wild = replace(
        TINY, schedule="linear", peak=1.0, final_fraction=1.0, warmup=0, clip_norm=0.0, steps=60
    )
    *_, last_step, failed = run(wild)
    assert isinstance(failed, Failed)
    assert isinstance(last_step, StepDone)
    assert failed.step == last_step.step < 60
    assert f"step {failed.step}" in failed.sentence
    assert f"{failed.learning_rate:.3g}" in failed.sentence


def test_a_loss_that_is_no_number_ends_the_run():
    training = Training(TINY, device="cpu", watch=WATCH, threads=1)
    events = training.events()
    next(events)
    with torch.no_grad():
        training._learner.model.generator.weight.fill_(math.nan)
    *_, failed = events
    assert isinstance(failed, Failed)
    assert failed.step == 1
    assert "stopped being a number at step 1" in failed.sentence


def test_the_run_ends_early_once_enough_is_exact():
    easy = replace(
        TINY,
        letters="AC",
        min_length=1,
        max_length=2,
        steps=400,
        batch=32,
        dropout=0.0,
        schedule="linear",
        peak=0.01,
    )
    watch = Watch("CA", held_out=50, evaluate_every=5, until_exact=50)
    events = run(easy, watch)
    assert events[-1].exact == 50
    assert events[-1].steps < 400
    assert [e.exact >= 50 for e in events if isinstance(e, Evaluated)].count(True) == 1
    assert events[-1].decoded == {"CA": "AC"}


@pytest.mark.parametrize(
    "switch",
    [
        {"positions": False},
        {"causal_mask": False},
        {"cross_attention": False},
        {"warmup": 0},
        {"num_heads": 1},
        {"xavier": False},
        {"clip_norm": 0.0},
        {"label_smoothing": 0.0},
        {"beam": 2},
        {"letters": "0123456789"},
    ],
    ids=lambda switch: next(iter(switch)),
)
def test_every_switch_runs_to_the_end(switch):
    watch = replace(WATCH, string="0123" if "letters" in switch else "CASSF")
    events = run(replace(TINY, steps=3, **switch), watch)
    assert isinstance(events[-1], Finished)
    has_map = switch.get("cross_attention", True)
    assert bool(steps_of(events, Snapshot)) == has_map


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"device": "tpu"}, "auto, cpu, cuda or mps"),
        ({"watch": Watch("CA1")}, "position 3"),
        ({"watch": Watch("A" * 10)}, "10 letters"),
        ({"resume": Path("nowhere.pt")}, "no checkpoint"),
        ({"compiled": True}, "on a GPU only"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(options, words):
    with pytest.raises(ValueError, match=words):
        Training(TINY, **{"device": "cpu", "watch": WATCH, **options})


def test_the_sprint_learns_to_reverse(golden):
    """The slow one: a whole training run."""
    published = golden["reverse_task"]["published_decode"]
    watch = Watch(published["input"], snapshot_every=0, sample_every=0)
    finished = run(SPRINT, watch)[-1]
    assert finished.exact >= published_exact(golden)
    assert finished.decoded == {published["input"]: published["output"]}


def published_exact(golden):
    exact, of = golden["reverse_task"]["published_exact"]
    assert of == Watch().held_out
    return exact
