"""What each kind of box of the drawing does: words, formula, shapes, weights, source.

In: sizes. Out: plain values. Knows nothing of PyTorch until the source of a class is asked for.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from core.alphabet import BOS, EOS, FIRST_LETTER_ID, PAD
from core.transformer.parameters import (
    attention_parameters,
    feed_forward_parameters,
    norm_parameters,
)
from core.transformer.shape import Axes, ModelShape


@dataclass(frozen=True)
class Part:
    """One kind of box. `flow` names each array on the way through and its axes."""

    kind: str
    does: str
    formula: str
    flow: tuple[tuple[str, Axes], ...]
    count: Callable[[ModelShape], int]
    code: str

    def source(self) -> str:
        """The Python source of what the app really runs for this part."""
        module, path = self.code.split(":")
        found = reduce(getattr, path.split("."), importlib.import_module(module))
        return inspect.cleandoc("\n" + inspect.getsource(found))


def tokens(length: str) -> Part:
    """Letters as numbers, at the bottom of a side."""
    return Part(
        "tokens",
        f"Letters become whole numbers. {PAD} fills up shorter rows (PAD), {BOS} begins an output "
        f"(BOS), {EOS} ends it (EOS), letters follow from {FIRST_LETTER_ID}.",
        r"\text{ids} \in \{0, \dots, V - 1\}",
        (("ids", ("B", length)),),
        lambda shape: 0,
        "core.alphabet:Vocabulary",
    )


def embedding(length: str, vocabulary: str) -> Part:
    """Numbers as vectors."""
    return Part(
        "embedding",
        "Each id picks its row of a trained table. Multiplied by the root of the width, so that "
        "the positions added next do not drown it.",
        r"x = E[\text{id}] \cdot \sqrt{d_\text{model}}",
        (
            ("ids", ("B", length)),
            ("table E", (vocabulary, "d_model")),
            ("x", ("B", length, "d_model")),
        ),
        lambda shape: (
            (shape.src_vocab if vocabulary == "V_src" else shape.tgt_vocab) * shape.d_model
        ),
        "core.transformer.model:Transformer._embed",
    )


def positions(length: str) -> Part:
    """The stamp of position."""
    return Part(
        "positions",
        "Adds a fixed pattern of waves that differs at every position. Without it, attention "
        "could not tell CASS from SSAC. Nothing here is trained.",
        r"\begin{aligned} x_{pos} &+ PE_{pos} \\ PE_{pos,2i} &= \sin(pos / 10000^{2i/d}) \\ "
        r"PE_{pos,2i+1} &= \cos(pos / 10000^{2i/d}) \end{aligned}",
        (("x", ("B", length, "d_model")), ("x + PE", ("B", length, "d_model"))),
        lambda shape: 0,
        "core.transformer.positions:PositionalEncoding",
    )


def _attention(does: str, queries: str, keys: str, mask: str) -> Part:
    return Part(
        "attention",
        does,
        r"\text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}" + mask + r"\right) V",
        (
            ("x", ("B", queries, "d_model")),
            ("Q", ("B", "h", queries, "d_k")),
            ("K, V", ("B", "h", keys, "d_k")),
            ("weights", ("B", "h", queries, keys)),
            ("out", ("B", queries, "d_model")),
        ),
        lambda shape: attention_parameters(shape.d_model),
        "core.transformer.attention:MultiHeadAttention",
    )


def add_norm(length: str) -> Part:
    """The paper's add & norm, above its sublayer (post-LN)."""
    return Part(
        "norm",
        "Adds what came in to what the part below made of it, so that the signal and the "
        "gradient have a straight way through; then every position is brought to mean 0 and "
        "variance 1, by itself.",
        r"\begin{gathered} \text{LN}(x + \text{Dropout}(\text{sublayer}(x))) \\ "
        r"\text{LN}(z) = \gamma\,\frac{z - \mu}{\sqrt{\sigma^2 + 10^{-5}}} + \beta \end{gathered}",
        (("x", ("B", length, "d_model")), ("out", ("B", length, "d_model"))),
        lambda shape: norm_parameters(shape.d_model),
        "core.transformer.normalisation:AddNorm",
    )


def norm_first(length: str) -> Part:
    """The pre-LN norm: it stands before its sublayer, the addition after."""
    return Part(
        "norm",
        "Every position is brought to mean 0 and variance 1, by itself, and only then goes into "
        "the part above. What comes out there is added (+) to the stream, which nothing has "
        "touched: signal and gradient have a straight way through.",
        r"\begin{gathered} x + \text{Dropout}(\text{sublayer}(\text{LN}(x))) \\ "
        r"\text{LN}(z) = \gamma\,\frac{z - \mu}{\sqrt{\sigma^2 + 10^{-5}}} + \beta \end{gathered}",
        (("x", ("B", length, "d_model")), ("LN(x)", ("B", length, "d_model"))),
        lambda shape: norm_parameters(shape.d_model),
        "core.transformer.normalisation:AddNorm",
    )


def final_norm(length: str) -> Part:
    """Pre-LN only: the norm on top of a stack."""
    return Part(
        "norm",
        "Nothing below has normalised the stream itself, which has grown with every addition. So "
        "it is done once, at the end.",
        r"\text{LN}(x)",
        (("x", ("B", length, "d_model")), ("out", ("B", length, "d_model"))),
        lambda shape: norm_parameters(shape.d_model),
        "core.transformer.normalisation:LayerNorm",
    )


def feed_forward(length: str) -> Part:
    """The network that every position passes alone."""
    return Part(
        "feed-forward",
        "Each position thinks by itself: widen, cut negatives, narrow.",
        r"\max(0,\, x W_1 + b_1)\, W_2 + b_2",
        (
            ("x", ("B", length, "d_model")),
            ("hidden", ("B", length, "d_ff")),
            ("out", ("B", length, "d_model")),
        ),
        lambda shape: feed_forward_parameters(shape.d_model, shape.d_ff),
        "core.transformer.feed_forward:PositionwiseFeedForward",
    )


GENERATOR = Part(
    "head",
    "One score for every token of the vocabulary, at every position. Softmax makes "
    "probabilities of them.",
    r"x W_{out} + b_{out}",
    (("x", ("B", "n_tgt", "d_model")), ("scores", ("B", "n_tgt", "V_tgt"))),
    lambda shape: (shape.d_model + 1) * shape.tgt_vocab,
    "core.transformer.model:Transformer.forward",
)
NEXT_LETTER = Part(
    "tokens",
    "The last position's probabilities name the next letter. It is appended and read again, "
    "until the end token comes.",
    r"\text{next} = \arg\max_{v}\, p(v \mid \text{source}, \text{output so far})",
    (("probabilities", ("B", "V_tgt")), ("next ids", ("B",))),
    lambda shape: 0,
    "core.transformer.decoding:greedy_search",
)
ENCODER_ATTENTION = _attention(
    "Every residue gathers from every other, in both directions, several heads at once.",
    "n_src",
    "n_src",
    "",
)
DECODER_ATTENTION = _attention(
    "Every output position gathers from itself and from what was written before it. The causal "
    "mask forbids the future, which it has to predict.",
    "n_tgt",
    "n_tgt",
    r" + \text{mask}",
)
CROSS_ATTENTION = _attention(
    "The output asks, the source answers: queries come from the decoder, keys and values from "
    "the encoder's output.",
    "n_tgt",
    "n_src",
    "",
)
