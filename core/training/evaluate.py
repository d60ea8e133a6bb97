"""How well a model reverses: held-out strings counted, one string decoded, attention looked at.

In: a model and a recipe. Out: plain numbers, strings and arrays. Never changes the model.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from core.alphabet import PAD, Vocabulary
from core.training.events import Snapshot
from core.training.recipe import Recipe
from core.training.reverse_task import Batch, draw_batch, encode_strings
from core.transformer.decoding import beam_search, greedy_decode
from core.transformer.model import Transformer, evaluating
from core.transformer.trace import Trace

Predict = Callable[[Transformer, Recipe, Batch], Tensor]

_HELD_OUT_SEED = 2**40  # far from every seed that a recipe may have for training
_AT_ONCE = {"cpu": 100}  # strings; elsewhere all that a look has, as few calls as can be


@dataclass(frozen=True)
class Exactness:
    """Strings reversed exactly, EOS included, out of `of`; `letters_right` a share of tokens."""

    exact: int
    of: int
    letters_right: float


def held_out(recipe: Recipe, size: int, device: torch.device | str = "cpu") -> Batch:
    """`size` strings that training with this seed does not draw; the same on every device."""
    generator = torch.Generator().manual_seed(_HELD_OUT_SEED + recipe.seed)
    batch = draw_batch(recipe, size, generator)
    return Batch(batch.src.to(device), batch.tgt.to(device), batch.labels.to(device))


def exactness(
    model: Transformer,
    recipe: Recipe,
    batch: Batch,
    predict: Predict | None = None,
    breathe: Callable[[], None] = lambda: None,
) -> Exactness:
    """Count what the model, decoding freely, reverses exactly; `breathe` between two parts of it.

    `predict` is `decoded`, or the faster `best_next` where that gives the same count (the
    default). Greedy decoding is exact if and only if every token is the likeliest after the
    true beginning: up to the first mistake both read the same beginning. So one parallel pass
    counts it, except with a beam or without the causal mask, where it would see the answer.
    """
    same_count = recipe.beam == 1 and recipe.causal_mask
    predict = predict or (best_next if same_count else decoded)
    exact, right, tokens = 0, 0, 0
    size = _AT_ONCE.get(batch.src.device.type, 1000)
    for start in range(0, len(batch), size):
        breathe()
        part = Batch(*(ids[start : start + size] for ids in vars(batch).values()))
        real = part.labels != PAD
        same = (predict(model, recipe, part) == part.labels) & real
        exact += int((same == real).all(1).sum())
        right, tokens = right + int(same.sum()), tokens + int(real.sum())
    return Exactness(exact, len(batch), right / tokens)


def best_next(model: Transformer, recipe: Recipe, batch: Batch) -> Int[Tensor, "B n_tgt"]:
    """The likeliest token after each true beginning."""
    with evaluating(model):
        return model(batch.src, batch.tgt).argmax(-1)


def decoded(model: Transformer, recipe: Recipe, batch: Batch) -> Int[Tensor, "B n_tgt"]:
    """What the model writes by itself, BOS left out, padded to the labels' width."""
    ids = decode(model, recipe, batch.src)[:, 1:]
    return F.pad(ids, (0, batch.labels.shape[1] - ids.shape[1]), value=PAD)


def decode(model: Transformer, recipe: Recipe, src: Int[Tensor, "B n_src"]) -> Int[Tensor, "B n"]:
    """Greedy decoding, or beam search if the recipe keeps more than one partial answer."""
    return greedy_decode(model, src) if recipe.beam == 1 else beam_search(model, src, recipe.beam)


def decode_string(model: Transformer, recipe: Recipe, string: str) -> str:
    """`string` as the model reverses it, up to the EOS that it writes."""
    src = encode_strings([string], recipe.letters, next(model.parameters()).device).src
    return Vocabulary(recipe.letters).decode(decode(model, recipe, src)[0].tolist())


def snapshot(model: Transformer, recipe: Recipe, string: str, step: int) -> Snapshot | None:
    """Cross-attention of every decoder layer and head on `string`, teacher-forced.

    None for a model without cross-attention.
    """
    if not model.shape.use_cross_attention:
        return None
    batch, trace = (
        encode_strings([string], recipe.letters, next(model.parameters()).device),
        Trace(),
    )
    with evaluating(model):
        model(batch.src, batch.tgt, trace=trace)
    names = [f"decoder.{number}.cross" for number in range(1, model.shape.num_layers + 1)]
    weights = torch.stack([trace.weights[name][0] for name in names]).float().cpu().numpy()
    return Snapshot(
        step,
        ("BOS", *string[::-1]),
        tuple(string),
        weights.astype(np.float16),
        tuple(antidiagonal_mean(layer) for layer in weights),
    )


def antidiagonal_mean(weights: Float[np.ndarray, "h n_query n_key"]) -> float:
    """Mean weight on the letter to be written next, over heads and over the rows with one.

    Row i writes letter n_key - 1 - i of the source, so the map of a model that reverses shows
    an anti-diagonal.
    """
    length = weights.shape[-1]
    rows = np.arange(length)
    return float(weights[:, rows, length - 1 - rows].mean())
