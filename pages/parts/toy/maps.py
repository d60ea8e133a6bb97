"""The toy's first screen: four maps, one per head."""

import streamlit as st

from core.figures.attention_maps import Strip, head_maps
from core.figures.palette import VERMILION
from core.figures.toy_words import written
from core.toy.heads import HEADS
from core.toy.jobs import labels, reading
from core.toy.model import ToyRun
from pages.parts.downloads import show_figure
from pages.parts.toy import redraw
from pages.parts.toy.runs import ask, runs, snippet

# Two figures, so that on a phone one pair of heads stands below the other.
_PAIRS = ((0, 1), (2, 3))
# A figure's own bar hovers above it, where it hides no title.
_STYLE = """<style>
.st-key-toy_pick ul {display: grid; gap: 0 1rem; padding: 0; margin: 0 0 .75rem; list-style: none;
  grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr))}
.st-key-toy_pick li {margin: 0; padding: 0}
[class*="st-key-toy_maps_"], .st-key-toy_ghost,
.st-key-toy_maps .js-plotly-plot, .st-key-toy_ghost .js-plotly-plot {overflow: visible !important}
.st-key-toy_maps .modebar, .st-key-toy_ghost .modebar {top: -1.5rem !important}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: .15rem 0}
.st-key-toy_story .katex {white-space: nowrap}
@media (max-width: 640px) {.st-key-toy_story .katex {font-size: 1.05em}}
</style>"""


def maps(sequence: str) -> None:
    """The four maps, side by side where there is room."""
    st.html(_STYLE)
    with st.container(key="toy_maps"):
        for column, pair in zip(st.columns(len(_PAIRS)), _PAIRS, strict=True):
            with column:
                _pair_of_maps(sequence, pair)
    st.caption("Dark: 0 % of a row's attention. Yellow: all of it.")


@st.fragment(key=redraw.MAPS)
def _pair_of_maps(sequence: str, pair: tuple[int, ...]) -> None:
    _, after = runs(sequence)
    weights = {head: after.steps[head].weights for head in pair}
    clearest = {head: int(block.max(axis=1).argmax()) for head, block in weights.items()}
    key = _figure_key(pair)

    def clicked() -> None:
        _ask_for_click(key, pair, len(sequence))

    show_figure(
        head_maps(
            list(weights.values()),
            [f"{head + 1} {HEADS[head].name}" for head in pair],
            labels(after.sequence),
        ),
        key=key,
        alt=f"Attention of heads {' and '.join(str(head + 1) for head in pair)}; rows ask, "
        "columns answer. "
        + " ".join(
            f"Head {head + 1}, clearest row: {reading(after.sequence, weights[head], row)}."
            for head, row in clearest.items()
        ),
        table=lambda: _long_table(after, pair),
        code=snippet(
            after,
            f"for step in run.steps[{pair[0]}:{pair[-1] + 1}]:\n    print(step.weights.round(3))",
        ),
        on_select=clicked,
    )


def _figure_key(pair: tuple[int, ...]) -> str:
    return "toy_maps_" + "_".join(str(head + 1) for head in pair)


def _ask_for_click(key: str, pair: tuple[int, ...], length: int) -> None:
    points, last = st.session_state[key]["selection"]["points"], f"_{key}_clicked"
    # A second click on the same cell takes Plotly's selection back, and asks for it again here.
    point = points[0]["point_index"] if points else st.session_state.get(last)
    if point is None:
        return
    st.session_state[last] = point
    which, query, column = Strip(len(pair), length).at(int(point))
    ask(pair[which], query, column)
    redraw.asked_elsewhere()


def mark(length: int, head: int, query: int, key: int) -> str:
    """A style sheet that frames the row of `query` in every map and names head and key.

    Plotly would redraw a whole figure to move one frame.
    """
    frames, letters = [], written(length)
    for pair in _PAIRS:
        figure = f".st-key-{_figure_key(pair)}"
        for which in range(len(pair)):
            bar = which * length + query + 1
            frames.append(f"{figure} .barlayer .point:nth-child({bar}) path")
    which = head % len(_PAIRS[0])
    text = f".st-key-{_figure_key(_PAIRS[head // len(_PAIRS[0])])} .scatterlayer .trace"
    names = [f"{text}:nth-child(3) .textpoint:nth-child({which + 1}) text"]
    if key in letters:
        letter = which * len(letters) + letters.index(key) + 1
        names.append(f"{text}:nth-child(2) .textpoint:nth-child({letter}) text")
    return (
        f"<style>{', '.join(frames)} "
        f"{{stroke: {VERMILION} !important; stroke-width: 2.5px !important}} "
        f"{', '.join(names)} {{font-weight: 800 !important; text-decoration: underline}}</style>"
    )


def _long_table(run: ToyRun, heads: tuple[int, ...]) -> dict[str, list]:
    names = labels(run.sequence)
    rows = [
        (head + 1, names[query], names[key], run.steps[head].weights[query, key])
        for head in heads
        for query in range(len(names))
        for key in range(len(names))
    ]
    return dict(zip(("head", "query", "key", "weight"), map(list, zip(*rows, strict=True)),
                    strict=True))  # fmt: skip
