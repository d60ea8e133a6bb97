"""Layer normalisation, and where it stands around a residual addition.

In and out: (..., d_model). Each position is normalised by itself, so neither the batch nor
the length matters.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def normalise(
    x: Float[Tensor, "*lead d_model"],
    gamma: Float[Tensor, " d_model"],
    beta: Float[Tensor, " d_model"],
    eps: float = 1e-5,
) -> Float[Tensor, "*lead d_model"]:
    """gamma * (x - mean) / sqrt(biased variance + eps) + beta, written out.

    Source: Ba et al. 2016, equation 4.
    """
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return gamma * centred / torch.sqrt(variance + eps) + beta


class LayerNorm(nn.Module):
    """`normalise` with trained gamma and beta, run as torch's single fused kernel.

    Tests and the parity table hold the kernel against the formula written out.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*lead d_model"]) -> Float[Tensor, "*lead d_model"]:
        """Mean 0 and variance 1 along d_model, then scale and shift."""
        return F.layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.eps)


class AddNorm(nn.Module):
    """A residual connection with its norm and dropout.

    Post-LN, the paper's: LayerNorm(x + Dropout(sublayer(x))), section 3.1 and 5.4.
    Pre-LN: x + Dropout(sublayer(LayerNorm(x))), Xiong et al. 2020.
    """

    def __init__(self, d_model: int, dropout: float = 0.1, pre_norm: bool = False):
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self, x: Float[Tensor, "B L d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B L d_model"]:
        """Run `sublayer` inside the residual connection."""
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
