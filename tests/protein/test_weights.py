"""Weight files: published format, cut short, flipped, foreign, dangerous; and their downloads."""

import argparse
import errno
import http.server
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.protein import download, part_file
from core.protein.__main__ import main
from core.protein.cards import MODELS, TRB_MINI, ModelCard, WeightsError, model_card
from core.protein.checkpoint import load_file
from core.protein.download import download_steps
from core.protein.guess import guess
from core.protein.weights import available_models, load, weight_folders
from core.settings import read_settings
from tests.protein.conftest import TINY, save_published


def test_trb_mini_is_there_from_the_first_second():
    first, *others = available_models()
    assert first.label == "TRB-mini, not ESM-2"
    assert first.found
    assert first.size_bytes == first.path.stat().st_size
    assert "never saw a natural sequence" in first.knows
    assert [m.label for m in others] == ["ESM-2 8M", "ESM-2 35M", "ESM-2 150M", "ESM-2 650M"]
    assert first.card.size_bytes == pytest.approx(first.size_bytes, rel=0.05)


def test_a_folder_that_the_user_names_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    settings = read_settings({"ONE_RECEPTOR_MODELS": str(tmp_path / "mine")})
    hub = tmp_path / "torch" / "hub" / "checkpoints"
    assert weight_folders(settings) == (tmp_path / "mine", hub)
    hub.mkdir(parents=True)
    (hub / "esm2_t6_8M_UR50D.pt").write_bytes(b"x")
    by_name = {m.name: m for m in available_models(settings)}
    assert by_name["esm2-8m"].path == hub / "esm2_t6_8M_UR50D.pt"
    assert by_name["esm2-35m"].path is None
    assert by_name["esm2-35m"].destination == tmp_path / "mine" / "esm2_t12_35M_UR50D.pt"


def test_missing_weights_and_unknown_names_say_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match=r"no esm2_t12_35M_UR50D\.pt in .*put the file there"):
        load("esm2-35m")
    with pytest.raises(WeightsError, match="choose one of trb-mini, esm2-8m"):
        load("esm3")
    assert model_card(" ESM2-35M ").label == "ESM-2 35M"


def test_the_published_layout_loads_without_the_contact_file(tiny, published):
    assert tiny.num_layers == TINY.layers
    assert tiny.label == "random ESM-2"
    assert guess(tiny, published, 3).model == "random ESM-2"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_file_cut_short(tiny_file, tmp_path, share):
    path = tmp_path / TINY.file
    path.write_bytes(tiny_file.read_bytes()[: int(tiny_file.stat().st_size * share)])
    with pytest.raises(WeightsError, match=r"cut short or damaged\. Delete it and get it again"):
        load_file(TINY, path)


