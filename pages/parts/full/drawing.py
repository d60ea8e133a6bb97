"""The drawing of the encoder-decoder, beside what the chosen box does."""

from functools import lru_cache
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.figures.architecture import DrawnBox, architecture
from core.transformer.shape import Sizes
from core.transformer.tour import FAMILIES, Box, Family, boxes_of
from pages.parts.downloads import show_figure
from pages.parts.full import flow
from pages.parts.full.box import numbers, panel
from pages.parts.links import check_link

_FIRST = "Self-attention"
# Inside the drawing the side is plain to see.
_LABEL = {
    "embedding": "Embedding",
    "positions": "Positions",
    "norm": "Add & norm",
    "feed-forward": "Feed-forward",
}
_FAMILY = {family.name: family for family in FAMILIES}
CODE = """from core.transformer.shape import ModelShape, Sizes
from core.transformer.tour import boxes_of

shape = ModelShape({shape})
sizes = Sizes({batch}, {n_src}, {n_tgt}, shape)
for box in boxes_of(shape):
    flow = [(name, sizes.of(axes)) for name, axes in box.part.flow]
    print(box.side, box.title, box.part.count(shape), flow)
"""


@st.fragment
def show(sizes: Sizes, sequence: str) -> None:
    """Drawing left, the chosen box's panel right."""
    boxes = {box.title: box for box in boxes_of(sizes.shape)}
    check_link({"f_box": boxes, "f_family": _FAMILY}, f_box="box", f_family="family")
    left, right = st.columns([11, 10], gap="medium")
    with right:
        box = _choose_box(boxes)
        panel(box, sizes)
        if not sizes.shape.pre_norm:  # The recorded run is the paper's.
            flow.show(box, sequence)
    with left:
        picture = st.container()
        family = _choose_family()
        with picture:
            _draw(box, family, sizes, sequence)


def _choose_box(boxes: dict[str, Box]) -> Box:
    titles = list(boxes)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Box (or click it in the drawing)",
            titles,
            index=titles.index(_FIRST),
            key="f_box",
            bind="query-params",
        )
        following = titles[(titles.index(chosen if chosen in boxes else _FIRST) + 1) % len(titles)]
        st.button(
            "Next box",
            icon=":material/arrow_upward:",
            key="f_next_box",
            on_click=_open_box,
            args=(following,),
            help=f"In the order of the forward pass: {following}.",
            shortcut="n",
        )
    return boxes.get(chosen, boxes[_FIRST])


def _open_box(title: str) -> None:
    st.session_state["f_box"] = title


def _choose_family() -> Family:
    chosen = st.segmented_control(
        "Family",
        list(_FAMILY),
        default="encoder-decoder",
        required=True,
        key="f_family",
        bind="query-params",
        help="The same parts build all three; boxes that a family lacks are greyed out.",
        wrap=True,
    )
    family = _FAMILY.get(chosen or "", FAMILIES[0])
    st.caption(
        f"**Attention** {family.attention}. **Trained to** {family.trained_to}. "
        f"**Examples** {family.examples}. **Good for** {family.good_for}."
    )
    return family


def _draw(box: Box, family: Family, sizes: Sizes, sequence: str) -> None:
    shape = sizes.shape
    boxes = tuple(_drawn(b, family, sizes, sequence) for b in boxes_of(shape))
    where = "before each sublayer" if shape.pre_norm else "after each addition"
    show_figure(
        _figure(boxes, shape.num_layers, _highlight(box.title, (boxes, shape.num_layers))),
        key="f_drawing",
        alt=(
            f"Encoder with {shape.num_layers} layers of self-attention and feed-forward; decoder "
            f"with {shape.num_layers} layers of causal self-attention, cross-attention to the "
            f"encoder and feed-forward; norms {where}; {len(boxes)} boxes."
        ),
        table=lambda: _table(sizes),
        code=_code(sizes),
        on_select=_box_clicked,
    )


def _highlight(title: str, picture: tuple[tuple[DrawnBox, ...], int]) -> str:
    """The box that is drawn as chosen: `title`, unless it was clicked in this same `picture`.

    A click moves the highlight in the browser by itself. Drawing it again from here would
    replace the whole figure, so the figure keeps the highlight it was built with.
    """
    drawn, highlight = st.session_state.get("_f_drawn", (None, title))
    if drawn != picture or _clicked() != title:
        highlight = title
    st.session_state["_f_drawn"] = picture, highlight
    return highlight


@lru_cache(maxsize=128)
def _figure(boxes: tuple[DrawnBox, ...], layers: int, chosen: str) -> go.Figure:
    """Built once for everybody; nobody changes a figure after this."""
    return architecture(boxes, chosen, "Cross-attention", layers)


def _clicked() -> str | None:
    """The box that is selected in the picture; nothing in one that is new."""
    event: Any = st.session_state.get("f_drawing")
    points = event["selection"]["points"] if event else []
    key = points[0].get("customdata") if points else None
    return key[0] if isinstance(key, list) and key else key


def _box_clicked() -> None:
    title = _clicked()
    if isinstance(title, str):
        st.session_state["f_box"] = title


def _drawn(box: Box, family: Family, sizes: Sizes, sequence: str) -> DrawnBox:
    name, axes = box.part.flow[-1]
    letters = {"Source tokens": sequence, "Output so far": f"BOS {sequence}"}
    return DrawnBox(
        box.title,
        _short(letters.get(box.title) or _label(box, pre_norm=sizes.shape.pre_norm)),
        box.side,
        box.part.kind,
        f"{box.title}: {name} ({numbers(sizes, axes)}), {box.part.count(sizes.shape):,} weights",
        box.repeated,
        family.name not in box.members,
    )


def _label(box: Box, *, pre_norm: bool) -> str:
    if box.part.kind == "norm" and pre_norm:
        return "Norm" if box.repeated else "Final norm"
    return _LABEL.get(box.part.kind, box.title)


def _short(text: str, most: int = 21) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _table(sizes: Sizes) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "side": box.side,
                "box": box.title,
                "array": name,
                "axes": ", ".join(axes),
                "shape": numbers(sizes, axes),
                "weights per layer": box.part.count(sizes.shape),
            }
            for box in boxes_of(sizes.shape)
            for name, axes in box.part.flow
        ]
    )


def _code(sizes: Sizes) -> str:
    s = sizes.shape
    numbers = f"{s.src_vocab}, {s.tgt_vocab}, {s.d_model}, {s.num_heads}, {s.d_ff}, {s.num_layers}"
    numbers += f", pre_norm={s.pre_norm}"
    return CODE.format(shape=numbers, batch=sizes.batch, n_src=sizes.n_src, n_tgt=sizes.n_tgt)
