"""The captured update where there is no GPU: a graph that records and replays on the CPU.

Below autograd every operation of one update is written down with the tensors that it was given
and that it filled; a replay does them again in the same memory, as a CUDA graph does. Whatever
Python decides within an update is decided once, while it is recorded.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from core.training.captured_step import CapturedSteps, PlainSteps
from core.training.learner import Learner
from core.training.packing import PackedForward, draw_packed
from core.training.recipe import PAPER, SPRINT, Recipe

CPU = torch.device("cpu")


class RecordedGraph(TorchDispatchMode):
    """Stands in for torch.cuda.CUDAGraph; as a mode it records what is done within it."""

    def __init__(self):
        super().__init__()
        self.calls, self.before, self.made = [], {}, set()

    def register_generator_state(self, generator: torch.Generator) -> None:
        self.generator = generator

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace == "profiler":
            return func(*args, **kwargs)
        assert "_local_scalar_dense" not in str(func), "the host reads a number"
        self._keep_what_is_written(func, args, kwargs)
        made = func(*args, **kwargs)
        aliases = [each.alias_info for each in func._schema.returns]
        if not any(alias and not alias.is_write for alias in aliases):  # else a view of old memory
            self.calls.append((func, args, kwargs, made))
        if not any(aliases):
            self.made |= {_memory(leaf) for leaf in _tensors(made)}
        return made

    def _keep_what_is_written(self, func, args, kwargs) -> None:
        for at, argument in enumerate(func._schema.arguments):
            if argument.alias_info and argument.alias_info.is_write:
                given = args[at] if at < len(args) else kwargs.get(argument.name)
                for tensor in _tensors(given):
                    if _memory(tensor) not in self.made | self.before.keys():
                        storage = tensor.untyped_storage()
                        self.before[_memory(tensor)] = storage, storage.clone()

    @torch.no_grad()
    def replay(self) -> None:
        for func, args, kwargs, made in self.calls:
            again = func(*args, **kwargs)
            if not any(each.alias_info for each in func._schema.returns):
                for old, new in zip(_tensors(made), _tensors(again), strict=True):
                    old.copy_(new)


def _tensors(values) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@contextmanager
def recording(graph: RecordedGraph, **_) -> Iterator[None]:
    """Stands in for torch.cuda.graph: what is recorded has not been done."""
    drawn = graph.generator.get_state()
    with graph:
        yield
    for storage, before in graph.before.values():
        storage.copy_(before)
    graph.generator.set_state(drawn)


@pytest.fixture
def without_a_gpu(monkeypatch):
    """`CapturedSteps`, and the forward pass that CUDA takes, on the CPU."""
    stream = SimpleNamespace(wait_stream=lambda _: None)
    for name, stand_in in {
        "CUDAGraph": RecordedGraph,
        "graph": recording,
        "Stream": lambda _: stream,
        "current_stream": lambda _: stream,
        "stream": lambda _: nullcontext(),
        "synchronize": lambda _: None,
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    monkeypatch.setattr(
        "core.training.learner.CpuForward", lambda model, *_, **__: PackedForward(model)
    )


def plain_losses(recipe: Recipe) -> torch.Tensor:
    """Of 20 steps by the CPU's hand-written way."""
    learner = Learner(recipe, CPU)
    PlainSteps(learner)(20)
    return torch.from_numpy(learner.logs(1, 20))


def captured_losses(recipe: Recipe) -> torch.Tensor:
    learner = Learner(recipe, CPU)
    steps = CapturedSteps(learner)
    for together in (1, 10, 9):  # the warm-up is cut in two, as the engine does
        steps(together)
    return torch.from_numpy(learner.logs(1, 20))


# In 20 steps of the paper's warm-up too little would change to show a mistake.
@pytest.mark.parametrize("recipe", [replace(PAPER, warmup=7), SPRINT], ids=lambda each: each.name)
def test_twenty_replayed_steps_are_those_of_the_cpu(request, recipe):
    """Same seed, same strings, float32, dropout 0: losses and gradient norms."""
    recipe = replace(recipe, steps=20, batch=14, dropout=0.0)
    plain = plain_losses(recipe)
    request.getfixturevalue("without_a_gpu")
    captured = captured_losses(recipe)
    torch.testing.assert_close(captured, plain, atol=1e-4, rtol=1e-4)
    assert plain[0, -1] < 0.9 * plain[0, 0]


def test_a_captured_run_goes_on_from_its_state_between_two_replays(without_a_gpu):
    recipe = replace(SPRINT, steps=20, batch=6, d_model=12, num_heads=3, d_ff=20)
    first, second = Learner(recipe, CPU), Learner(recipe, CPU)
    CapturedSteps(first)(8)
    second.restore(first.state())
    CapturedSteps(second)(12)
    assert (torch.from_numpy(second.logs(9, 20)) == captured_losses(recipe)[:, 8:]).all()


def test_what_python_decides_within_an_update_would_be_noticed(request, monkeypatch):
    recipe = replace(SPRINT, steps=20, batch=6, d_model=12, num_heads=3, d_ff=20)
    plain = plain_losses(recipe)
    request.getfixturevalue("without_a_gpu")
    generator = torch.Generator().manual_seed(recipe.seed)
    prepared = [draw_packed(recipe, recipe.batch, generator) for _ in range(20)]
    monkeypatch.setattr("core.training.learner.draw_packed", lambda *_: prepared.pop(0))
    captured = captured_losses(recipe)
    torch.testing.assert_close(captured[:, :4], plain[:, :4], atol=1e-4, rtol=1e-4)
    assert (captured - plain)[0, 4:].abs().max() > 1e-2
    assert len(prepared) == 16
