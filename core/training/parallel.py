"""Several processes training one model, under torchrun: thin wrapping of torch.distributed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class World:
    """Which of how many processes this one is; one process alone by default."""

    rank: int = 0
    size: int = 1

    @property
    def speaks(self) -> bool:
        """Whether this process prints and writes files."""
        return self.rank == 0


def this_world() -> World:
    """The world that `joined_world` has opened, or one process alone."""
    if dist.is_available() and dist.is_initialized():
        return World(dist.get_rank(), dist.get_world_size())
    return World()


@contextmanager
def joined_world() -> Iterator[World]:
    """Join the processes that torchrun started (gloo on CPUs, nccl on CUDA), leave them after."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World()
        return
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield this_world()
    finally:
        dist.destroy_process_group()


def check_share(batch: int, world: World) -> None:
    """Raises ValueError when a process would get none of the batch's pairs of strings."""
    if (batch + 1) // 2 < world.size:
        raise ValueError(
            f"A batch of {batch:,} cannot be shared by {world.size:,} processes: each needs a pair "
            f"of strings, so the batch must be {2 * world.size - 1:,} or more."
        )


def share_gradients(
    model: nn.Module, device: torch.device, world: World, *, some_unused: bool = False
) -> nn.Module:
    """`model` itself when alone, else wrapped so that backward averages the gradients."""
    if world.size == 1:
        return model
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model, ids, find_unused_parameters=some_unused)


def gather(value: Any, world: World) -> list[Any]:
    """What every process has as its `value`, by rank. All of them must call it."""
    values = [value] * world.size
    if world.size > 1:
        dist.all_gather_object(values, value)
    return values


def average(value: Tensor, world: World) -> Tensor:
    """The mean of `value` over all processes."""
    if world.size > 1:
        dist.all_reduce(value)
        value /= world.size
    return value
