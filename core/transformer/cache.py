"""Keys and values that decoding has already computed, passed into forward for one decode.

Valid only under a causal mask: then a new token changes nothing that came before it.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

KeysValues = tuple[Float[Tensor, "B h n_key d_k"], Float[Tensor, "B h n_key d_k"]]


class KeyValueCache:
    """Keys and values (B, h, n_key, d_k) by the name of their attention."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Tensor, Tensor]] = {}
        self.length = 0

    def extend(self, name: str, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append the new positions of a self-attention and return all positions so far."""
        if name in self._held:
            old_keys, old_values = self._held[name]
            keys, values = torch.cat([old_keys, keys], 2), torch.cat([old_values, values], 2)
        self._held[name] = keys, values
        self.length = keys.shape[2]
        return keys, values

    def once(self, name: str, compute: Callable[[], KeysValues]) -> KeysValues:
        """Keys and values of a cross-attention, computed from the encoder's output once."""
        if name not in self._held:
            self._held[name] = compute()
        return self._held[name]

    def choose_rows(self, rows: Int[Tensor, " n_rows"]) -> None:
        """Keep these rows of the batch, in this order (beam search reorders its outputs)."""
        for name, (keys, values) in self._held.items():
            self._held[name] = keys[rows], values[rows]
