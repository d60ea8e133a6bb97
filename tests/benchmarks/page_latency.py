"""From a widget's change to the new picture on the toy page, in headless Chromium.

    python tests/benchmarks/page_latency.py [--repeats 20] [--lengths 13,30]

Starts the app and, beside it, an empty page with one Plotly figure. Prints one JSON object:
milliseconds until the picture is drawn, and the server's share (from the request's frame to the
frame that says the script has finished) of the toy page against the empty page. Exit status 1
when a bar is missed.
"""

import argparse
import base64
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

REPOSITORY = Path(__file__).resolve().parents[2]
SEQUENCE = "CASSIRSSYEQYF"
MEDIAN_MS, P95_MS, SERVER_RATIO = 150, 300, 2.0
WARM_UP = 3

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'

EMPTY_PAGE = """
import plotly.graph_objects as go
import streamlit as st
st.set_page_config(layout="wide")
height = st.pills("Height", list(range(1, 14)), default=6, key="t_r")
st.plotly_chart(go.Figure(go.Bar(y=[height, 7, 3])), key="picture")
"""

# Resolves with the milliseconds until the picture last changed, once it has been still.
CLICK_AND_WATCH = """
([button, picture]) => new Promise((resolve, reject) => {
  const start = performance.now();
  let last = 0;
  const watcher = new MutationObserver(() => { last = performance.now() - start; });
  watcher.observe(document.querySelector(picture), {
    subtree: true, childList: true, attributes: true,
    attributeFilter: ["d", "href", "xlink:href", "transform", "x", "y"],
  });
  document.querySelector(button).click();
  const look = () => {
    const now = performance.now() - start;
    if (last && now - last > 300) { watcher.disconnect(); resolve(last); }
    else if (now > 8000) { watcher.disconnect(); reject(new Error("no new picture: " + picture)); }
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
"""


@dataclass
class Frames:
    """Times of the websocket's frames, as the browser's network process saw them."""

    sent: list[float] = field(default_factory=list)
    finished: list[float] = field(default_factory=list)

    def watch(self, session: CDPSession) -> None:
        session.send("Network.enable")
        session.on("Network.webSocketFrameSent", lambda e: self.sent.append(e["timestamp"]))
        session.on("Network.webSocketFrameReceived", self._received)

    def _received(self, event: dict) -> None:
        message = ForwardMsg()
        message.ParseFromString(base64.b64decode(event["response"]["payloadData"]))
        if message.WhichOneof("type") == "script_finished":
            self.finished.append(event["timestamp"])

    def clear(self) -> None:
        self.sent.clear()
        self.finished.clear()

    def server_ms(self) -> float:
        return 1000 * (self.finished[-1] - self.sent[0])


@contextmanager
def serving(script: Path, folder: Path) -> Iterator[str]:
    """A server of its own for `script`; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    command += ["--server.port", str(port), "--server.address", "127.0.0.1"]
    environment = os.environ | {"ONE_RECEPTOR_DATA": str(folder / "data")}
    server = subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2)
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def nth_button(key: str, number: int) -> str:
    """CSS of a pill or segment, counted from 1."""
    return f".st-key-{key} button:nth-of-type({number})"


def timed(page: Page, frames: Frames, button: str, picture: str) -> tuple[float, float]:
    """Milliseconds until the picture is drawn, and of those (or beyond) the server's."""
    page.wait_for_selector(IDLE, timeout=60_000)
    frames.clear()
    drawn = page.evaluate(CLICK_AND_WATCH, [button, picture])
    # The script may end after the picture is there, and events arrive while waiting.
    for _ in range(200):
        if frames.sent and frames.finished:
            return drawn, frames.server_ms()
        page.wait_for_timeout(25)
    raise RuntimeError(f"no rerun was seen for a click on {button}")


def measure(page: Page, frames: Frames, actions: list[tuple[str, str]], repeats: int) -> dict:
    """Repeat the clicks in turn; the first few are thrown away."""
    results = [
        timed(page, frames, *actions[turn % len(actions)]) for turn in range(WARM_UP + repeats)
    ][WARM_UP:]
    drawn, server = zip(*results, strict=True)
    return {"drawn_ms": list(drawn), "server_ms": list(server)}


