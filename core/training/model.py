"""The Transformer that a recipe describes, with its first weights drawn from the seed."""

import torch
from torch import nn

from core.alphabet import Vocabulary
from core.training.recipe import Recipe
from core.transformer.attention import MultiHeadAttention
from core.transformer.feed_forward import PositionwiseFeedForward
from core.transformer.model import Transformer

PLAIN_DEVIATION = 0.02


def build_model(recipe: Recipe) -> Transformer:
    """The model on the CPU. The same seed gives the same weights; global randomness is untouched.

    Long enough for the longest string, BOS and EOS.
    """
    vocabulary = len(Vocabulary(recipe.letters))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = Transformer(
            vocabulary,
            vocabulary,
            recipe.d_model,
            recipe.num_heads,
            recipe.d_ff,
            recipe.num_layers,
            recipe.dropout,
            recipe.max_length + 2,
            use_positions=recipe.positions,
            causal=recipe.causal_mask,
            use_cross_attention=recipe.cross_attention,
        )
        if not recipe.xavier:
            _draw_plainly(model)
    _scale(model, recipe)
    return model


def _draw_plainly(model: nn.Module) -> None:
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=PLAIN_DEVIATION)


@torch.no_grad()
def _scale(model: Transformer, recipe: Recipe) -> None:
    for embedding in (model.src_embedding, model.tgt_embedding):
        embedding.weight.mul_(recipe.embedding_scale)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.project_out.weight.mul_(recipe.branch_scale)
        elif isinstance(module, PositionwiseFeedForward):
            module.narrow.weight.mul_(recipe.branch_scale)
