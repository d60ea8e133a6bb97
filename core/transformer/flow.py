"""Every array on the way through one layer of each side, for one source and one output.

In: a model and ids. Out: what leaves each box of the drawing (tour.py), by the box's title.
The same modules run as in the model's own forward, called one after the other.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import Tensor

from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.masks import make_masks
from core.transformer.model import Transformer, evaluating

Sublayer = Callable[[Tensor], Tensor]


def arrays_by_box(
    model: Transformer, src: tuple[int, ...], tgt: tuple[int, ...], layer: int
) -> dict[str, np.ndarray]:
    """Arrays (length, width) without the batch axis; layers count from 1.

    Raises ValueError when the model has no such layer.
    """
    if not 1 <= layer <= model.shape.num_layers:
        raise ValueError(f"Layer {layer}: this model has layers 1 to {model.shape.num_layers}.")
    flow = _Flow()
    with evaluating(model):
        source, output = torch.tensor([src]), torch.tensor([tgt])
        src_mask, tgt_mask = make_masks(source, output, causal=model.shape.causal)
        x = _embedded(model, source, "Source", flow)
        for number, encoder_layer in enumerate(_encoder_layers(model), 1):
            x = _encoder_layer(encoder_layer, x, src_mask, flow if number == layer else _Flow())
        memory = model.encoder.final_norm(x)
        x = _embedded(model, output, "Output", flow)
        for number, decoder_layer in enumerate(_decoder_layers(model), 1):
            kept = flow if number == layer else _Flow()
            x = _decoder_layer(decoder_layer, x, memory, tgt_mask, src_mask, kept)
        logits = flow.keep("Generator", model.generator(model.decoder.final_norm(x)))
        flow.keep("Next letter", logits.softmax(-1))
    return {title: tensor[0].float().numpy() for title, tensor in flow.kept.items()}


def _encoder_layers(model: Transformer) -> list[EncoderLayer]:
    return cast(list[EncoderLayer], list(model.encoder.layers))


def _decoder_layers(model: Transformer) -> list[DecoderLayer]:
    return cast(list[DecoderLayer], list(model.decoder.layers))


class _Flow:
    """What was kept so far, by title."""

    def __init__(self) -> None:
        self.kept: dict[str, Tensor] = {}

    def keep(self, title: str, x: Tensor) -> Tensor:
        self.kept[title] = x
        return x

    def through(self, title: str, sublayer: Sublayer) -> Sublayer:
        return lambda x: self.keep(title, sublayer(x))


def _embedded(model: Transformer, ids: Tensor, side: str, flow: _Flow) -> Tensor:
    table = model.src_embedding if side == "Source" else model.tgt_embedding
    flow.keep(f"{side} embedding", table(ids) * model.shape.d_model**0.5)
    return flow.keep(f"{side} positions", model._embed(table, ids))


def _encoder_layer(layer: EncoderLayer, x: Tensor, mask: Tensor, flow: _Flow) -> Tensor:
    attend = flow.through("Self-attention", lambda y: layer.self_attention(y, may_attend=mask))
    x = flow.keep("Encoder norm 1", layer.around_attention(x, attend))
    think = flow.through("Encoder feed-forward", layer.feed_forward)
    return flow.keep("Encoder norm 2", layer.around_feed_forward(x, think))


def _decoder_layer(
    layer: DecoderLayer, x: Tensor, memory: Tensor, mask: Tensor, src_mask: Tensor, flow: _Flow
) -> Tensor:
    attend = flow.through(
        "Causal self-attention", lambda y: layer.self_attention(y, may_attend=mask)
    )
    x = flow.keep("Decoder norm 1", layer.around_self(x, attend))
    if layer.use_cross_attention:
        cross = flow.through(
            "Cross-attention", lambda y: layer.cross_attention(y, memory, src_mask)
        )
        x = flow.keep("Decoder norm 2", layer.around_cross(x, cross))
    think = flow.through("Decoder feed-forward", layer.feed_forward)
    return flow.keep("Decoder norm 3", layer.around_feed_forward(x, think))
