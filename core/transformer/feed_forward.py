"""The position-wise feed-forward network: each position thinks by itself.

In and out: (B, L, d_model).
"""

from jaxtyping import Float
from torch import Tensor, nn


class PositionwiseFeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, with dropout on the hidden activations.

    Source: Vaswani et al. 2017, equation 2.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1):
        super().__init__()
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "B L d_model"]) -> Float[Tensor, "B L d_model"]:
        """Widen to d_ff, cut negatives, narrow to d_model again."""
        return self.narrow(self.dropout(self.widen(x).relu()))
