"""Taking steps: one by one, or on CUDA as replays of one captured graph.

A step of a small model is hundreds of kernels that each run for microseconds, so launching them
takes longer than running them. A CUDA graph holds the whole update (drawing the batch, forward,
backward, clipping, optimiser, schedule, loss log) and launches it at once.
"""

from collections.abc import Callable
from functools import cached_property

import torch

from core.training.learner import Learner

WARM_UP_STEPS = 3  # eager steps that let libraries allocate before memory is fixed in a graph


class PlainSteps:
    """Every update launched from Python. `at_once`: updates worth taking between two looks."""

    def __init__(self, learner: Learner):
        self._learner = learner
        # Elsewhere than on the CPU each look waits for the device, so looks are rarer.
        self.at_once = 1 if learner.device.type == "cpu" else 10

    def __call__(self, steps: int) -> None:
        for _ in range(steps):
            self._learner.update()


class CapturedSteps:
    """The first updates eagerly, the next ones as replays of a graph captured from `update`.

    Capturing records and does not run, so no update is lost or done twice.
    """

    at_once = 50

    def __init__(self, learner: Learner):
        self._learner = learner
        self._eager_left = WARM_UP_STEPS

    def __call__(self, steps: int) -> None:
        eager = min(steps, self._eager_left)
        if eager:
            self._warm_up(eager)
        for _ in range(steps - eager):
            self._replay()
        torch.cuda.synchronize(self._learner.device)

    def _warm_up(self, steps: int) -> None:
        # On a side stream, as torch.cuda.graph captures on one.
        stream = torch.cuda.Stream(self._learner.device)
        stream.wait_stream(torch.cuda.current_stream(self._learner.device))
        with torch.cuda.stream(stream):
            for _ in range(steps):
                self._learner.update()
        torch.cuda.current_stream(self._learner.device).wait_stream(stream)
        self._eager_left -= steps

    @cached_property
    def _replay(self) -> Callable[[], None]:
        """Captured when the first step after the warm-up is taken."""
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._learner.generator)
        # Only this thread's calls: another one may ask for the memory in use meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._learner.update()
        return graph.replay


TakeSteps = PlainSteps | CapturedSteps


def steps_of(learner: Learner) -> TakeSteps:
    """Captured on one CUDA device; one by one elsewhere and among several processes."""
    if learner.device.type == "cuda" and learner.world.size == 1:
        return CapturedSteps(learner)
    return PlainSteps(learner)
