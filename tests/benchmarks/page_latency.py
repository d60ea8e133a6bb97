"""From a widget's change to the new picture, in headless Chromium: `page_actions` says where.

    python tests/benchmarks/page_latency.py [--repeats 20] [--lengths 13,30] [--pages toy,full]

Starts the app and, beside it, an empty page with one Plotly figure, which is touched in turn with
the app's, so that a busy machine slows both. Prints one JSON object: milliseconds in the browser
from the touch until the picture is drawn; the server's share (on the server, from having the
request to having sent the last message that says a script has finished) by the clock and in
processor time, which is blind to the neighbours, each with its ratio to the empty page's; messages
and kilobytes that the change sent. Exit status 1 when a bar is missed.
"""

import argparse
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
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from page_actions import ACTIONS, Action, Touch, buttons
from playwright.sync_api import Browser, Page, sync_playwright

REPOSITORY = Path(__file__).resolve().parents[2]
WATCHED = Path(__file__).with_name("watched_server.py")
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

EMPTY = Action("empty", "empty page", "", buttons("t_r", (5, 9, 3, 12, 7), ".st-key-picture"))

# Leaves a promise of the milliseconds from the touch until the picture last changed, once it
# has been still. Streamlit hides a figure till it knows its width, so its style counts as well.
WATCH = """
(picture) => {
  let start = 0, last = 0;
  const began = () => { start ||= performance.now(); };
  for (const kind of ["click", "keydown"]) {
    document.addEventListener(kind, began, { capture: true, once: true });
  }
  // The picture may be replaced as a whole, so its page is watched.
  const shown = (change) => change.attributeName === "style"
    ? change.target.matches(`${picture} .js-plotly-plot`)
    : change.target.closest?.(picture)
    || [...change.addedNodes].some((node) => node.querySelector?.(picture));
  const watcher = new MutationObserver((changes) => {
    if (start && changes.some(shown)) last = performance.now() - start;
  });
  watcher.observe(document.body, {
    subtree: true, childList: true, attributes: true,
    attributeFilter: ["d", "href", "xlink:href", "transform", "x", "y", "style"],
  });
  window.__drawn = new Promise((resolve, reject) => {
    const look = () => {
      const now = start ? performance.now() - start : 0;
      if (last && now - last > 300) { watcher.disconnect(); resolve(last); }
      else if (now > 8000) { watcher.disconnect(); reject(new Error("no picture: " + picture)); }
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}
"""


class Line(NamedTuple):
    """What the server did: when, the kind of request or message, the message's bytes."""

    ms: float
    cpu_ms: float
    kind: str
    size: int


@dataclass(frozen=True)
class Server:
    """A Streamlit server of our own, and the file that it writes its lines into."""

    address: str
    written: Path

    def lines(self, after: int = 0) -> list[Line]:
        """What it did after the first so many lines."""
        rows = [row.split() for row in self.written.read_text().splitlines()[after:]]
        return [Line(float(ms), float(cpu), kind, int(size)) for ms, cpu, kind, size in rows]


@contextmanager
def serving(script: Path, folder: Path) -> Iterator[Server]:
    """A server of its own for `script`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    written = folder / f"{port}.txt"
    command = [sys.executable, str(WATCHED), str(written), "run", str(script)]
    command += ["--server.port", str(port), "--server.address", "127.0.0.1"]
    command += ["--server.headless", "true"]
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
        yield Server(f"http://127.0.0.1:{port}", written)
    finally:
        server.terminate()
        server.wait(20)


def timed(page: Page, server: Server, touch: Touch) -> dict[str, float]:
    """One touch: milliseconds until the picture is drawn, the server's, messages, kilobytes."""
    page.wait_for_selector(IDLE, timeout=60_000)
    before = len(server.lines())
    page.evaluate(WATCH, touch.picture)
    target = page.locator(touch.target).first
    if touch.key:
        target.press(touch.key)
    elif touch.by_mouse:
        box = target.bounding_box()
        page.mouse.click(box["x"] + 8, box["y"] + box["height"] / 2)
    else:
        target.evaluate("(button) => button.click()")
    drawn = page.evaluate("window.__drawn")
    page.wait_for_selector(IDLE, timeout=60_000)
    done = server.lines(before)
    asked = next(line for line in done if line.kind == "rerun_script")
    finished = [line for line in done if line.kind == "script_finished"][-1]
    sizes = [line.size for line in done if line.size]
    return {
        "drawn_ms": drawn,
        "server_ms": finished.ms - asked.ms,
        "server_cpu_ms": finished.cpu_ms - asked.cpu_ms,
        "messages": len(sizes),
        "kilobytes": sum(sizes) / 1000,
    }


