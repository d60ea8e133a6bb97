"""The command line: its output contract, its exit status, and two processes as one."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from core.settings import REPOSITORY
from core.training.__main__ import main
from core.training.engine import Training
from core.training.events import Finished, StepDone, read_events, to_json_line
from core.training.recipe import PAPER

TINY = replace(
    PAPER, name="tiny", d_model=12, num_heads=3, d_ff=20, batch=7, steps=5, warmup=5, dropout=0.0
)

TOGETHER = (
    *(sys.executable, "-m", "torch.distributed.run"),
    *("--standalone", "--nproc-per-node", "2"),
)
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "ONE_RECEPTOR_THREADS": "1"}


@pytest.fixture(autouse=True)
def interrupts_as_in_a_terminal():
    """Python's own handler: a process started in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def tiny(tmp_path):
    file = tmp_path / "tiny.json"
    file.write_text(TINY.to_json())
    return str(file)


def lines_of(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_json_object_per_event_and_the_last_one_is_the_result(tiny, capsys):
    assert main(["run", "--recipe-file", tiny, "--device", "cpu", "--steps", "3"]) == 0
    first, *_, last = lines_of(capsys)
    assert first["event"] == "started"
    assert first["recipe"]["steps"] == 3
    assert last["event"] == "finished"
    assert (last["steps"], last["of"]) == (3, 1000)
    assert 0 < last["seconds"] < last["seconds_total"]
    assert list(last["decoded"]) == ["CASSIRSSYEQYF"]


def test_a_run_is_saved_and_gone_on_with(tiny, tmp_path, capsys):
    path = str(tmp_path / "run.pt")
    base = ["run", "--recipe-file", tiny, "--device", "cpu"]
    assert main([*base, "--steps", "2", "--save", path]) == 0
    capsys.readouterr()
    assert main([*base, "--resume", path]) == 0
    lines = lines_of(capsys)
    assert lines[0]["resumed_from"] == 2
    assert [line["step"] for line in lines if line["event"] == "step"] == [3, 4, 5]


@pytest.mark.parametrize(("every", "steps"), [("0", [11]), ("4", [4, 8, 11])])
def test_zero_means_that_only_the_end_is_evaluated(every, steps, tiny, capsys):
    options = ["--steps", "11", "--until-exact", "1000", "--evaluate-every", every]
    assert main(["run", "--recipe-file", tiny, "--device", "cpu", *options]) == 0
    assert [line["step"] for line in lines_of(capsys) if line["event"] == "evaluated"] == steps


def test_a_recipe_is_read_whatever_mark_stands_before_it_if_it_is_utf_8(tmp_path, capsys):
    for encoding, status in (("utf-8-sig", 0), ("utf-16", 2)):
        file = tmp_path / encoding
        file.write_text(replace(TINY, steps=1).to_json(), encoding)
        assert main(["run", "--recipe-file", str(file), "--device", "cpu"]) == status
    assert capsys.readouterr().err == (
        f"{tmp_path / 'utf-16'} cannot be read as text: save it in the encoding UTF-8.\n"
    )


def test_a_failed_run_has_status_1(tmp_path, capsys):
    wild = replace(
        TINY, schedule="linear", peak=1.0, final_fraction=1.0, warmup=0, clip_norm=0.0, steps=60
    )
    (tmp_path / "wild.json").write_text(wild.to_json())
    assert main(["run", "--recipe-file", str(tmp_path / "wild.json"), "--device", "cpu"]) == 1
    printed = capsys.readouterr()
    last = json.loads(printed.out.splitlines()[-1])
    assert last["event"] == "failed"
    assert last["sentence"] in printed.err


def interrupt_at(monkeypatch, step, times):
    """Ctrl-C, `times` times, while the event of this step is being written."""

    def line(event):
        if isinstance(event, StepDone) and event.step == step:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return to_json_line(event)

    monkeypatch.setattr("core.training.__main__.to_json_line", line)


def test_a_run_that_is_interrupted_is_saved_and_can_go_on(tiny, tmp_path, capsys, monkeypatch):
    base, path = ["run", "--recipe-file", tiny, "--device", "cpu"], str(tmp_path / "run.pt")
    interrupt_at(monkeypatch, step=2, times=1)
    assert main([*base, "--save", path]) == 1
    printed = capsys.readouterr()
    assert [json.loads(line)["event"] for line in printed.out.splitlines()][-2:] == [
        "step",
        "saved",
    ]
    assert f"Stopped after step 2. The last checkpoint written to {path} stays" in printed.err
    monkeypatch.undo()
    assert main([*base, "--resume", path]) == 0
    assert [line["step"] for line in lines_of(capsys) if line["event"] == "step"] == [3, 4, 5]


@pytest.mark.parametrize(("times", "words"), [(1, "after step 3"), (2, "at once")])
def test_a_run_that_is_interrupted_says_that_nothing_was_saved(
    times, words, tiny, capsys, monkeypatch
):
    before = signal.getsignal(signal.SIGINT)
    interrupt_at(monkeypatch, step=3, times=times)
    assert main(["run", "--recipe-file", tiny, "--device", "cpu"]) == 1
    assert f"Stopped {words}. Nothing was saved" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_says_where_no_checkpoint_is(tiny, tmp_path, capsys, monkeypatch):
    path = tmp_path / "run.pt"
    interrupt_at(monkeypatch, step=2, times=2)
    assert main(["run", "--recipe-file", tiny, "--device", "cpu", "--save", str(path)]) == 1
    assert f"Stopped at once. There is no checkpoint at {path}." in capsys.readouterr().err


def test_output_that_nobody_reads_or_no_disk_takes_ends_the_run(tiny, capsys, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    for output, words in (
        (os.fdopen(write, "w"), ""),
        (open("/dev/full", "w"), "Failed: the events cannot be written: the disk is full.\n"),  # noqa: SIM115
    ):
        with output, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", output)
            assert main(["run", "--recipe-file", tiny, "--device", "cpu"]) == 1
        assert capsys.readouterr().err == words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "0"], "steps"),
        (["--seed", "-1"], "seed"),
        (["--until-exact", "1001"], "until_exact"),
        (["--string", "<script>"], "position 1"),
        (["--resume", "absent.pt"], "no checkpoint"),
        (["--device", "tpu"], "invalid choice"),
        (["--recipe", "marathon"], "invalid choice"),
        (["--recipe-file", "absent.json"], "cannot be read"),
    ],
)
def test_bad_input_has_status_2_and_a_sentence(options, words, capsys):
    try:
        status = main(["run", *options])
    except SystemExit as left:  # argparse leaves by itself
        status = left.code
    printed = capsys.readouterr()
    assert status == 2
    assert printed.out == ""
    assert words in printed.err


