"""The self-check question on cross-attention, answered by a small encoder-decoder.

Out: a question like the others. Needs PyTorch.
"""

import torch

from core.alphabet import BOS, DEFAULT_SEQUENCE, RESIDUES
from core.transformer.model import Transformer, evaluating
from core.transformer.trace import Trace
from core.traps.question import Question

WRITTEN = 5


def cross_attention() -> Question:
    """What cross-attention connects: the shape of its weights while a string is written."""
    read = len(DEFAULT_SEQUENCE)
    shape = cross_shape(DEFAULT_SEQUENCE, WRITTEN)
    shapes = ((WRITTEN, WRITTEN), (read, read), (read, WRITTEN), (WRITTEN, read))
    said = (
        f"The weights are {shape[0]} × {shape[1]}: a row for each token written (queries, from "
        f"the decoder), a column for each of the {read} letters read (keys and values, from the "
        "encoder's output). Each row asks: which letter do I need next?"
    )
    return Question(
        "Cross-attention",
        f"The encoder has read CASSIRSSYEQYF, the decoder holds {WRITTEN} tokens. What shape have "
        "the cross-attention weights of one head, rows × columns?",
        tuple(f"{rows} × {columns}" for rows, columns in shapes),
        shapes.index(shape),
        (said,) * len(shapes),
    )


def cross_shape(source: str, written: int) -> tuple[int, int]:
    """Rows and columns of one head's cross-attention in an untrained model of two tiny layers."""
    model = Transformer(len(RESIDUES), len(RESIDUES), 8, 2, 16, 2, max_len=64)
    src = torch.tensor([RESIDUES.encode(source)])
    tgt = torch.tensor([[BOS, *RESIDUES.encode(source[::-1])][:written]])
    trace = Trace()
    with evaluating(model):
        model(src, tgt, trace=trace)
    rows, columns = trace.weights["decoder.2.cross"].shape[-2:]
    return rows, columns
