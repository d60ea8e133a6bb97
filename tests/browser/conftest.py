"""A freshly started server and the machine's own Chromium for tests in a real browser.

`app_url` is one server per test module, with an empty data folder. Where no browser can be
found the tests are skipped with that reason, except in CI, where it is an error.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
START_LIMIT_S = 60


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(url: str, server: subprocess.Popen) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server ended while starting"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"the server did not answer within {START_LIMIT_S} s")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory):
    """Address of a server that no one has opened yet."""
    folder = tmp_path_factory.mktemp("server")
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py"]
    command += ["--server.headless", "true", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1"]
    environment = os.environ | {"ONE_RECEPTOR_DATA": str(folder / "data")}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Use the system's Chromium when there is one, else the one that playwright installed."""
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    arguments = browser_type_launch_args | {"args": ["--no-sandbox", "--disable-sync", *quiet]}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    return arguments | ({"executable_path": chromium} if chromium else {})


@pytest.fixture(scope="session", autouse=True)
def _browser_present(playwright):
    system = shutil.which("chromium") or shutil.which("chromium-browser")
    if system or Path(playwright.chromium.executable_path).exists():
        return
    reason = "no Chromium on this machine: install it or run `playwright install chromium`"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
