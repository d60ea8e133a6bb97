"""One whole block of the toy: each stage, and the residual stream."""

import numpy as np
import streamlit as st

from core.figures.vectors import vector_strip
from core.toy.block import BlockSteps, attention_weight_count, feed_forward_weight_count
from core.toy.jobs import labels
from core.toy.model import ToyRun, run_block
from core.toy.residue_vectors import COLUMNS
from core.toy.what_if import UNTOUCHED
from core.written import percent
from pages.parts.chapters import chapter
from pages.parts.downloads import show_figure
from pages.parts.toy.runs import runs, snippet

_STREAM = ("entering", "attention", "after_attention", "feed_forward", "leaving")
STAGES = {
    "entering": ("x", "Enters the block: chemistry and position."),
    "normed_for_attention": ("LN(x)", "Each row to mean 0, variance 1, on its own."),
    "attention": ("MHA(LN(x))", "Residues talk: four heads, mixed by a random Wo."),
    "after_attention": ("x + MHA(LN(x))", "Added to what came in: the residual stream."),
    "normed_for_feed_forward": ("LN", "Normalised again."),
    "hidden": ("GELU(W1 LN + b1)", "Each residue thinks for itself, in 32 numbers."),
    "feed_forward": ("W2 GELU + b2", "Back to 8 numbers."),
    "leaving": ("x + FFN", "Added again; this leaves the block."),
}
_NAMED = ("entering", "normed_for_attention")


@chapter("One whole block, stage by stage", "t_c7")
def whole_block(sequence: str) -> None:
    """The block stage by stage, as the residual stream carries it."""
    before, after = runs(sequence)
    steps = run_block(after)
    # In lines that a phone has room for.
    st.latex(
        r"\begin{aligned} x &\leftarrow x + \mathrm{MHA}(\mathrm{LN}(x)) \\ "
        r"h &= \mathrm{GELU}(W_1\,\mathrm{LN}(x) + b_1) \\ "
        r"x &\leftarrow x + W_2\,h + b_2 \end{aligned}"
    )
    attention, thinking = attention_weight_count(), feed_forward_weight_count()
    st.markdown(
        f"Attention lets residues talk ({attention} weights), the feed-forward part lets each one "
        f"think ({thinking} weights, {percent(thinking / (attention + thinking))} of the block). "
        "Wo, W1 and W2 are random, from one seed."
    )
    stage = st.segmented_control(
        "Stage", list(STAGES), format_func=lambda name: STAGES[name][0], default="leaving",
        key="t_b", bind="query-params", required=True,
    )  # fmt: skip
    _one_stage(after, stage, getattr(steps, stage), getattr(run_block(before), stage))
    _residual_stream(after, steps)


def _one_stage(after: ToyRun, stage: str, now: np.ndarray, was: np.ndarray) -> None:
    name, words = STAGES[stage]
    residues, width = now.shape
    columns = list(COLUMNS) if stage in _NAMED else [str(i + 1) for i in range(width)]
    blocks, titles = [now], [f"{name}, {residues} × {width}"]
    if after.what_if != UNTOUCHED:
        blocks, titles = [was, now, now - was], ["before", "after", "difference"]
    st.caption(words)
    show_figure(
        vector_strip(blocks, titles, labels(after.sequence), [columns] * len(blocks)),
        key="toy_stage",
        alt=f"{words} Values from {now.min():.2f} to {now.max():.2f}; largest "
        f"difference from the untouched model {abs(now - was).max():.2f}.",
        table={"residue": labels(after.sequence), **dict(zip(columns, now.T, strict=True))},
        code=snippet(
            after,
            f"from core.toy.model import run_block\nprint(run_block(run).{stage}.round(3))",
        ),
    )


def _residual_stream(after: ToyRun, steps: BlockSteps) -> None:
    names, stream = labels(after.sequence), [getattr(steps, name) for name in _STREAM]
    numbers = [str(i) for i in range(1, 1 + len(_STREAM))]
    st.markdown("**The residual stream**: what came in, what each half adds, what leaves.")
    st.caption("; ".join(f"**{i}** {STAGES[n][0]}" for i, n in zip(numbers, _STREAM, strict=True)))
    show_figure(
        vector_strip(stream, numbers, names, [[""] * 8] * len(stream), numbers=False),
        key="toy_stream",
        alt="Five stages of the residual stream; attention adds at most "
        f"{abs(steps.attention).max():.2f}, the feed-forward part "
        f"{abs(steps.feed_forward).max():.2f}.",
        table={
            "stage": np.repeat(_STREAM, len(names)),
            "residue": names * len(_STREAM),
            **{f"number {i}": c for i, c in enumerate(np.concatenate(stream).T, 1)},
        },
        code=snippet(after, "from core.toy.model import run_block\nprint(run_block(run))"),
    )