IN_TWO_PROCESSES = """
import json, sys
from dataclasses import replace
from pathlib import Path
from torch.distributed import barrier
from core.training.engine import train
from core.training.events import StepDone
from core.training.parallel import joined_world
from core.training.recipe import Recipe, Watch

def losses(recipe, **files):
    watch = Watch(held_out=1, snapshot_every=0, sample_every=0)
    events = train(recipe, device="cpu", watch=watch, threads=1, **files)
    return [event.loss for event in events if isinstance(event, StepDone)]

recipe, file = Recipe.from_json(sys.argv[1]), Path(sys.argv[2])
with joined_world() as world:
    begun = losses(replace(recipe, steps=2), save_to=file)
    barrier()
    found = [begun + losses(recipe, resume=file), losses(recipe)]
if world.speaks:
    print(json.dumps(found))
"""


def test_two_processes_go_on_with_the_dropout_that_each_of_them_had(tmp_path):
    recipe, file = replace(TINY, dropout=0.5), tmp_path / "run.pt"
    (tmp_path / "both.py").write_text(IN_TWO_PROCESSES)
    done = subprocess.run(
        [*TOGETHER, str(tmp_path / "both.py"), recipe.to_json(), str(file)],
        cwd=REPOSITORY, env={**ONE_THREAD, "PYTHONPATH": str(REPOSITORY)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    gone_on, whole = json.loads(done.stdout)
    assert len(whole) == TINY.steps
    assert gone_on == whole
    with pytest.raises(ValueError, match="those of 2 and here the number of processes is 1"):
        Training(recipe, device="cpu", resume=file)


def test_two_processes_lose_what_one_process_with_the_joint_batch_loses(tiny):
    command = ["-m", "core.training", "run", "--recipe-file", tiny, "--device", "cpu"]
    together = subprocess.run(
        [*TOGETHER, *command],
        cwd=REPOSITORY, env=ONE_THREAD, capture_output=True, text=True, check=True,
    )  # fmt: skip
    events = list(read_events(together.stdout.splitlines()))
    alone = subprocess.run(
        [sys.executable, *command],
        cwd=REPOSITORY, env=ONE_THREAD, capture_output=True, text=True, check=True,
    )  # fmt: skip
    expected = list(read_events(alone.stdout.splitlines()))
    assert events[0].processes == 2
    assert isinstance(events[-1], Finished)
    losses, wanted = (
        [(e.loss, e.gradient_norm) for e in run if isinstance(e, StepDone)]
        for run in (events, expected)
    )
    assert len(losses) == TINY.steps
    for got, want in zip(losses, wanted, strict=True):
        assert got == pytest.approx(want, rel=1e-4)
