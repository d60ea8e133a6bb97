"""The toy's first screen: four maps, one per head."""

import streamlit as st

from core.figures.attention_maps import head_maps
from core.figures.map_places import heads_strip
from core.figures.palette import VERMILION
from core.figures.toy_words import written
from core.toy.heads import HEADS
from core.toy.jobs import labels, reading
from core.toy.model import ToyRun
from pages.parts.downloads import show_figure
from pages.parts.toy import redraw
from pages.parts.toy.runs import ask, runs, snippet

# A figure's own bar hovers above it, where it hides no title.
STYLE = """<style>
.st-key-toy_pick ul {display: grid; gap: .5rem 1rem; padding: 0; margin: 0 0 .75rem;
  list-style: none; grid-template-columns: repeat(auto-fit, minmax(max(11rem, 34%), 1fr))}
.st-key-toy_pick li {margin: 0; padding: 0}
.st-key-toy_maps, .st-key-toy_ghost,
.st-key-toy_maps .js-plotly-plot, .st-key-toy_ghost .js-plotly-plot {overflow: visible !important}
.st-key-toy_maps .modebar, .st-key-toy_ghost .modebar {top: -1.5rem !important}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: .15rem 0}
.st-key-toy_story .katex {white-space: nowrap}
@media (max-width: 640px) {.st-key-toy_story .katex {font-size: 1.05em}}
</style>"""


@st.fragment(key=redraw.MAPS)
def maps(sequence: str) -> None:
    """The four heads' maps, two by two."""
    _, after = runs(sequence)
    weights = [step.weights for step in after.steps]
    clearest = [int(block.max(axis=1).argmax()) for block in weights]
    show_figure(
        head_maps(
            weights,
            [f"{number} {head.name}" for number, head in enumerate(HEADS, 1)],
            labels(after.sequence),
        ),
        key="toy_maps",
        alt="Attention of the four heads; rows ask, columns answer. "
        + " ".join(
            f"Head {head + 1}, clearest row: {reading(after.sequence, weights[head], row)}."
            for head, row in enumerate(clearest)
        ),
        table=lambda: _long_table(after),
        code=snippet(after, "for step in run.steps:\n    print(step.weights.round(3))"),
        on_select=lambda: _ask_for_click(len(sequence)),
    )
    if not heads_strip(len(HEADS), len(sequence)).by_cell:
        st.caption("Cells so small are not clicked one by one: a click chooses the row.")


def _ask_for_click(length: int) -> None:
    points, last = st.session_state["toy_maps"]["selection"]["points"], "_toy_maps_clicked"
    # A second click on the same cell takes Plotly's selection back, and asks for it again here.
    point = points[0]["point_index"] if points else st.session_state.get(last)
    if point is None:
        return
    st.session_state[last] = point
    ask(*heads_strip(len(HEADS), length).at(int(point)))
    redraw.asked_elsewhere()


def mark(length: int, head: int, query: int, key: int) -> str:
    """A style sheet that frames the row of `query` in every map and names head and key.

    Plotly would redraw a whole figure to move one frame.
    """
    figure, letters = ".st-key-toy_maps", written(length)
    frames = [
        f"{figure} .barlayer .point:nth-child({which * length + query + 1}) path"
        for which in range(len(HEADS))
    ]
    text = f"{figure} .scatterlayer .trace"
    names = [f"{text}:nth-child(3) .textpoint:nth-child({head + 1}) text"]
    if key in letters:
        letter = head * len(letters) + letters.index(key) + 1
        names.append(f"{text}:nth-child(2) .textpoint:nth-child({letter}) text")
    return (
        f"<style>{', '.join(frames)} "
        f"{{stroke: {VERMILION} !important; stroke-width: 2.5px !important}} "
        f"{', '.join(names)} {{font-weight: 800 !important; text-decoration: underline}}</style>"
    )


def _long_table(run: ToyRun) -> dict[str, list]:
    names = labels(run.sequence)
    rows = [
        (head + 1, names[query], names[key], step.weights[query, key])
        for head, step in enumerate(run.steps)
        for query in range(len(names))
        for key in range(len(names))
    ]
    return dict(zip(("head", "query", "key", "weight"), map(list, zip(*rows, strict=True)),
                    strict=True))  # fmt: skip
