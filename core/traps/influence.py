"""How much of the first letter is left at the end: recurrent networks against attention.

In: lengths. Out: for each network the first letter's share of all influence on the last
output, measured as a gradient. Untrained weights throughout: this is what training starts
from; influence_trained.py asks a trained model. Needs PyTorch.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from core.transformer.attention import MultiHeadAttention

LENGTHS = (2, 4, 8, 13, 25, 50, 100, 200)
MAX_LENGTH = 400
WIDTH, DRAWS, REPEATS = 32, 20, 3
RNN, KIND_RNN, GRU, ATTENTION = "RNN", "RNN, orthogonal start", "GRU", "Attention"
NETWORKS = (RNN, KIND_RNN, GRU, ATTENTION)


@dataclass(frozen=True)
class Influence:
    """Share (0 to 1) of the last output's gradient that falls on the first letter.

    `seconds` is the best time of one sequence's forward pass, here and now; it has no part in
    comparing two results.
    """

    network: str
    length: int
    share: float
    steps_in_a_row: int
    seconds: float = field(compare=False)


def measure(
    lengths: Sequence[int] = LENGTHS, *, draws: int = DRAWS, seed: int = 0
) -> Iterator[Influence]:
    """Measure every network at every length, the same random inputs for all; yields as it goes.

    Share = |dy_L / dx_1| / sum over j of |dy_L / dx_j|, y_L the output at the last letter,
    contracted with one random direction per draw and averaged over the draws (geometric
    mean). Raises ValueError for a length outside 2 to 400.
    """
    for length in lengths:
        if not 2 <= length <= MAX_LENGTH:
            raise ValueError(f"A length of {length} is outside the 2 to {MAX_LENGTH} tried here.")
    networks = {name: _network(name, seed) for name in NETWORKS}
    for length in lengths:
        for name, network in networks.items():
            gradients = influence_profile(network, length, draws=draws, seed=seed)
            shares = gradients[:, 0] / gradients.sum(dim=1)
            # Shares of a recurrent network span many powers of ten: average their logarithms.
            share = shares.clamp_min(1e-300).log().mean().exp().item()
            in_a_row = 1 if name == ATTENTION else length
            yield Influence(name, length, share, in_a_row, _seconds(network, length))


def influence_profile(
    network: nn.Module, length: int, *, draws: int, seed: int
) -> Float[Tensor, "draws length"]:
    """Gradient norm of a random projection of the last output on every letter's vector."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(draws, length, WIDTH, generator=generator, dtype=torch.float64)
    direction = torch.randn(draws, WIDTH, generator=generator, dtype=torch.float64)
    x.requires_grad_(True)
    # torch's recurrent layers also hand back their memory; attention has none.
    answer = network(x)
    last = (answer[0] if isinstance(answer, tuple) else answer)[:, -1]
    (gradient,) = torch.autograd.grad((last * direction).sum(), x)
    return gradient.norm(dim=-1)


@torch.no_grad()
def _seconds(network: nn.Module, length: int, repeats: int = REPEATS) -> float:
    x = torch.zeros(1, length, WIDTH, dtype=torch.float64)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        network(x)
        times.append(time.perf_counter() - start)
    return min(times)


def _network(name: str, seed: int) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    if name == ATTENTION:
        attention = MultiHeadAttention(WIDTH, 4).double().eval()
        blocks = attention.project_qkv.weight.detach().chunk(3)
        for matrix in (*blocks, attention.project_out.weight.detach()):
            nn.init.xavier_uniform_(matrix, generator=generator)
        for bias in (attention.project_qkv.bias, attention.project_out.bias):
            nn.init.zeros_(bias)
        return attention
    kind = nn.GRU if name == GRU else nn.RNN
    network = kind(WIDTH, WIDTH, batch_first=True).double().eval()
    for parameter in network.parameters():
        nn.init.uniform_(parameter, -(WIDTH**-0.5), WIDTH**-0.5, generator=generator)
    if name == KIND_RNN:
        nn.init.orthogonal_(network.get_parameter("weight_hh_l0"), generator=generator)
    return network
