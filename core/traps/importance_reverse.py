"""Attention received against the effect of ablation, on a trained reverse model.

In: a Transformer trained to write strings backwards, and a string. Out: `Importance`.
Needs PyTorch.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from core.alphabet import BOS, EOS, RESIDUES, Vocabulary
from core.transformer.masks import causal_mask
from core.transformer.model import Transformer, evaluating
from core.transformer.trace import Trace
from core.traps.ranking import Importance, residue_names


def reverse_importance(
    model: Transformer,
    sequence: str,
    vocabulary: Vocabulary = RESIDUES,
    name: str = "Trained reverse model",
) -> Importance:
    """Importance of every source letter for writing the string backwards.

    Received: cross-attention on the letter, mean over the written tokens. Effect: by how many
    nats the right answer becomes less likely, letter by letter under teacher forcing, when
    neither encoder nor decoder may look at the letter.

    Raises ValueError for a letter that the vocabulary lacks, a string longer than the model can
    read, or a model that was built without cross-attention.
    """
    _check_readable(model, sequence)
    src = torch.tensor([vocabulary.encode(sequence)])
    answer = torch.tensor([[BOS, *vocabulary.encode(sequence[::-1]), EOS]])
    visible = visibilities(len(sequence))
    trace = Trace()
    with evaluating(model):
        untouched = answer_log_probability(model, src, answer, visible[:1], trace)
        ablated = answer_log_probability(model, src, answer, visible[1:])
    names, heads = _cross_attention(trace)
    return Importance(
        name,
        residue_names(sequence),
        names,
        heads,
        (untouched - ablated).double().numpy(),
        "nats lost",
    )


def _check_readable(model: Transformer, sequence: str) -> None:
    if not model.shape.use_cross_attention:
        raise ValueError(
            "This run was trained without cross-attention: it never looks at the letters that it "
            "should reverse, so there is nothing to compare."
        )
    longest = model.shape.max_len - 2
    if not 2 <= len(sequence) <= longest:
        raise ValueError(
            f"{len(sequence)} letters is outside the 2 to {longest} that this model can read."
        )


def _cross_attention(trace: Trace) -> tuple[tuple[str, ...], Float[np.ndarray, "heads n_src"]]:
    """Every head's name, and what it gives to each source letter on average over the answer."""
    crossed = {n: w[0].mean(dim=1) for n, w in trace.weights.items() if n.endswith(".cross")}
    names = tuple(
        f"Layer {name.split('.')[1]}, head {head}"
        for name, weights in crossed.items()
        for head in range(1, len(weights) + 1)
    )
    return names, torch.cat(list(crossed.values())).double().numpy()


def visibilities(length: int) -> Bool[Tensor, "rows 1 length"]:
    """Row 0 shows every source letter; row j hides letter j from every query."""
    hidden = torch.cat([torch.zeros(1, length), torch.eye(length)]).bool()
    return ~hidden.unsqueeze(1)


def answer_log_probability(
    model: Transformer,
    src: Int[Tensor, "1 n_src"],
    answer: Int[Tensor, "1 n_tgt"],
    may_attend: Bool[Tensor, "rows 1 n_src"],
    trace: Trace | None = None,
) -> Float[Tensor, " rows"]:
    """log p(answer | what may be seen), one value per row of `may_attend`."""
    rows = len(may_attend)
    memory = model.encode(src.expand(rows, -1), may_attend, trace=trace)
    given, wanted = answer[:, :-1].expand(rows, -1), answer[:, 1:].expand(rows, -1)
    causal = causal_mask(given.shape[1]) if model.shape.causal else None
    decoded = model.decode(given, memory, may_attend, causal, trace=trace)
    log_p = model.generator(decoded).log_softmax(-1)
    return log_p.gather(-1, wanted.unsqueeze(-1)).sum(dim=(1, 2))