def test_one_flipped_bit_is_found(tiny_file, tmp_path):
    path = tmp_path / TINY.file
    whole = bytearray(tiny_file.read_bytes())
    whole[len(whole) // 2] ^= 0x10
    path.write_bytes(whole)
    with pytest.raises(WeightsError, match="damaged"):
        load_file(TINY, path)


def test_another_models_file_is_never_shown_under_this_name(tiny_file):
    with pytest.raises(WeightsError, match="another model's file"):
        load_file(replace(TINY, layers=4), tiny_file)
    with pytest.raises(WeightsError, match="another model's file"):
        load_file(TRB_MINI, tiny_file)
    with pytest.raises(WeightsError, match="another model's file"):
        load_file(MODELS[2], available_models()[0].path)


def test_foreign_contents(tmp_path):
    path = tmp_path / TINY.file
    torch.save({"weights": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match="no cfg and model in it"):
        load_file(TINY, path)
    torch.save({"cfg": {"model": argparse.Namespace(a=1)}, "model": {}}, path)
    with pytest.raises(WeightsError, match="another model's file"):
        load_file(TINY, path)
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(WeightsError, match=r"not opened|damaged"):
        load_file(TINY, path)


def test_missing_and_not_finite_tensors(tmp_path, tiny_file):
    with torch.serialization.safe_globals([argparse.Namespace]):
        data = torch.load(tiny_file, weights_only=True)
    first = next(iter(data["model"]))
    path = tmp_path / TINY.file
    torch.save({**data, "model": {k: v for k, v in data["model"].items() if k != first}}, path)
    with pytest.raises(WeightsError, match=r"1 are missing \(embed_tokens.weight\)"):
        load_file(TINY, path)
    data["model"][first][0, 0] = float("inf")
    torch.save(data, path)
    with pytest.raises(WeightsError, match="not numbers"):
        load_file(TINY, path)


class _Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (os.mkdir, (self.target,))


@pytest.mark.parametrize(
    "save", [torch.save, lambda bomb, path: path.write_bytes(pickle.dumps(bomb))]
)
def test_a_file_that_would_run_code_is_not_opened(tmp_path, save):
    ran = tmp_path / "ran"
    path = tmp_path / TINY.file
    save({"cfg": {"model": _Bomb(str(ran))}, "model": {}}, path)
    with pytest.raises(WeightsError, match=r"could run code|damaged"):
        load_file(TINY, path)
    assert not ran.exists()


def test_another_package_called_esm_is_explained(tiny_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "esm.model.esm2", None)
    with pytest.raises(WeightsError, match="pip uninstall esm"):
        load_file(TINY, tiny_file)


def test_fair_esm_is_asked_for_plainly():
    """Its extras pull in packages that no longer build."""
    wanted = (Path(__file__).parents[2] / "requirements.txt").read_text()
    assert "\nfair-esm==2.0.0 " in wanted


# Downloads, from a server on this machine.


class Server(http.server.ThreadingHTTPServer):
    """Serves one file; `behave` changes how."""

    daemon_threads = True
    body = b""
    behave = "well"
    asked: list[str | None]
    over: threading.Event


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        body, behave = self.server.body, self.server.behave
        if behave == "missing":
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        resumes = start and behave != "ignores ranges"
        start = start if resumes else 0
        if start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if resumes else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        if behave == "stalls":
            self.server.over.wait(10)
            return
        cut = behave in {"drops once", "ignores ranges"} and len(self.server.asked) == 1
        stop = len(body) // 2 if cut or behave == "always drops" else len(body)
        self.wfile.write(body[start:stop])

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tiny_file):
    with Server(("127.0.0.1", 0), Handler) as server:
        server.body, server.asked = tiny_file.read_bytes(), []
        server.over = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()


@pytest.fixture
def gone():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def fetch(server, folder, **options):
    url = f"http://127.0.0.1:{server.server_port}/"
    timeout = 0.2 if server.behave == "stalls" else 5.0
    return download_steps(TINY, folder / TINY.file, base_url=url, timeout=timeout, **options)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(download, "_PIECE", 4096)


def test_a_download_arrives_whole_with_progress(server, tmp_path, tiny_file, published, tiny):
    *steps, last = fetch(server, tmp_path / "new folder")
    assert last.finished
    assert not any(step.finished for step in steps)
    assert [s.done for s in steps] == sorted(s.done for s in steps)
    assert {s.total for s in steps} == {tiny_file.stat().st_size}
    assert last.path.read_bytes() == tiny_file.read_bytes()
    assert os.listdir(tmp_path / "new folder") == [TINY.file]
    assert server.asked == [None]  # one file: no contact regression, which may be missing
    model = load_file(TINY, last.path)
    assert guess(model, published, 9).probabilities == pytest.approx(
        guess(tiny, published, 9).probabilities
    )


def test_a_published_name_takes_the_whole_path_by_name(
    server, tmp_path, monkeypatch, published, capsys, gone
):
    """ESM-2 8M's own shape, random weights: a killed download, the command, load, guess."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv("ONE_RECEPTOR_MODELS", str(folder))
    monkeypatch.setattr(download, "_PIECE", 1 << 20)
    card = model_card("esm2-8m")
    save_published(card, tmp_path / "published.pt")
    server.body = (tmp_path / "published.pt").read_bytes()
    assert len(server.body) == pytest.approx(card.size_bytes, rel=0.05)
    (folder / f"{card.file}.{gone}-0.part").write_bytes(server.body[:12_300_000])
    command = ["download", "esm2-8m", "--base-url", f"http://127.0.0.1:{server.server_port}/"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert f"ESM-2 8M: about 30 MB to {folder / card.file}" in said
    assert "Going on after 12.3 MB that a killed download left" in said
    assert os.listdir(folder) == [card.file]
    assert main(command) == 0
    assert "already here" in capsys.readouterr().err
    model = load("esm2-8m")
    assert model.parameters == card.parameters
    assert guess(model, published, 110).probabilities.sum() == pytest.approx(1)


def test_ctrl_c_during_the_command_leaves_nothing(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ONE_RECEPTOR_MODELS", str(tmp_path))
    real, seen = download._write, []

    def interrupted(reply, part, done):
        for written in real(reply, part, done):
            seen.append(part.is_file())
            yield written
            raise KeyboardInterrupt

    monkeypatch.setattr(download, "_write", interrupted)
    url = f"http://127.0.0.1:{server.server_port}/"
    assert main(["download", "esm2-8m", "--base-url", url]) == 1
    assert capsys.readouterr().err.endswith("Stopped.\n")
    assert seen == [True]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("behave", "second"), [("drops once", True), ("ignores ranges", True)])
def test_a_dropped_connection_is_taken_up_again(server, tmp_path, tiny_file, behave, second):
    server.behave = behave
    *_, last = fetch(server, tmp_path)
    assert last.path.read_bytes() == tiny_file.read_bytes()
    assert server.asked[0] is None
    assert (server.asked[1] is not None) == second


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        ("missing", "answered 404"),
        ("always drops", "could not be fetched"),
        ("stalls", r"could not be fetched \(timed out\)"),
    ],
)
def test_failed_downloads_say_what_and_where_and_leave_nothing(server, tmp_path, behave, says):
    server.behave = behave
    with pytest.raises(WeightsError, match=says) as caught:
        list(fetch(server, tmp_path, attempts=2))
    assert str(tmp_path) in str(caught.value)
    assert TINY.file in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_no_server_at_all(tmp_path, server):
    server.shutdown()
    server.server_close()
    with pytest.raises(WeightsError, match=r"could not be fetched.*yourself"):
        list(fetch(server, tmp_path, attempts=1))
    assert os.listdir(tmp_path) == []


def test_cancelling_leaves_nothing(server, tmp_path):
    steps = fetch(server, tmp_path)
    next(steps)
    assert len(os.listdir(tmp_path)) == 1
    steps.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("damage", ["flip", "html", "other model"])
def test_what_arrives_damaged_is_not_kept(server, tmp_path, damage):
    if damage == "flip":
        body = bytearray(server.body)
        body[len(body) // 2] ^= 1
        server.body = bytes(body)
    elif damage == "html":
        server.body = b"<html>log in to the hotel's network</html>"
    else:
        server.body = available_models()[0].path.read_bytes()
    with pytest.raises(
        WeightsError, match=r"sent .* is not the whole file .* Nothing was kept"
    ) as said:
        list(fetch(server, tmp_path))
    assert ".part" not in str(said.value)  # it is gone
    assert os.listdir(tmp_path) == []


def test_a_full_disk(server, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    monkeypatch.setattr(download, "_write", full)
    with pytest.raises(WeightsError, match="is full"):
        list(fetch(server, tmp_path))
    assert os.listdir(tmp_path) == []


def test_too_little_room_is_seen_before_a_byte_is_written(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: argparse.Namespace(free=10))
    with pytest.raises(WeightsError, match="make room"):
        list(fetch(server, tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_offline_switch(server, tmp_path):
    with pytest.raises(WeightsError, match="ONE_RECEPTOR_OFFLINE is set"):
        list(fetch(server, tmp_path, offline=True))
    assert server.asked == []


def test_what_a_killed_download_left_is_gone_on_with_a_living_ones_part_is_not_touched(
    server, tmp_path, gone
):
    half = server.body[: len(server.body) // 2]
    (tmp_path / f"{TINY.file}.{gone}-0.part").write_bytes(half)
    (tmp_path / f"{TINY.file}.{gone}-1.part").write_bytes(half[:99])
    alive = tmp_path / f"{TINY.file}.{os.getppid()}-0.part"
    alive.write_bytes(b"half")
    first, *_, last = fetch(server, tmp_path)
    assert first.kept == len(half) < first.done
    assert server.asked == [f"bytes={len(half)}-"]
    assert last.path.read_bytes() == server.body
    assert sorted(os.listdir(tmp_path)) == sorted([TINY.file, alive.name])


def test_on_windows_no_process_is_asked_whether_it_lives(server, tmp_path, gone, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("this would end a process there"))
    other = tmp_path / f"{TINY.file}.{gone}-0.part"
    other.write_bytes(b"half")
    assert part_file.part_file(tmp_path / TINY.file) != other
    assert other.read_bytes() == b"half"


@pytest.mark.parametrize("left", ["of another file", "all of it", "too much"])
def test_a_part_that_does_not_fit_is_fetched_anew(server, tmp_path, gone, left):
    parts = {"of another file": b"x" * 5000, "all of it": server.body, "too much": server.body * 2}
    (tmp_path / f"{TINY.file}.{gone}-0.part").write_bytes(parts[left])
    *_, last = fetch(server, tmp_path)
    assert last.path.read_bytes() == server.body
    assert len(server.asked) == 2
    assert os.listdir(tmp_path) == [TINY.file]


def test_only_web_addresses(tmp_path):
    with pytest.raises(WeightsError, match="not a web address"):
        list(download_steps(TINY, tmp_path / TINY.file, base_url=f"file://{Path.cwd()}/"))


def test_sizes_are_said_before_a_download():
    assert isinstance(MODELS[2], ModelCard)
    assert MODELS[2].size_bytes == pytest.approx(134e6, rel=0.01)  # published: 134 MB in float32
