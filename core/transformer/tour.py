"""The parts of the encoder-decoder in the order of the forward pass, each explained.

In: sizes. Out: what each box of the drawing does, its formula, shapes, weights and source.
Knows nothing of PyTorch until the source of a class is asked for.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from core.transformer.parameters import (
    attention_parameters,
    feed_forward_parameters,
    norm_parameters,
)
from core.transformer.shape import ModelShape

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Sizes:
    """What the axes of a shape stand for: a batch of B sources and targets, and a model."""

    batch: int
    n_src: int
    n_tgt: int
    shape: ModelShape

    def of(self, axes: Axes) -> tuple[int, ...]:
        """The number behind each axis name."""
        values = {
            "B": self.batch,
            "n_src": self.n_src,
            "n_tgt": self.n_tgt,
            "d_model": self.shape.d_model,
            "h": self.shape.num_heads,
            "d_k": self.shape.d_k,
            "d_ff": self.shape.d_ff,
            "V_src": self.shape.src_vocab,
            "V_tgt": self.shape.tgt_vocab,
        }
        return tuple(values[axis] for axis in axes)


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


@dataclass(frozen=True)
class Box:
    """One box of the drawing. `members` are the families of models that have it."""

    title: str
    side: str
    part: Part
    repeated: bool = False
    members: tuple[str, ...] = ()


def _tokens(length: str) -> Part:
    return Part(
        "tokens",
        "Letters become whole numbers. 0 fills up shorter rows (PAD), 1 begins an output (BOS), "
        "2 ends it (EOS), letters follow from 3.",
        r"\text{ids} \in \{0, \dots, V - 1\}",
        (("ids", ("B", length)),),
        lambda shape: 0,
        "core.alphabet:Vocabulary",
    )


def _embedding(length: str, vocabulary: str) -> Part:
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


def _positions(length: str) -> Part:
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


def _add_norm(length: str) -> Part:
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


def _feed_forward(length: str) -> Part:
    return Part(
        "feed-forward",
        "Each position thinks by itself: widen, cut negatives, narrow. Two thirds of a block's "
        "weights sit here when d_ff is four times d_model.",
        r"\max(0,\, x W_1 + b_1)\, W_2 + b_2",
        (
            ("x", ("B", length, "d_model")),
            ("hidden", ("B", length, "d_ff")),
            ("out", ("B", length, "d_model")),
        ),
        lambda shape: feed_forward_parameters(shape.d_model, shape.d_ff),
        "core.transformer.feed_forward:PositionwiseFeedForward",
    )


_GENERATOR = Part(
    "head",
    "One score for every token of the vocabulary, at every position. Softmax makes "
    "probabilities of them.",
    r"x W_{out} + b_{out}",
    (("x", ("B", "n_tgt", "d_model")), ("scores", ("B", "n_tgt", "V_tgt"))),
    lambda shape: (shape.d_model + 1) * shape.tgt_vocab,
    "core.transformer.model:Transformer.forward",
)
_NEXT_LETTER = Part(
    "tokens",
    "The last position's probabilities name the next letter. It is appended and read again, "
    "until the end token comes.",
    r"\text{next} = \arg\max_{v}\, p(v \mid \text{source}, \text{output so far})",
    (("probabilities", ("B", "V_tgt")), ("next ids", ("B",))),
    lambda shape: 0,
    "core.transformer.decoding:greedy_search",
)
_ENCODER_ATTENTION = _attention(
    "Every residue gathers from every other, in both directions, several heads at once.",
    "n_src",
    "n_src",
    "",
)
_DECODER_ATTENTION = _attention(
    "Every output position gathers from itself and from what was written before it. The causal "
    "mask forbids the future, which it has to predict.",
    "n_tgt",
    "n_tgt",
    r" + \text{mask}",
)
_CROSS_ATTENTION = _attention(
    "The output asks, the source answers: queries come from the decoder, keys and values from "
    "the encoder's output.",
    "n_tgt",
    "n_src",
    "",
)

_ENCODER, _DECODER = ("encoder-decoder", "encoder-only"), ("encoder-decoder", "decoder-only")
_BOTH = ("encoder-decoder",)

BOXES = (
    Box("Source tokens", "encoder", _tokens("n_src"), False, _ENCODER),
    Box("Source embedding", "encoder", _embedding("n_src", "V_src"), False, _ENCODER),
    Box("Source positions", "encoder", _positions("n_src"), False, _ENCODER),
    Box("Self-attention", "encoder", _ENCODER_ATTENTION, True, _ENCODER),
    Box("Encoder norm 1", "encoder", _add_norm("n_src"), True, _ENCODER),
    Box("Encoder feed-forward", "encoder", _feed_forward("n_src"), True, _ENCODER),
    Box("Encoder norm 2", "encoder", _add_norm("n_src"), True, _ENCODER),
    Box("Output so far", "decoder", _tokens("n_tgt"), False, _DECODER),
    Box("Output embedding", "decoder", _embedding("n_tgt", "V_tgt"), False, _DECODER),
    Box("Output positions", "decoder", _positions("n_tgt"), False, _DECODER),
    Box("Causal self-attention", "decoder", _DECODER_ATTENTION, True, _DECODER),
    Box("Decoder norm 1", "decoder", _add_norm("n_tgt"), True, _DECODER),
    Box("Cross-attention", "decoder", _CROSS_ATTENTION, True, _BOTH),
    Box("Decoder norm 2", "decoder", _add_norm("n_tgt"), True, _BOTH),
    Box("Decoder feed-forward", "decoder", _feed_forward("n_tgt"), True, _DECODER),
    Box("Decoder norm 3", "decoder", _add_norm("n_tgt"), True, _DECODER),
    Box("Generator", "decoder", _GENERATOR, False, _DECODER),
    Box("Next letter", "decoder", _NEXT_LETTER, False, _DECODER),
)


@dataclass(frozen=True)
class Family:
    """One of the three kinds of Transformer built from these parts."""

    name: str
    attention: str
    trained_to: str
    examples: str
    good_for: str


FAMILIES = (
    Family(
        "encoder-decoder",
        "both directions over the source; backwards only over the output, and across",
        "map one sequence to another",
        "the original, T5, Whisper",
        "translation, summaries, reversing a CDR3",
    ),
    Family(
        "encoder-only",
        "both directions",
        "fill in hidden tokens",
        "BERT, ESM-2, TRB-mini",
        "embeddings, classification, judging one residue in its context",
    ),
    Family(
        "decoder-only",
        "backwards only (causal)",
        "predict the next token",
        "GPT, Llama, ProtGPT2",
        "writing: text, code, new protein sequences",
    ),
)
