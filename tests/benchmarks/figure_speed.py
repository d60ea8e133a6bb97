"""What it costs the server to make a figure and write it out for the browser.

    python tests/benchmarks/figure_speed.py [--rounds 20]

Three ways take turns on the toy's pair of maps: Plotly's objects with every check, the same
without checks, and `palette.draw`. Prints one JSON object per length: the median milliseconds of
each way, and how many times longer than `palette.draw` the others take.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import plotly.io
import plotly.tools

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.figures.attention_maps import head_maps

PER_ROUND = 5


def written(figure: go.Figure) -> str:
    """As Streamlit writes a figure."""
    plain = plotly.tools.return_figure_from_figure_or_data(figure, validate_figure=True)
    return plotly.io.to_json(plain, validate=False)


def ways(length: int) -> dict[str, Callable[[], str]]:
    """Each way from the same weights to what is sent."""
    chance = np.random.default_rng(0)
    weights = [chance.dirichlet(np.ones(length), length) for _ in range(2)]
    names = [f"A{place}" for place in range(1, length + 1)]

    def drawn() -> go.Figure:
        return head_maps(weights, ["one", "two"], names)

    return {
        "checked": lambda: written(go.Figure(drawn().to_dict())),
        "unchecked": lambda: written(go.Figure(drawn().to_dict(), _validate=False)),
        "draw": lambda: written(drawn()),
    }


def medians(length: int, rounds: int) -> dict[str, float]:
    """Milliseconds per figure, ways in turn so that a busy moment slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in ways(length)}
    for _ in range(rounds):
        for name, make in ways(length).items():
            began = time.process_time()
            for _ in range(PER_ROUND):
                make()
            times[name].append(1000 * (time.process_time() - began) / PER_ROUND)
    return {name: round(statistics.median(ms), 3) for name, ms in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    for length in (13, 30):
        found = medians(length, rounds)
        times_draw = {name: round(ms / found["draw"], 1) for name, ms in found.items()}
        print(json.dumps({"length": length, "milliseconds": found, "times_draw": times_draw}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
