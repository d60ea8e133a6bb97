"""The boxes of the encoder-decoder in the order of the forward pass, and the three families.

In: a model's shape. Out: what the drawing shows, part by part.
"""

from dataclasses import dataclass, replace

from core.transformer.shape import ModelShape
from core.transformer.tour_parts import (
    CROSS_ATTENTION,
    DECODER_ATTENTION,
    ENCODER_ATTENTION,
    GENERATOR,
    NEXT_LETTER,
    Part,
    add_norm,
    embedding,
    feed_forward,
    final_norm,
    norm_first,
    positions,
    tokens,
)


@dataclass(frozen=True)
class Box:
    """One box of the drawing. `members` are the families of models that have it."""

    title: str
    side: str
    part: Part
    repeated: bool = False
    members: tuple[str, ...] = ()


_ENCODER, _DECODER = ("encoder-decoder", "encoder-only"), ("encoder-decoder", "decoder-only")
_BOTH = ("encoder-decoder",)

BOXES = (
    Box("Source tokens", "encoder", tokens("n_src"), False, _ENCODER),
    Box("Source embedding", "encoder", embedding("n_src", "V_src"), False, _ENCODER),
    Box("Source positions", "encoder", positions("n_src"), False, _ENCODER),
    Box("Self-attention", "encoder", ENCODER_ATTENTION, True, _ENCODER),
    Box("Encoder norm 1", "encoder", add_norm("n_src"), True, _ENCODER),
    Box("Encoder feed-forward", "encoder", feed_forward("n_src"), True, _ENCODER),
    Box("Encoder norm 2", "encoder", add_norm("n_src"), True, _ENCODER),
    Box("Output so far", "decoder", tokens("n_tgt"), False, _DECODER),
    Box("Output embedding", "decoder", embedding("n_tgt", "V_tgt"), False, _DECODER),
    Box("Output positions", "decoder", positions("n_tgt"), False, _DECODER),
    Box("Causal self-attention", "decoder", DECODER_ATTENTION, True, _DECODER),
    Box("Decoder norm 1", "decoder", add_norm("n_tgt"), True, _DECODER),
    Box("Cross-attention", "decoder", CROSS_ATTENTION, True, _BOTH),
    Box("Decoder norm 2", "decoder", add_norm("n_tgt"), True, _BOTH),
    Box("Decoder feed-forward", "decoder", feed_forward("n_tgt"), True, _DECODER),
    Box("Decoder norm 3", "decoder", add_norm("n_tgt"), True, _DECODER),
    Box("Generator", "decoder", GENERATOR, False, _DECODER),
    Box("Next letter", "decoder", NEXT_LETTER, False, _DECODER),
)


def boxes_of(shape: ModelShape) -> tuple[Box, ...]:
    """The boxes of a model, from the bottom up; pre-LN puts each norm below its sublayer."""
    return _PRE_NORM_BOXES if shape.pre_norm else BOXES


def _norms_first() -> tuple[Box, ...]:
    """The same boxes with each norm moved below its sublayer, and one more on each stack."""
    boxes = list(BOXES)
    for at, box in enumerate(BOXES):
        if box.part.kind == "norm":
            length = box.part.flow[0][1][1]
            boxes[at - 1 : at + 1] = [replace(box, part=norm_first(length)), BOXES[at - 1]]
    for above, side in (("Generator", "decoder"), ("Output so far", "encoder")):
        place = [box.title for box in boxes].index(above)
        last = boxes[place - 1]
        part = final_norm(last.part.flow[0][1][1])
        boxes.insert(place, Box(f"{side.title()} final norm", side, part, False, last.members))
    return tuple(boxes)


_PRE_NORM_BOXES = _norms_first()


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