def toy_actions(length: int) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """What is clicked: name -> (URL parameters, clicks and the picture each changes)."""
    maps, row = ".st-key-toy_maps", ".st-key-toy_row"
    switch = '.st-key-toy_positions input[type="checkbox"]'
    residues = [5, 9, 3, 12, 7]
    return {
        "residue": ("", [(nth_button("t_r", n), row) for n in residues]),
        "head": ("", [(nth_button("t_h", n), row) for n in (2, 3, 4, 1)]),
        "positions": ("&t_e=Switch+something+off", [(switch, maps)]),
        "swap": ("&t_e=Swap+a+residue", [(nth_button("toy_swap", n), maps) for n in (1, 9, 15)]),
        "redraw": ("&t_c6=true", [(".st-key-toy_redraw button", ".st-key-toy_draw")]),
    }


def opened(browser, address: str, picture: str) -> tuple[Page, Frames]:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    frames = Frames()
    frames.watch(page.context.new_cdp_session(page))
    page.goto(address)
    page.wait_for_selector(f"{picture} .js-plotly-plot .main-svg", timeout=180_000)
    page.wait_for_selector(IDLE, timeout=60_000)
    page.wait_for_timeout(1500)
    return page, frames


def summary(values: list[float]) -> dict:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
        "n": len(ordered),
    }


def run(repeats: int, lengths: list[int]) -> dict:
    found: dict = {"toy": {}, "empty": {}}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        blank = folder / "blank.py"
        blank.write_text(EMPTY_PAGE)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        with (
            serving(blank, folder) as empty,
            serving(REPOSITORY / "streamlit_app.py", folder) as app,
        ):
            clicks = [(nth_button("t_r", n), ".st-key-picture") for n in (5, 9, 3, 12, 7)]
            page, frames = opened(browser, empty, ".st-key-picture")
            found["empty"] = measure(page, frames, clicks, repeats)
            page.close()
            for length in lengths:
                sequence = (SEQUENCE * length)[:length]
                for action, (parameters, clicks) in toy_actions(length).items():
                    address = f"{app}/toy_model?seq={sequence}{parameters}"
                    page, frames = opened(browser, address, clicks[0][1])
                    found["toy"][f"{action}_{length}"] = measure(page, frames, clicks, repeats)
                    page.close()
        browser.close()
    return found


def report(found: dict) -> dict:
    """Medians, 95th percentiles and the three bars."""
    drawn = [ms for action in found["toy"].values() for ms in action["drawn_ms"]]
    empty = statistics.median(found["empty"]["server_ms"])
    ratios = {
        name: round(statistics.median(action["server_ms"]) / empty, 2)
        for name, action in found["toy"].items()
    }
    # One rerun of the toy page is what a visitor does most: asking for another residue.
    ratio = statistics.median(value for name, value in ratios.items() if "residue" in name)
    whole = summary(drawn)
    return {
        "widget_to_picture_ms": {
            **{name: summary(action["drawn_ms"]) for name, action in found["toy"].items()},
            "all": whole,
            "empty_page": summary(found["empty"]["drawn_ms"]),
        },
        "server_ms": {
            **{name: summary(action["server_ms"]) for name, action in found["toy"].items()},
            "empty_page": summary(found["empty"]["server_ms"]),
        },
        "server_ratio_to_empty_page": ratios,
        "load_average": round(os.getloadavg()[0], 1),
        "bars": {
            f"median at most {MEDIAN_MS} ms": whole["median"] <= MEDIAN_MS,
            f"95th percentile at most {P95_MS} ms": whole["p95"] <= P95_MS,
            f"server at most {SERVER_RATIO:g} times the empty page": ratio <= SERVER_RATIO,
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--lengths", default="13,30")
    asked = parser.parse_args()
    lengths = [int(part) for part in asked.lengths.split(",")]
    result = report(run(asked.repeats, lengths))
    print(json.dumps(result, indent=1))
    return 0 if all(result["bars"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
