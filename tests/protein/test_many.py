"""Many receptors: clones scanned once, one bad chain, stopped and continued."""

import csv
import errno
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.alphabet import AMINO_ACIDS
from core.protein import many, target
from core.protein.__main__ import main
from core.protein.genes import ReceptorError
from core.protein.many import BLOCK, scan_many
from core.protein.model import LanguageModel


def read(path):
    return list(csv.DictReader(path.open(encoding="utf-8"), delimiter="\t"))


def numbers(row):
    return np.array([float(p) for p in row["p_true"].split()])


def test_a_clone_is_scanned_once_however_far_apart_its_cells_are(tmp_path, tiny, monkeypatch):
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    source.write_text("id,sequence\n" + "a,MKTAYI\nb,MKTAY\nc,MKTAYI\nd,MKTAYI\n")
    scanned = []
    real = many.scan_chains
    monkeypatch.setattr(many, "scan_chains", lambda m, c, **k: scanned.extend(c) or real(m, c, **k))
    list(scan_many(tiny, source, out, block=2))
    assert len(scanned) == 2
    rows = read(out)
    assert rows[0]["p_true"] == rows[2]["p_true"] == rows[3]["p_true"] != rows[1]["p_true"]
    scanned.clear()
    monkeypatch.setattr(many, "_KEPT", 1)
    list(scan_many(tiny, source, tmp_path / "again.tsv", block=2))
    assert len(scanned) == 3
    assert (tmp_path / "again.tsv").read_bytes() == out.read_bytes()


def test_a_chain_without_finite_numbers_does_not_spoil_its_neighbours(tmp_path, tiny, monkeypatch):
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    source.write_text("id,sequence\na,MKTAYI\nb,WWWWWW\nc,MKTAY\n")
    real = many.scan_chains

    def fails_for_w(model, chains, **options):
        if any("W" in chain.sequence for chain in chains):
            raise FloatingPointError("not finite")
        return real(model, chains, **options)

    monkeypatch.setattr(many, "scan_chains", fails_for_w)
    *_, last = scan_many(tiny, source, out)
    assert (last.done, last.failed) == (3, 1)
    assert [row["error"] for row in read(out)] == ["", "not finite", ""]


@pytest.fixture
def ctrl_c_interrupts():
    """Python's own handler of Ctrl-C; a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_stopped_with_ctrl_c_it_goes_on_and_writes_the_same_file(tmp_path, monkeypatch, capsys):
    """A real signal, sent from a thread that scans, while the command waits for its threads."""
    source, out, whole = (tmp_path / name for name in ("in.tsv", "out.tsv", "whole.tsv"))
    rows = [f"{a}{b}\tMKTAYI{a}{b}\n" for a in "AC" for b in AMINO_ACIDS]
    source.write_text("name\tsequence\n" + "".join(rows))
    real, calls = LanguageModel.guess_hidden, itertools.count()

    def ctrl_c(*arguments):
        if next(calls) == 36:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(LanguageModel, "guess_hidden", ctrl_c)
        assert main(["scan-many", str(source), str(out)]) == 1
    assert capsys.readouterr().err.endswith("Stopped.\n")
    assert len(read(out)) == BLOCK
    assert main(["scan-many", str(source), str(out)]) == 0
    assert main(["scan-many", str(source), str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert len(read(out)) == len(rows)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
@pytest.mark.parametrize("command", ["scan-many", "guess"])
def test_a_full_disk_is_said_in_a_sentence(tmp_path, capsys, command):
    source = tmp_path / "in.csv"
    source.write_text("id,sequence\na,MKTAYI\n")
    options = {
        "scan-many": [str(source), "/dev/full"],
        "guess": ["--position", "3", "--csv", "/dev/full"],
    }
    assert main([command, *options[command]]) == 1
    said = capsys.readouterr().err
    assert "full" in said
    assert "Traceback" not in said


def test_a_table_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(self, text):
        self.write_bytes(text[:9].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out.csv"
    out.write_text("what was there")
    monkeypatch.setattr(Path, "write_text", full)
    assert main(["guess", "--position", "3", "--csv", str(out)]) == 1
    assert out.read_text() == "what was there"
    assert os.listdir(tmp_path) == [out.name]


def test_threads_of_torch_are_given_back(tmp_path):
    before = torch.get_num_threads()
    assert main(["scan-many", str(tmp_path / "not there"), str(tmp_path / "out")]) == 2
    assert torch.get_num_threads() == before


HOLDS = """
import sys, time
from pathlib import Path
from core.protein.target import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_on_one_target_is_refused_until_the_first_is_over(tmp_path, mini, capsys):
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    source.write_text("id,sequence\na,MKTAYI\nb,MKTAY\nc,MKTAY\n")
    first = scan_many(mini, source, out, block=1)
    for so_far in (0, 1):
        assert next(first).done == so_far
        before = out.read_bytes()
        assert main(["scan-many", str(source), str(out)]) == 2
        said = capsys.readouterr().err
        assert f"Another run is writing {out} at this moment: wait until" in said
        assert out.read_bytes() == before
    assert list(first)[-1].done == 3
    assert [row["name"] for row in read(out)] == ["a", "b", "c"]
    assert main(["scan-many", str(source), str(out)]) == 0
    assert "3 of them were in" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out.tsv"]


def test_a_run_that_was_killed_leaves_no_lock(tmp_path, tiny):
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    source.write_text("id,sequence\na,MKTAYI\n")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(out)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ReceptorError, match="Another run is writing"):
            next(scan_many(tiny, source, out))
        other.kill()
    assert [step.done for step in scan_many(tiny, source, out)] == [0, 1]


@pytest.mark.parametrize("number", [None, errno.ENOLCK, errno.ENOTSUP])
def test_without_locks_a_run_goes_on(tmp_path, tiny, monkeypatch, number):
    def refuses(*_):
        raise OSError(number, "no locks here")

    locks = number and SimpleNamespace(flock=refuses, LOCK_EX=2, LOCK_NB=4)
    monkeypatch.setattr(target, "fcntl", locks)
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    source.write_text("id,sequence\na,MKTAYI\n")
    assert [step.done for step in scan_many(tiny, source, out)] == [0, 1]


def test_a_device_serves_two_runs_at_once(tmp_path, tiny):
    source = tmp_path / "in.csv"
    source.write_text("id,sequence\na,MKTAYI\n")
    first, second = (scan_many(tiny, source, Path(os.devnull)) for _ in range(2))
    assert [next(first).done, next(second).done, next(first).done, next(second).done] == [
        0,
        0,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        (
            "id,sequence\na,MKTAYI\n",
            "out.tsv.gz",
            "Nothing is packed here: name it out.tsv, not out",
        ),
        ("v\tcdr3\tj\n\n", "out.tsv", "in.csv names its columns and holds no receptor below them"),
    ],
)
def test_what_would_mislead_is_refused_and_leaves_no_file(tmp_path, capsys, text, name, says):
    source = tmp_path / "in.csv"
    source.write_text(text)
    assert main(["scan-many", str(source), str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["in.csv"]
