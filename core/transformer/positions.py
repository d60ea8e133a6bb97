"""Stamping vectors with their position: fixed waves, as the paper does.

In: embeddings (B, L, d_model). Out: the same shape, with the position added.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from core.transformer.waves import sinusoidal_table


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
        if end > len(self.table):
            raise ValueError(
                f"Position {end:,} is beyond the {len(self.table):,} that this model was built for."
            )
        return self.dropout(x + self.table[offset:end])
