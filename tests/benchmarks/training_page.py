"""What the training page costs: click to first point, and what 20 viewers take from a run.

`python tests/benchmarks/training_page.py` prints one JSON object. Viewers are plain WebSocket
clients that poll as a browser does, so that twenty browsers do not compete for the same cores.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: E402
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

from core.runs import history, pool  # noqa: E402
from core.runs.processes import own_identity  # noqa: E402
from core.runs.supervisor import Supervisor  # noqa: E402
from core.settings import read_settings  # noqa: E402
from core.training.recipe import PAPER, Watch  # noqa: E402

VIEWERS, ROUNDS, WINDOW_S, CLICKS = 20, 3, 8.0, 5
KEY = "benchmark"


async def watch(port: int, run_id: int, counts: list[int]) -> None:
    """One viewer of one run: run the page once, then its timed fragment at the asked interval."""
    async with connect(f"ws://127.0.0.1:{port}/_stcore/stream", max_size=None) as socket_:
        await socket_.send(_rerun(run_id))
        fragment, interval = "", 1.0
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(interval):
                    while True:
                        data = await socket_.recv()
                        if len(data) < 300:  # the message about the timer is a short one
                            message = ForwardMsg.FromString(data)
                            if message.WhichOneof("type") == "auto_rerun":
                                fragment = message.auto_rerun.fragment_id
                                interval = message.auto_rerun.interval
            if fragment:
                counts[0] += 1
                await socket_.send(_rerun(run_id, fragment))


def _rerun(run_id: int, fragment: str = "") -> bytes:
    message = BackMsg()
    message.rerun_script.query_string = f"run={run_id}"
    message.rerun_script.page_name = "training"
    message.rerun_script.fragment_id = fragment
    message.rerun_script.is_auto_rerun = bool(fragment)
    return message.SerializeToString()


async def cost_of_viewers(supervisor: Supervisor, port: int, server: int) -> dict[str, float]:
    """Steps per second alone and watched, in turns, and processor time per tick."""
    recipe = replace(PAPER, name="benchmark", steps=20_000, max_length=16, batch=64)
    run_id = supervisor.start(recipe, Watch(evaluate_every=0), KEY)
    await asyncio.to_thread(_wait_for_step, supervisor, run_id, 20)
    alone, watched, ticks, cpu, total = [], [], [0], 0.0, 0
    for _ in range(ROUNDS):
        alone.append(await _rate(supervisor, run_id))
        viewers = [asyncio.create_task(watch(port, run_id, ticks)) for _ in range(VIEWERS)]
        await asyncio.sleep(6)  # the first full run of each page is not what is measured
        ticks[0], before = 0, _cpu_seconds(server)
        watched.append(await _rate(supervisor, run_id))
        cpu += _cpu_seconds(server) - before
        total += ticks[0]
        for viewer in viewers:
            viewer.cancel()
        await asyncio.sleep(2)
    supervisor.command(run_id, "stop", KEY)
    return {
        "steps_per_second_alone": statistics.median(alone),
        "steps_per_second_watched": statistics.median(watched),
        "kept": statistics.median(w / a for w, a in zip(watched, alone, strict=True)),
        "server_cpu_ms_per_tick": 1000 * cpu / max(total, 1),
        "ticks_per_second": total / (ROUNDS * WINDOW_S),
    }


async def _rate(supervisor: Supervisor, run_id: int) -> float:
    before, began = _step(supervisor, run_id), time.monotonic()
    await asyncio.sleep(WINDOW_S)
    return (_step(supervisor, run_id) - before) / (time.monotonic() - began)


def _step(supervisor: Supervisor, run_id: int) -> int:
    with supervisor.reading() as db:
        return history.last_step(db, run_id)


def _wait_for_step(supervisor: Supervisor, run_id: int, step: int) -> None:
    while _step(supervisor, run_id) < step:
        time.sleep(0.01)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_points(port: int) -> dict[str, float]:
    """Seconds from the click on Start to the first step on the page, cold and then warm."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/training?r_s_steps=60")
        seconds = [_click_to_point(page) for _ in range(CLICKS + 1)]
        browser.close()
    return {
        "cold_s": seconds[0],
        "warm_median_s": statistics.median(seconds[1:]),
        "warm_worst_s": max(seconds[1:]),
    }


def _click_to_point(page) -> float:
    page.get_by_role("button", name="Start", exact=True).wait_for(timeout=90_000)
    address = page.url
    began = time.monotonic()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_function(
        "before => location.href !== before"
        " && /running.*step [1-9]/s.test(document.body.innerText)",
        arg=address,
        timeout=90_000,
        polling=20,
    )
    seconds = time.monotonic() - began
    page.get_by_text("sprint, steps 60: finished").wait_for(timeout=90_000)
    page.wait_for_timeout(1500)
    return seconds


@contextlib.contextmanager
def a_server(folder: Path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.headless"]
    command += ["true", "--server.port", str(port), "--server.address", "127.0.0.1"]
    environment = {**os.environ, "ONE_RECEPTOR_DATA": str(folder)}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2)
                break
            time.sleep(0.1)
        yield port, server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.environ["ONE_RECEPTOR_DATA"] = str(folder)
        supervisor = Supervisor(read_settings())
        with a_server(folder) as (port, server):
            result: dict[str, object] = {"click_to_first_point": first_points(port)}
        with a_server(folder) as (port, server):
            result["viewers"] = asyncio.run(cost_of_viewers(supervisor, port, server))
        with supervisor.reading() as db:
            for worker in pool.living(db, own_identity()):
                pool.send(worker, signal.SIGTERM)
        result |= {"viewer_count": VIEWERS, "cores": pool.usable_cores()}
        print(json.dumps(result))


if __name__ == "__main__":
    main()
