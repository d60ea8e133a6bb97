"""The recipe of TRB-mini: masked-language training of an ESM-2 on simulated beta chains.

In: chains and a MiniRecipe. Out: plain numbers while it trains, then a weight file in the form
that `checkpoint.py` reads. Objective: Devlin et al., 2019; Lin et al., Science 379 (2023).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional as F

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain

CHOSEN, MASKED, RANDOM = 0.15, 0.8, 0.1


@dataclass(frozen=True)
class MiniRecipe:
    """How to train; the defaults are those of the shipped TRB-mini."""

    layers: int = 6
    d_model: int = 192
    heads: int = 6
    batch: int = 512
    steps: int = 2838
    warmup: int = 200
    learning_rate: float = 1e-3
    seed: int = 0
    held_out: int = 4000
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.d_model % (2 * self.heads):
            raise ValueError(
                f"d_model {self.d_model} must be a multiple of 2 x {self.heads} heads."
            )
        if min(self.layers, self.batch, self.steps, self.held_out) < 1:
            raise ValueError("layers, batch, steps and held_out must be at least 1.")

    def torch_device(self) -> torch.device:
        """The device that "auto" means here: a GPU when there is one."""
        auto = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(auto if self.device == "auto" else self.device)

    def rate(self, step: int) -> float:
        """Share of the learning rate at `step` (from 0): linear warm-up, then cosine to 0."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


def train_mini(
    chains: Sequence[Chain], recipe: MiniRecipe, target: Path
) -> Iterator[dict[str, Any]]:
    """Train, yield {"event": "step", ...} now and then, write `target`, yield "finished".

    Held-out accuracy is the share of masked residues whose true letter came first, by region.
    Raises ValueError when there are too few chains.
    """
    if len(chains) < recipe.held_out + recipe.batch:
        raise ValueError(
            f"{len(chains)} chains are fewer than {recipe.held_out} held out and one batch of "
            f"{recipe.batch}."
        )
    device, random = recipe.torch_device(), np.random.default_rng(recipe.seed)
    module = _new_module(recipe).to(device)
    held_out, training = chains[: recipe.held_out], chains[recipe.held_out :]
    optimiser = torch.optim.AdamW(module.parameters(), recipe.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, recipe.rate)
    for step in range(1, recipe.steps + 1):
        chosen = random.integers(len(training), size=recipe.batch)
        loss = _loss(module, [training[i] for i in chosen], random, device)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 0 or step == recipe.steps:
            yield {"event": "step", "step": step, "of": recipe.steps, "loss": loss.item()}
    accuracy = held_out_accuracy(module, held_out, recipe, device)
    _save(module, recipe, target)
    yield {"event": "finished", "accuracy": accuracy, "file": str(target), **asdict(recipe)}


def _new_module(recipe: MiniRecipe) -> Any:
    from esm.data import Alphabet
    from esm.model.esm2 import ESM2

    torch.manual_seed(recipe.seed)
    alphabet = Alphabet.from_architecture("ESM-1b")
    module = ESM2(recipe.layers, recipe.d_model, recipe.heads, alphabet, token_dropout=True)
    # Each linear layer's size decides its own start; the embedding's default of 1 is too wide.
    torch.nn.init.normal_(module.embed_tokens.weight, std=0.02)
    module.contact_head.requires_grad_(False)
    return module


def _loss(module: Any, chains: list[Chain], random: np.random.Generator, device: Any) -> Tensor:
    tokens = token_rows(module, chains)
    seen, is_target = hide(tokens, module, random)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        logits = module(seen.to(device))["logits"]
    return F.cross_entropy(logits[is_target.to(device)].float(), tokens[is_target].to(device))


def token_rows(module: Any, chains: Sequence[Chain]) -> Int[Tensor, "B L"]:
    """Token ids with start and end tokens, padded at the end to the longest chain."""
    width = max(chain.residue_tokens.stop for chain in chains) + 1
    rows = torch.full((len(chains), width), module.padding_idx)
    ids = _letter_ids(module)
    for row, chain in zip(rows, chains, strict=True):
        residues = chain.residue_tokens
        row[: residues.start] = module.cls_idx
        row[residues] = ids[torch.tensor(list(chain.sequence.encode()))]
        row[residues.stop] = module.eos_idx
    return rows


def _letter_ids(module: Any) -> Tensor:
    table = torch.full((128,), module.padding_idx)
    for letter in AMINO_ACIDS:
        table[ord(letter)] = module.alphabet.get_idx(letter)
    return table


def hide(
    tokens: Int[Tensor, "B L"], module: Any, random: np.random.Generator
) -> tuple[Int[Tensor, "B L"], Bool[Tensor, "B L"]]:
    """15 % of the residues are targets: 80 % of them masked, 10 % replaced, 10 % left."""
    is_residue = ~torch.isin(
        tokens, torch.tensor([module.padding_idx, module.cls_idx, module.eos_idx])
    )
    draw = torch.from_numpy(random.random(tuple(tokens.shape)))
    is_target = is_residue & (draw < CHOSEN)
    seen = tokens.clone()
    seen[is_target & (draw < CHOSEN * MASKED)] = module.mask_idx
    replaced = is_target & (draw >= CHOSEN * MASKED) & (draw < CHOSEN * (MASKED + RANDOM))
    letters = _letter_ids(module)[torch.tensor(list(AMINO_ACIDS.encode()))]
    seen[replaced] = letters[torch.from_numpy(random.integers(20, size=int(replaced.sum())))]
    return seen, is_target


@torch.no_grad()
def held_out_accuracy(
    module: Any, chains: Sequence[Chain], recipe: MiniRecipe, device: Any
) -> dict[str, float]:
    """Share of hidden residues guessed first, for V, CDR3 and J, on chains not trained on."""
    random = np.random.default_rng(recipe.seed + 1)
    right: dict[str, list[bool]] = {"V": [], "CDR3": [], "J": []}
    module.eval()
    for start in range(0, len(chains), 64):
        part = chains[start : start + 64]
        tokens = token_rows(module, part)
        seen, is_target = hide(tokens, module, random)
        first = module(seen.to(device))["logits"].argmax(-1).cpu()
        for row, place in torch.argwhere(is_target).tolist():
            region = part[row].region_at(part[row].position_of(place))
            right.get(region, []).append(bool(first[row, place] == tokens[row, place]))
    module.train()
    return {name: float(np.mean(hits)) for name, hits in right.items() if hits}


def _save(module: Any, recipe: MiniRecipe, target: Path) -> None:
    cfg = {
        "num_layers": recipe.layers,
        "embed_dim": recipe.d_model,
        "attention_heads": recipe.heads,
    }
    state = {name: tensor.detach().cpu().half() for name, tensor in module.state_dict().items()}
    torch.save({"cfg": cfg, "model": state}, target)
