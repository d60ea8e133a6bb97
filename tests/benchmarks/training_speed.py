"""How fast training is: a plainly written loop, the paper recipe and the sprint, on one machine.

`python tests/benchmarks/training_speed.py [--seeds 5] [--quick] [--device auto]` prints one JSON
object. Milliseconds per step come from short blocks taken in turn by three processes, so that a
machine that slows down slows all three. Seconds to 999 of 1,000 are measured on 2,000 held-out
strings that are looked at every 10 steps, evaluation left out. `--quick` takes the plain loop's
and the paper recipe's steps only as far as their speed needs.

On a GPU also the paper recipe's 3,000 steps in one go, launched as captured and, compiled first,
once more: that, and the sprint, beside their bars. After `pytest
tests/training/test_replayed_step.py`, `--quick --device cuda` is all that has to be run there, in
some three minutes. Every part is told on standard error as soon as it is known.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.alphabet import BOS, EOS, PAD, RESIDUES
from core.training.captured_step import steps_of
from core.training.devices import choose_device, device_name, sensible_threads
from core.training.engine import train
from core.training.evaluate import held_out
from core.training.events import Evaluated, Finished
from core.training.learner import Learner
from core.training.recipe import PAPER, SPRINT, Recipe, Watch
from core.training.reverse_task import Batch

HELD_OUT, ENOUGH, EVERY = 2000, 1998, 10


class PlainAttention(nn.Module):
    """The formula as the paper prints it: three projections, weights formed and returned."""

    def __init__(self, d_model: int, num_heads: int, dropout: float):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (
            self.split(self.query(x)),
            self.split(self.key(memory)),
            self.split(self.value(memory)),
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        weights = scores.masked_fill(~mask.unsqueeze(1), -1e9).softmax(-1)
        blended = self.dropout(weights) @ v
        return self.out(blended.transpose(1, 2).reshape(x.shape)), weights

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), -1, self.num_heads, self.d_k).transpose(1, 2)


class PlainLayer(nn.Module):
    """An encoder layer, or a decoder layer when it has something to look across at."""

    def __init__(self, recipe: Recipe, *, crosses: bool):
        super().__init__()
        d, count = recipe.d_model, 2 if crosses else 1
        self.attentions = nn.ModuleList(
            PlainAttention(d, recipe.num_heads, recipe.dropout) for _ in range(count)
        )
        self.widen, self.narrow = nn.Linear(d, recipe.d_ff), nn.Linear(recipe.d_ff, d)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(count + 1))
        self.dropout = nn.Dropout(recipe.dropout)

    def forward(self, x: Tensor, looks: list[tuple[Tensor | None, Tensor]]) -> Tensor:
        for attention, norm, (memory, mask) in zip(
            self.attentions, self.norms, looks, strict=False
        ):
            blended, _ = attention(x, x if memory is None else memory, mask)
            x = norm(x + self.dropout(blended))
        hidden = self.dropout(self.widen(x).relu())
        return self.norms[-1](x + self.dropout(self.narrow(hidden)))


class PlainTransformer(nn.Module):
    """The same sizes as the recipe's model, written the way a first version is written."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        self.d_model, tokens = recipe.d_model, len(RESIDUES)
        self.source, self.target = (
            nn.Embedding(tokens, self.d_model),
            nn.Embedding(tokens, self.d_model),
        )
        self.encoder = nn.ModuleList(
            PlainLayer(recipe, crosses=False) for _ in range(recipe.num_layers)
        )
        self.decoder = nn.ModuleList(
            PlainLayer(recipe, crosses=True) for _ in range(recipe.num_layers)
        )
        self.generator = nn.Linear(self.d_model, tokens)
        self.dropout = nn.Dropout(recipe.dropout)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        src_mask = (src != PAD).unsqueeze(1)
        length = tgt.shape[1]
        triangle = torch.tril(torch.ones(1, length, length, dtype=torch.bool, device=tgt.device))
        tgt_mask = (tgt != PAD).unsqueeze(1) & triangle
        x, y = self.embed(self.source, src), self.embed(self.target, tgt)
        for layer in self.encoder:
            x = layer(x, [(None, src_mask)])
        for layer in self.decoder:
            y = layer(y, [(None, tgt_mask), (x, src_mask)])
        return self.generator(y)

    def embed(self, embedding: nn.Embedding, ids: Tensor) -> Tensor:
        position = torch.arange(ids.shape[1], device=ids.device).unsqueeze(1)
        even = torch.arange(0, self.d_model, 2, device=ids.device)
        angle = position / 10000 ** (even / self.d_model)
        waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return self.dropout(embedding(ids) * math.sqrt(self.d_model) + waves)


