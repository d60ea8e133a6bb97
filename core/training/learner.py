"""The weights and everything that changes them: one update, the same on every device.

In: a recipe and a device. Out: losses and gradient norms of the steps taken. An update reads
and writes tensors on the device only, so that a CUDA graph can hold it whole. Knows nothing of
events, evaluation or files.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import Tensor

from core.alphabet import PAD
from core.training.cpu_forward import CpuForward
from core.training.model import build_model
from core.training.optimisers import clip_gradients, make_optimisers
from core.training.packing import PackedBatch, PackedForward, draw_packed
from core.training.parallel import World, average, check_share, gather, share_gradients
from core.training.random_bits import RandomBits
from core.training.recipe import Recipe
from core.training.schedule import learning_rate


class Learner:
    """Model, optimiser, generators and logs of one run, in one process of `world`.

    Every process draws the whole batch from the same generator and learns from its share.
    `compiled` turns the pass through the model into kernels of its own, here and now, which takes
    half a minute; then a step on a GPU has fewer of them to run.
    Raises ValueError when the batch is too small to be shared.
    """

    def __init__(
        self,
        recipe: Recipe,
        device: torch.device,
        world: World | None = None,
        *,
        compiled: bool = False,
    ):
        self.recipe, self.device, self.world = recipe, device, world or World()
        check_share(recipe.batch, self.world)
        if device.type == "cpu":
            _keep_freed_memory()
        self.model = build_model(recipe).to(device)
        self._dropout_bits = RandomBits(self._seed_dropout())
        forward = (
            CpuForward(self.model, self._dropout_bits, alone=self.world.size == 1)
            if device.type == "cpu"
            else PackedForward(self.model)
        )
        if compiled:
            forward.compile()
        self._forward = share_gradients(
            forward, device, self.world, some_unused=not recipe.cross_attention
        )
        self._parameters = list(self.model.parameters())
        self._rate = torch.zeros((), device=device)
        self.optimisers, self._joined = make_optimisers(self.model, recipe, self._rate)
        self._moved = [p for o in self.optimisers for g in o.param_groups for p in g["params"]]
        self.generator = torch.Generator(device).manual_seed(recipe.seed)
        rates = [learning_rate(recipe, step) for step in range(1, recipe.steps + 1)]
        self._rates = torch.tensor(rates, device=device)
        self._logs = torch.zeros(2, recipe.steps, device=device)
        self._taken = torch.zeros(1, dtype=torch.long, device=device)
        if compiled:  # with strings that are not the run's
            self._loss(draw_packed(recipe, recipe.batch, torch.Generator(device))).backward()

    def update(self) -> None:
        """One step on strings of its own: draw them, then learn from them."""
        self.learn_from(draw_packed(self.recipe, self.recipe.batch, self.generator))

    def learn_from(self, batch: PackedBatch) -> None:
        """Forward, backward, clip, change the weights, log. No number is read from the device."""
        self._rate.copy_(self._rates.index_select(0, self._taken).squeeze(0))
        for parameter in self._parameters:
            parameter.grad = None
        loss = self._loss(batch)
        loss.backward()
        self._joined.gather()
        norm = clip_gradients(self._moved, self.recipe.clip_norm)
        for optimiser in self.optimisers:
            optimiser.step()
        logged = torch.stack([average(loss.detach(), self.world), norm]).unsqueeze(1)
        self._logs.index_copy_(1, self._taken, logged)
        self._taken.add_(1)

    def logs(self, first: int, last: int) -> Float32[np.ndarray, "2 steps"]:
        """Losses and, below, gradient norms before clipping of steps `first` to `last`."""
        return self._logs[:, first - 1 : last].cpu().numpy()

    def state(self) -> dict[str, Any]:
        """Everything that the next update depends on, as tensors and plain values.

        Of several processes all must call it: each drops activations by a stream of its own.
        """
        on_cuda = self.device.type == "cuda"
        stream = {
            "dropout": self._dropout_bits.state(),
            "device_dropout": torch.cuda.get_rng_state(self.device) if on_cuda else None,
        }
        return {
            "model": self.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "generator": self.generator.get_state(),
            "streams": gather(stream, self.world),
            "taken": int(self._taken.item()),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a `state`; the following updates are those that would have come after it.

        Raises ValueError when it comes from CUDA and this is not, or the other way round (their
        generators count differently), or from another number of processes.
        """
        stream = self._own_stream(state)
        if (stream["device_dropout"] is not None) != (self.device.type == "cuda"):
            raise ValueError(
                "This checkpoint was written on another kind of device; only there can its run "
                "go on."
            )
        self.model.load_state_dict(state["model"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            _load(optimiser, saved)
            for group in optimiser.param_groups:
                group["lr"] = self._rate  # loading put a copy in its place
        self.generator.set_state(state["generator"])
        self._dropout_bits.restore(stream["dropout"])
        if stream["device_dropout"] is not None:
            torch.cuda.set_rng_state(stream["device_dropout"], self.device)
        self._taken.fill_(state["taken"])

    def _own_stream(self, state: dict[str, Any]) -> dict[str, Any]:
        streams = state.get("streams", [state])  # earlier versions kept the first process's only
        if len(streams) != self.world.size:
            raise ValueError(
                "Every process drops activations by random bits of its own. This checkpoint holds "
                f"those of {len(streams)} and here the number of processes is {self.world.size}: "
                f"go on with {len(streams)}."
            )
        return streams[self.world.rank]

    def _loss(self, batch: PackedBatch) -> Tensor:
        """This process's part of the mean over all tokens of the joint batch.

        Gradients are averaged over processes, hence the factor; with one process it is the
        plain mean over tokens.
        """
        tokens = (batch.labels != PAD).sum()
        mine = batch.rows(self.world.rank, self.world.size)
        total = F.cross_entropy(
            self._forward(mine).flatten(0, 1),
            mine.labels.flatten(),
            ignore_index=PAD,
            label_smoothing=self.recipe.label_smoothing,
            reduction="sum",
        )
        return total * self.world.size / tokens

    def _seed_dropout(self) -> int:
        # Far from the seeds of weights and strings, and different in every process.
        seed = (self.recipe.seed + 1) * 1_000_003 + self.world.rank
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)  # seeds, streams and graphs mean the current one
            torch.cuda.manual_seed(seed)
        elif self.device.type == "mps":
            torch.mps.manual_seed(seed)
        return seed


def _load(optimiser: torch.optim.Optimizer, saved: dict[str, Any]) -> None:
    try:
        optimiser.load_state_dict(saved)
    except ValueError as problem:
        raise ValueError(
            "This checkpoint was saved by an earlier version, which kept the optimiser's numbers "
            "in another order: its weights can be used, but its run cannot go on."
        ) from problem


def _keep_freed_memory() -> None:
    """Ask the C library to keep what a step frees for the next one.

    glibc gives the end of its heap back to the system and gets it anew page by page, a
    thousand page faults in each step. Once a block of nearly 32 MiB was freed it keeps up to
    64 MiB (mallopt(3), M_MMAP_THRESHOLD); other C libraries take no notice.
    """
    torch.empty(31 * 2**20, dtype=torch.uint8)
