"""Stamping vectors with their position: fixed waves (the paper's) and a learned table.

In: embeddings (B, L, d_model). Out: the same shape, with the position added.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from core.transformer.waves import sinusoidal_table


def _check_length(end: int, max_len: int) -> None:
    if end > max_len:
        raise ValueError(
            f"Position {end:,} is beyond the {max_len:,} that this model was built for."
        )


class PositionalEncoding(nn.Module):
    """x + PE, then dropout. The table is a buffer: saved and moved, never trained.

    Source: Vaswani et al. 2017, section 3.5 (waves) and 5.4 (dropout).
    """

    table: Float[Tensor, "max_len d_model"]

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        waves = torch.tensor(sinusoidal_table(max_len, d_model), dtype=torch.get_default_dtype())
        self.register_buffer("table", waves)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "B L d_model"], offset: int = 0
    ) -> Float[Tensor, "B L d_model"]:
        """Add rows offset .. offset + L - 1. Raises ValueError beyond the table's end."""
        end = offset + x.shape[1]
        _check_length(end, len(self.table))
        return self.dropout(x + self.table[offset:end])


class LearnedPositions(nn.Module):
    """x + a trained vector per position, then dropout (BERT, GPT-2). Cannot go past max_len."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.1):
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.table, std=0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "B L d_model"], offset: int = 0
    ) -> Float[Tensor, "B L d_model"]:
        """Add rows offset .. offset + L - 1. Raises ValueError beyond the table's end."""
        end = offset + x.shape[1]
        _check_length(end, len(self.table))
        return self.dropout(x + self.table[offset:end])