def plain_batch(recipe: Recipe, chance: random.Random, device: torch.device) -> Batch:
    """One string after the other, one letter after the other."""
    src, tgt, labels = [], [], []
    for _ in range(recipe.batch):
        length = chance.randint(recipe.min_length, recipe.max_length)
        ids = [chance.randint(3, 2 + len(recipe.letters)) for _ in range(length)]
        padding = [PAD] * (recipe.max_length - length)
        src.append(ids + padding)
        tgt.append([BOS, *reversed(ids), *padding])
        labels.append([*reversed(ids), EOS, *padding])
    return Batch(*(torch.tensor(rows, device=device) for rows in (src, tgt, labels)))


class PlainLoop:
    """The paper recipe as one would first write it."""

    def __init__(self, recipe: Recipe, device: torch.device):
        torch.manual_seed(recipe.seed)
        self.recipe, self.device, self.step = recipe, device, 0
        self.model = PlainTransformer(recipe).to(device)
        self.chance = random.Random(recipe.seed)
        self.optimiser = torch.optim.Adam(
            self.model.parameters(),
            betas=(recipe.beta1, recipe.beta2),
            eps=recipe.epsilon,
            foreach=False,
            fused=False,
        )
        self.criterion = nn.CrossEntropyLoss(
            ignore_index=PAD, label_smoothing=recipe.label_smoothing
        )

    def __call__(self, steps: int) -> None:
        for _ in range(steps):
            self.step += 1
            rate = self.recipe.d_model**-0.5 * min(
                self.step**-0.5, self.step * self.recipe.warmup**-1.5
            )
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            batch = plain_batch(self.recipe, self.chance, self.device)
            self.optimiser.zero_grad()
            logits = self.model(batch.src, batch.tgt)
            loss = self.criterion(logits.flatten(0, 1), batch.labels.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip_norm, foreach=False)
            self.optimiser.step()
            loss.item()

    def exact(self, batch: Batch) -> int:
        self.model.eval()
        with torch.no_grad():
            right = self.model(batch.src, batch.tgt).argmax(-1) == batch.labels
        self.model.train()
        return int((right | (batch.labels == PAD)).all(1).sum())


def taker(name: str, device: torch.device) -> Callable[[int], None]:
    """What takes steps of the plain loop, the paper recipe or the sprint."""
    if name == "naive":
        return PlainLoop(PAPER, device)
    return steps_of(Learner({"paper": PAPER, "sprint": SPRINT}[name], device))


def take_blocks(name: str, device: torch.device) -> None:
    """For every line on standard input take a block of steps and print its ms per step."""
    take, block = taker(name, device), 5 if device.type == "cpu" else 50
    take(block)
    for _ in sys.stdin:
        began = time.perf_counter()
        take(block)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        print(1000 * (time.perf_counter() - began) / block, flush=True)


def milliseconds_per_step(device: str, rounds: int) -> dict[str, float]:
    """Median over blocks of steps that the three take in turn, each in a process of its own.

    In one process the plain loop would work with the memory settings that ours makes.
    """
    command = [sys.executable, __file__, "--device", device, "--take"]
    children = {
        name: subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("naive", "paper", "sprint")
    }
    times: dict[str, list[float]] = {name: [] for name in children}
    for _ in range(rounds + 1):
        for name, child in children.items():
            assert child.stdin is not None
            assert child.stdout is not None
            print(file=child.stdin, flush=True)
            times[name].append(float(child.stdout.readline()))
    for child in children.values():
        child.communicate()
    return {name: median(values[1:]) for name, values in times.items()}


def plain_seconds_to_enough(recipe: Recipe, device: torch.device) -> tuple[float | None, int, int]:
    """Seconds and steps to enough exact strings (None: never), and the best count seen."""
    loop, batch = PlainLoop(recipe, device), held_out(recipe, HELD_OUT, device)
    seconds, best = 0.0, 0
    while loop.step < recipe.steps:
        began = time.perf_counter()
        loop(EVERY)
        seconds += time.perf_counter() - began
        best = max(best, loop.exact(batch))
        if best >= ENOUGH:
            return seconds, loop.step, best
    return None, loop.step, best


