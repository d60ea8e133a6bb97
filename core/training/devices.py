"""Which processor a run uses, how many threads, and what to call it on screen."""

import os
import platform
from pathlib import Path

import torch
import torch.nn.functional as F

from core.settings import read_settings

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def choose_device(wanted: str) -> torch.device:
    """The device called `wanted`, or the best one for "auto": CUDA, then MPS, then the CPU.

    MPS is chosen by itself only if it gives the CPU's numbers. Raises ValueError when the
    device is unknown or not in this machine.
    """
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        usable = torch.backends.mps.is_available() and agrees_with_cpu(torch.device("mps"))
        return torch.device("mps" if usable else "cpu")
    if wanted not in ("cpu", "cuda", "mps"):
        raise ValueError(f"The device is {wanted!r}; choose auto, cpu, cuda or mps.")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ValueError("This machine has no CUDA device that PyTorch can use; choose cpu.")
    if wanted == "mps" and not torch.backends.mps.is_available():
        raise ValueError("This machine has no MPS device that PyTorch can use; choose cpu.")
    if wanted == "cuda":
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device(wanted)


def agrees_with_cpu(device: torch.device, tolerance: float = 1e-3) -> bool:
    """Whether attention and its gradient on `device` equal the CPU's; False if it cannot run."""
    try:
        return _largest_difference(device) < tolerance
    except (RuntimeError, NotImplementedError):
        return False


def _largest_difference(device: torch.device) -> float:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 2, 7, 8, generator=generator)
    bias = torch.zeros(7, 7).masked_fill(torch.ones(7, 7).triu(1).bool(), -1e9)

    def gradient(where: torch.device) -> torch.Tensor:
        here = x.to(where).requires_grad_()
        blended = F.scaled_dot_product_attention(here, here, here, bias.to(where))
        F.layer_norm(blended, (8,)).square().mean().backward()
        assert here.grad is not None
        return torch.cat([blended.detach(), here.grad]).cpu()

    return (gradient(device) - gradient(torch.device("cpu"))).abs().max().item()


def sensible_threads() -> int:
    """Threads for CPU work: the setting, or the cores this process may really use.

    The affinity mask and the container's quota both count, because asking for more threads
    than cores makes small steps many times slower.
    """
    wanted = read_settings().threads
    if wanted:
        return wanted
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _quota(CGROUP_QUOTA)))


def _quota(path: Path) -> int:
    try:
        allowed, period = path.read_text().split()[:2]
    except (OSError, ValueError):
        return 10_000
    return 10_000 if allowed == "max" else max(1, int(allowed) // int(period))


def device_name(device: torch.device) -> str:
    """The name of the device as its maker calls it, as far as it can be found out."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return f"Apple GPU ({platform.machine()})"
    return _processor_name()


def _processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
