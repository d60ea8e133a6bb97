"""Attention received against the effect of ablation, on a masked protein language model.

In: a loaded model, a CDR3, and which of its residues the model has to guess. Out: `Importance`
of the CDR3's other residues for that guess. Needs PyTorch.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.alphabet import clean_sequence
from core.protein import forward
from core.protein.chain import DEFAULT_J, DEFAULT_V, Chain
from core.protein.model import LanguageModel
from core.traps.ranking import Importance, residue_names

MAX_LENGTH = 60


def protein_importance(model: LanguageModel, cdr3: str, hidden: int) -> Importance:
    """Which residues the guess of residue `hidden` (1-based) looks at, and which it needs.

    Received: attention from the hidden place. Effect: share of
    the guess's probability (0 to 1, total variation) that moves when the residue is hidden too.
    The chain around the CDR3 is TRBV19's and TRBJ2-7's.

    Raises SequenceError for text that is no sequence of 2 to 60 residues, ValueError for a
    hidden place outside it.
    """
    letters = clean_sequence(cdr3, min_length=2, max_length=MAX_LENGTH).sequence
    if not 1 <= hidden <= len(letters):
        raise ValueError(f"Residue {hidden} is outside this CDR3: choose 1 to {len(letters)}.")
    chain = embedded(letters)
    others = [i for i in range(1, len(letters) + 1) if i != hidden]
    at = [chain.token_index(len(DEFAULT_V) + place) for place in (hidden, *others)]
    names = residue_names(letters)
    return Importance(
        model.label,
        tuple(names[i - 1] for i in others),
        tuple(
            f"Layer {layer}, head {head}"
            for layer in range(1, model.num_layers + 1)
            for head in range(1, model.num_heads + 1)
        ),
        attention_from(model, chain, at[0])[:, at[1:]],
        probability_moved(model, chain, at[0], at[1:]),
        f"share of the guess of {names[hidden - 1]} moved",
    )


def embedded(cdr3: str) -> Chain:
    """The published chain with this CDR3 in place of its own."""
    first = len(DEFAULT_V) + 1
    return Chain(
        DEFAULT_V + cdr3 + DEFAULT_J, name=cdr3, cdr3=(first, first + len(cdr3) - 1), leader_end=19
    )


@torch.no_grad()
def attention_from(model: LanguageModel, chain: Chain, at: int) -> Float[np.ndarray, "heads L"]:
    """Weights that the masked token at index `at` gives every token, layer by layer."""
    tokens = _masked(model, chain, [[at]])
    rows = [
        forward.attention_weights(model.module, tokens, layer)[0, :, at]  # (h, n_key)
        for layer in range(1, model.num_layers + 1)
    ]
    return np.asarray(torch.cat(rows).double().numpy())


@torch.no_grad()
def probability_moved(
    model: LanguageModel, chain: Chain, at: int, also: list[int]
) -> Float[np.ndarray, " n"]:
    """Total variation between the guess at `at` with only it masked, and with one more masked."""
    tokens = _masked(model, chain, [[at], *([at, other] for other in also)])
    logits = forward.masked_logits(model.module, tokens, torch.full((len(tokens),), at))
    guesses, _ = model.over_residues(logits)
    return np.asarray(np.abs(guesses[1:] - guesses[0]).sum(axis=1) / 2)


def _masked(model: LanguageModel, chain: Chain, hidden: list[list[int]]) -> Int[Tensor, "rows L"]:
    tokens = model.tokens(chain).repeat(len(hidden), 1)
    for row, places in zip(tokens, hidden, strict=True):
        row[places] = model.alphabet.mask_idx
    return tokens