def seconds_to_enough(recipe: Recipe, device: torch.device) -> tuple[float | None, int, int]:
    """The same for one of our recipes, through the engine's events."""
    watch = Watch(
        held_out=HELD_OUT, until_exact=ENOUGH, evaluate_every=EVERY, sample_every=0,
        snapshot_every=0, save_every=0,
    )  # fmt: skip
    best, finished = 0, None
    for event in train(recipe, device=device.type, watch=watch):
        best = max(best, event.exact) if isinstance(event, Evaluated) else best
        finished = event if isinstance(event, Finished) else finished
    if finished is None:
        return None, 0, best
    return finished.seconds if best >= ENOUGH else None, finished.steps, best


def over_seeds(
    measure: Callable[[Recipe, torch.device], tuple[float | None, int, int]],
    recipe: Recipe,
    device: torch.device,
    seeds: int,
) -> dict[str, Any]:
    """Median and worst over seeds; a seed that never gets there makes the worst None."""
    runs = [measure(replace(recipe, seed=seed), device) for seed in range(seeds)]
    seconds = [found for found, _, _ in runs]
    reached = sorted(s for s in seconds if s is not None)
    all_in_order = reached + [math.inf] * (seeds - len(reached))
    middle = median(all_in_order)
    return {
        "reached": f"{len(reached)} of {seeds} seeds",
        "median_seconds": None if math.isinf(middle) else round(middle, 3),
        "worst_seconds": round(reached[-1], 3) if len(reached) == seeds else None,
        "seconds": [None if s is None else round(s, 3) for s in seconds],
        "steps": [steps for _, steps, _ in runs],
        "most_exact_of_2000": [best for _, _, best in runs],
    }


def in_one_go(device: torch.device, *, compiled: bool) -> dict[str, Any]:
    """The paper recipe without a look: seconds of training, capturing but not compiling included.

    What cannot be compiled here is said in the place of the numbers.
    """
    watch = Watch(evaluate_every=0, sample_every=0, snapshot_every=0, save_every=0)
    try:
        *_, finished = train(PAPER, device=device.type, watch=watch, compiled=compiled)
    except Exception as problem:
        return {"error": f"{type(problem).__name__}: {problem}"[:500]}
    assert isinstance(finished, Finished)
    return {
        "seconds": round(finished.seconds, 3),
        "seconds_total": round(finished.seconds_total, 1),
        "exact_of_1000": finished.exact,
    }


def on_a_gpu(device: torch.device) -> Iterator[tuple[str, Any]]:
    """What has a bar only there. The first run of a process loads libraries and is not counted."""
    for _ in train(replace(SPRINT, steps=60), device=device.type):
        pass
    yield "bars_seconds", {"paper_3000_steps": 4.0, "sprint_to_999": 0.4}
    yield "paper_3000_steps_captured", in_one_go(device, compiled=False)
    yield "paper_3000_steps_compiled_and_captured", in_one_go(device, compiled=True)


def parts(options: argparse.Namespace, device: torch.device) -> Iterator[tuple[str, Any]]:
    """The report, part by part."""
    yield "date", date.today().isoformat()
    yield "device", device_name(device)
    yield "threads", torch.get_num_threads()
    yield "torch", torch.__version__
    speed = milliseconds_per_step(options.device, rounds=8 if options.quick else 30)
    yield "milliseconds_per_step", {name: round(value, 3) for name, value in speed.items()}
    yield "naive_seconds_for_3000_steps", round(3 * speed["naive"], 2)
    if device.type != "cpu":
        yield from on_a_gpu(device)
    sprint = over_seeds(seconds_to_enough, SPRINT, device, options.seeds)
    yield "sprint_to_999", sprint
    yield "ratios", ratios(speed, sprint)
    if not options.quick:
        yield "paper_to_999", over_seeds(seconds_to_enough, PAPER, device, options.seeds)
        yield "naive_to_999", over_seeds(plain_seconds_to_enough, PAPER, device, options.seeds)


def ratios(speed: dict[str, float], sprint: dict[str, Any]) -> dict[str, float]:
    """The plain loop against ours; a sprint that some seed never ends has no worst one."""
    found = {"paper_over_naive_steps_per_second": round(speed["naive"] / speed["paper"], 2)}
    for which in ("median", "worst"):
        seconds = sprint[f"{which}_seconds"]
        if seconds:
            found[f"naive_3000_steps_over_sprint_{which}"] = round(3 * speed["naive"] / seconds, 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--take", choices=("naive", "paper", "sprint"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(sensible_threads())
    device = choose_device(options.device)
    if options.take:
        take_blocks(options.take, device)
        return
    report: dict[str, Any] = {}
    for name, value in parts(options, device):
        report[name] = value
        print(f"{name}: {json.dumps(value)}", file=sys.stderr, flush=True)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
