"""The captured update where there is no GPU: a graph that records and replays on the CPU.

Below autograd every operation of one update is written down with the tensors that it was given
and that it filled; a replay does them again in the same memory, as a CUDA graph does. Whatever
Python decides within an update is decided once, while it is recorded.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from core.settings import REPOSITORY
from core.training.captured_step import CapturedSteps, PlainSteps, steps_of
from core.training.engine import train
from core.training.events import Saved, StepDone
from core.training.learner import Learner
from core.training.packing import PackedBatch, PackedForward, draw_packed
from core.training.recipe import PAPER, SPRINT, Recipe, Watch

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


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


class OnAnyDevice(PackedForward):
    """The forward pass that CUDA takes, in the place of the CPU's own."""

    def __init__(self, model, *_, **__):
        super().__init__(model)


@contextmanager
def recording(graph: RecordedGraph, **_) -> Iterator[None]:
    """Stands in for torch.cuda.graph: what is recorded has not been done."""
    drawn, dropped = graph.generator.get_state(), torch.get_rng_state()
    with graph:
        yield
    for storage, before in graph.before.values():
        storage.copy_(before)
    graph.generator.set_state(drawn)
    torch.set_rng_state(dropped)


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
    monkeypatch.setattr("core.training.learner.CpuForward", OnAnyDevice)


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


COMPILED = """
import torch
from dataclasses import replace
from functools import partial
from core.training import learner
from core.training.packing import PackedForward
from core.training.recipe import SPRINT

class OnAnyDevice(PackedForward):
    def __init__(self, model, *_, **__):
        super().__init__(model)

learner.CpuForward = OnAnyDevice
torch.compile = partial(torch.compile, fullgraph=True, backend="aot_eager")
recipe = replace(SPRINT, steps=3, batch=6, d_model=12, num_heads=3, d_ff=20, num_layers=1)
for compiled in (False, True):
    one = learner.Learner(recipe, torch.device("cpu"), compiled=compiled)
    for _ in range(3):
        one.update()
    print(*one.logs(1, 3)[0])
"""


def test_the_compiled_pass_is_the_same_pass():
    """In one piece, as far as can be told without a GPU's compiler; it knows no type checks."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    plain, compiled = (list(map(float, line.split())) for line in done.stdout.splitlines())
    assert len(plain) == 3
    assert compiled == pytest.approx(plain, abs=1e-5)


def on_prepared_strings(learner: Learner, drawn: list[PackedBatch]) -> Learner:
    """The learner, taking these strings one after the other from its device."""
    stacked = [
        torch.stack([getattr(batch, each.name) for batch in drawn]).to(learner.device)
        for each in fields(PackedBatch)
    ]
    learner.update = lambda: learner.learn_from(
        PackedBatch(*(part.index_select(0, learner._taken)[0] for part in stacked))
    )
    return learner


needs_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device that PyTorch can use on this machine"
)


@needs_cuda
@pytest.mark.parametrize("recipe", [PAPER, SPRINT], ids=lambda each: each.name)
def test_the_captured_steps_on_cuda_are_the_steps_on_the_cpu(recipe):
    """Same seed, same strings, float32, dropout 0: 20 losses agree to 1e-3."""
    recipe, generator = replace(recipe, steps=20, dropout=0.0), torch.Generator().manual_seed(0)
    # Drawn on the CPU: the two kinds of generator give different strings.
    drawn = [draw_packed(recipe, recipe.batch, generator) for _ in range(20)]
    on_cpu, on_cuda = (
        on_prepared_strings(Learner(recipe, device), drawn) for device in (CPU, CUDA)
    )
    PlainSteps(on_cpu)(20)
    steps = steps_of(on_cuda)
    assert isinstance(steps, CapturedSteps)
    steps(20)
    plain, captured = (torch.from_numpy(each.logs(1, 20)[0]) for each in (on_cpu, on_cuda))
    torch.testing.assert_close(captured, plain, atol=1e-3, rtol=0)


@needs_cuda
@pytest.mark.parametrize("recipe", [PAPER, SPRINT], ids=lambda each: each.name)
def test_replays_on_cuda_draw_strings_and_masks_as_launched_steps_do(recipe):
    recipe = replace(recipe, steps=20)
    launched = Learner(recipe, CUDA)
    PlainSteps(launched)(20)
    captured = Learner(recipe, CUDA)  # only now: dropout on CUDA draws from what all share
    CapturedSteps(captured)(20)
    pair = (torch.from_numpy(each.logs(1, 20)[0]) for each in (captured, launched))
    torch.testing.assert_close(*pair, atol=1e-3, rtol=0)


@needs_cuda
def test_a_run_on_cuda_goes_on_from_a_checkpoint_with_the_same_losses(tmp_path):
    recipe, watch = replace(PAPER, steps=40), Watch(held_out=20, save_every=20)
    losses = []
    for resume in (None, tmp_path / "at_20.pt"):
        for event in train(
            recipe, device="cuda", watch=watch, resume=resume, save_to=tmp_path / "a.pt"
        ):
            if isinstance(event, StepDone) and (resume is None or event.step > 20):
                losses.append(event.loss)
            if isinstance(event, Saved) and event.step == 20:
                (tmp_path / "a.pt").rename(tmp_path / "at_20.pt")
    torch.testing.assert_close(
        torch.tensor(losses[40:]), torch.tensor(losses[20:40]), atol=1e-3, rtol=0
    )
