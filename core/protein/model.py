"""A loaded protein language model: the module, its alphabet, a lock, and what it is called.

In: chains. Out: token rows, probabilities over the 20 residues and the mass outside them.
Knows nothing of files.
"""

import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.alphabet import AMINO_ACIDS
from core.protein import fast, forward
from core.protein.chain import Chain

PACKED_UP_TO = 100_000_000
_PACKED: "weakref.WeakKeyDictionary[LanguageModel, weakref.ref[fast.FastModel]]" = (
    weakref.WeakKeyDictionary()
)
_PACKING = threading.Lock()


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A fair-esm ESM-2 `module` in evaluation mode and float32, with its `alphabet`.

    `fingerprint` (sha256 of the weight file) names the weights in caches. `lock` is for whoever
    calls the module's own forward, which is not thread-safe; the functions of this package do
    not need it, because they write nothing on the module.
    """

    name: str
    label: str
    knows: str
    module: Any
    alphabet: Any
    fingerprint: str
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def num_layers(self) -> int:
        return int(self.module.num_layers)

    @property
    def num_heads(self) -> int:
        return int(self.module.attention_heads)

    @property
    def parameters(self) -> int:
        """Number of weights, counted."""
        return sum(p.numel() for p in self.module.parameters())

    @property
    def residue_ids(self) -> list[int]:
        """Token ids of the 20 residues in the order of AMINO_ACIDS."""
        return [self.alphabet.get_idx(letter) for letter in AMINO_ACIDS]

    def tokens(self, chain: Chain) -> Int[Tensor, " L"]:
        """Token ids of the chain with the start and end token (L = residues + 2)."""
        ids = [self.alphabet.get_idx(letter) for letter in chain.sequence]
        row = torch.tensor([self.alphabet.cls_idx, *ids, self.alphabet.eos_idx])
        assert len(row) == len(chain) + 2
        return row

    @torch.no_grad()
    def packed(self, tokens: int) -> fast.FastModel | None:
        """The weights made ready for a scan in batches of about `tokens` tokens.

        Scans at one time share them. None for a model so large that a second copy of its weights
        would be a burden.
        """
        if self.parameters > PACKED_UP_TO:
            return None
        with _PACKING:  # the second of two that start together waits for the first
            in_use = _PACKED.get(self)
            packed = in_use() if in_use else None
            if packed is None:
                packed = fast.pack(self.module, tokens)
                _PACKED[self] = weakref.ref(packed)
        return packed

    @torch.no_grad()
    def guess_hidden(
        self, chain: Chain, positions: Sequence[int], packed: fast.FastModel | None = None
    ) -> tuple[Float[np.ndarray, "n 20"], Float[np.ndarray, " n"]]:
        """Probabilities at each 1-based position with that residue, and only that, hidden.

        Softmax over the 20 residues in the order of AMINO_ACIDS; the second value is the mass
        that the softmax over the model's whole alphabet puts outside them. One masked copy of
        the chain per position, all in one batch; `packed` weights give the same, sooner.
        """
        at = torch.tensor([chain.token_index(position) for position in positions])
        row, mask = self.tokens(chain), self.alphabet.mask_idx
        if packed is not None:
            return self.over_residues(fast.masked_logits(packed, row, at, mask))
        copies = row.repeat(len(at), 1)
        copies[torch.arange(len(at)), at] = mask
        return self.over_residues(forward.masked_logits(self.module, copies, at))

    def over_residues(
        self, logits: Float[Tensor, "n V"]
    ) -> tuple[Float[np.ndarray, "n 20"], Float[np.ndarray, " n"]]:
        """Softmax over the 20 residues, and the probability that lies outside them.

        Raises FloatingPointError when the model returned something that is not a number.
        """
        if not torch.isfinite(logits).all():
            raise FloatingPointError(f"{self.label} returned numbers that are not finite.")
        wide = logits.double()
        residues = wide[:, self.residue_ids]
        inside = torch.exp(torch.logsumexp(residues, -1) - torch.logsumexp(wide, -1))
        return residues.softmax(-1).numpy(), (1 - inside).clamp(min=0).numpy()
