"""From opening a page on a just-started server in a fresh browser to its title and first picture.

    python tests/benchmarks/cold_start.py [--repeats 3] [--pages esm,home,toy_model]

A new server and a new browser for every number, and beside them, in the same run, a one-line app
with a title and one Plotly figure: what Streamlit and Plotly cost by themselves. Prints one JSON
object: seconds, and seconds of the server's processor time, which neighbours do not change. Exit
status 1 when the first guess on the protein page misses its bar.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from page_latency import REPOSITORY, Server, serving
from playwright.sync_api import Playwright, sync_playwright

FIRST_GUESS_S = 2.0
PAGES = ("esm", "home", "toy_model", "full_transformer", "training", "traps")
ONE_LINE = """
import plotly.graph_objects as go
import streamlit as st
st.title("One line")
st.plotly_chart(go.Figure(go.Bar(y=[6, 7, 3])))
"""
# What a person waits for: the heading, the guess in words, a picture drawn.
SIGNS = {
    "title": "h1",
    "guess": "text=cannot see residue",
    "picture": ".js-plotly-plot .main-svg, [data-testid=stVegaLiteChart] canvas, "
    "[data-testid=stVegaLiteChart] svg",
}
LIMIT_MS = 60_000


Times = dict[str, tuple[float, float]]  # sign -> seconds, and the server's processor seconds


def opened(playwright: Playwright, server: Server, path: str, signs: list[str]) -> Times:
    """From asking for a page until each sign is there, in a browser just started."""
    browser = playwright.chromium.launch(
        executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
        args=["--no-sandbox", "--disable-gpu", "--disable-sync"],
    )
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    start, used = time.perf_counter(), server.cpu_ms()
    page.goto(f"{server.address}/{path}", wait_until="commit")
    seen = {}
    for sign in signs:
        page.wait_for_selector(SIGNS[sign], timeout=LIMIT_MS)
        seen[sign] = time.perf_counter() - start, (server.cpu_ms() - used) / 1000
    browser.close()
    return seen


def measure(playwright: Playwright, name: str, folder: Path) -> Times:
    """One server, one browser, one page; "one_line" is the app to compare with."""
    script = REPOSITORY / "streamlit_app.py"
    if name == "one_line":
        script = folder / "one_line.py"
        script.write_text(ONE_LINE)
    signs = ["title", "guess", "picture"] if name == "esm" else ["title", "picture"]
    path = "" if name in {"home", "one_line"} else name
    with tempfile.TemporaryDirectory(dir=folder) as data, serving(script, Path(data)) as server:
        return opened(playwright, server, path, signs)


def medians(found: dict[str, list[Times]], which: int) -> dict[str, dict[str, float]]:
    """Page -> sign -> median of the clock (0) or of the server's processor time (1)."""
    return {
        name: {
            sign: round(statistics.median(t[sign][which] for t in times), 2) for sign in times[0]
        }
        for name, times in found.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pages", default=",".join(PAGES))
    asked = parser.parse_args()
    names = ["one_line", *asked.pages.split(",")]
    found: dict[str, list[Times]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for _ in range(asked.repeats):
            for name in names:
                found[name].append(measure(playwright, name, Path(folder)))
    seconds, bars = medians(found, 0), {}
    if "esm" in found:
        bars[f"first guess at most {FIRST_GUESS_S:g} s"] = seconds["esm"]["guess"] <= FIRST_GUESS_S
    result = {"seconds": seconds, "server_cpu_seconds": medians(found, 1)}
    print(json.dumps(result | {"load_average": round(os.getloadavg()[0], 1), "bars": bars}))
    return 0 if all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