def measure(
    browser: Browser, empty: Server, app: Server, action: Action, repeats: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """The empty page's touches and the action's, one by one in turn; the first few are not kept."""
    pairs = [(server, opened(browser, server.address, a), a.touches, [])
              for server, a in ((empty, EMPTY), (app, action))]  # fmt: skip
    for turn in range(WARM_UP + repeats):
        for server, page, touches, rows in pairs:
            page.bring_to_front()
            rows.append(timed(page, server, touches[turn % len(touches)]))
    found = []
    for _, page, _, rows in pairs:
        page.close()
        found.append({name: [row[name] for row in rows[WARM_UP:]] for name in rows[0]})
    return found[0], found[1]


def opened(browser: Browser, server: str, action: Action) -> Page:
    """The page at rest, its first pictures drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(server + action.address)
    if action.first:
        page.locator(action.first).click(timeout=60_000)
    for touch in action.touches:
        page.wait_for_selector(f"{touch.picture} .js-plotly-plot .main-svg", timeout=180_000)
        page.wait_for_selector(touch.target, state="attached", timeout=60_000)
    page.wait_for_selector(IDLE, timeout=60_000)
    page.wait_for_timeout(1500)
    return page


def visits(pages: list[str], lengths: list[int]) -> Iterator[tuple[str, Action]]:
    """Name and action of every visit to make; once where no sequence is in the address."""
    for action in ACTIONS:
        each = lengths if "{seq}" in action.address else lengths[:1]
        for length in each if action.page in pages else []:
            yield f"{action.page} {action.name} {length}", action.at(length)


def run(repeats: int, lengths: list[int], pages: list[str]) -> dict[str, tuple[dict, dict]]:
    """By a visit's name the raw measurements of the empty page then, and of the visit."""
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
            found = {
                name: measure(browser, empty, app, action, repeats)
                for name, action in visits(pages, lengths)
            }
        browser.close()
    return found


def summary(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
    }


def beside(empty: dict[str, list[float]], rows: dict[str, list[float]]) -> dict:
    """Medians and 95th percentiles of one action; ratios to the empty page of its time."""
    middle, middle_empty = (
        {name: statistics.median(values) for name, values in found.items()}
        for found in (rows, empty)
    )
    return {
        "drawn_ms": summary(rows["drawn_ms"]),
        "server_ms": summary(rows["server_ms"]),
        "server_ms_empty": summary(empty["server_ms"]),
        "server_cpu_ms": round(middle["server_cpu_ms"], 1),
        **{
            f"{name}_ratio": round(middle[f"{name}_ms"] / middle_empty[f"{name}_ms"], 2)
            for name in ("server", "server_cpu")
        },
        "messages": middle["messages"],
        "kilobytes": round(middle["kilobytes"], 1),
    }


def server_ratios(pairs: list[tuple[dict, dict]]) -> dict[str, float]:
    """The server's median share of all these touches over that of the empty page in between."""
    found = {}
    for name, meaning in (("server_ms", "by the clock"), ("server_cpu_ms", "in processor time")):
        empty, rows = ([ms for pair in pairs for ms in pair[i][name]] for i in range(2))
        if rows:
            found[meaning] = round(statistics.median(rows) / statistics.median(empty), 2)
    return found


def report(found: dict[str, tuple[dict, dict]]) -> dict:
    """Per action its numbers; then the bars, page by page."""
    actions: dict[str, dict] = {name: beside(*pair) for name, pair in found.items()}
    bars = {}
    for page in dict.fromkeys(name.partition(" ")[0] for name in found):
        mine = [name for name in found if name.partition(" ")[0] == page]
        whole = summary([ms for name in mine for ms in found[name][1]["drawn_ms"]])
        bars[f"{page}: median at most {MEDIAN_MS} ms"] = whole["median"] <= MEDIAN_MS
        bars[f"{page}: 95th percentile at most {P95_MS} ms"] = whole["p95"] <= P95_MS
        actions[f"{page}, all"] = {"drawn_ms": whole}
    # Asking for another residue is the rerun that every visitor makes.
    ratios = {
        group: server_ratios([pair for name, pair in found.items() if name.startswith(group)])
        for group in ("toy residue ", "toy ")
    }
    for group, by_meaning in ratios.items():
        for meaning, ratio in by_meaning.items():
            bar = f"{group}server at most {SERVER_RATIO:g} times the empty page {meaning}"
            bars[bar] = ratio <= SERVER_RATIO
    return {
        "actions": actions,
        "server": ratios,
        "load_average": round(os.getloadavg()[0], 1),
        "bars": bars,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--lengths", default="13,30")
    parser.add_argument("--pages", default="toy,full,esm,traps")
    asked = parser.parse_args()
    lengths = [int(part) for part in asked.lengths.split(",")]
    result = report(run(asked.repeats, lengths, asked.pages.split(",")))
    print(json.dumps(result, indent=1))
    return 0 if all(result["bars"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
