"""Which processor a run uses, how many threads, and what to call it on screen."""

import os
import platform
from pathlib import Path

import torch

from core.settings import read_settings
from core.training.cross_check import agrees_with_cpu

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_UNLIMITED = 10_000


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


def sensible_threads() -> int:
    """Threads for CPU work: the setting, or the cores this process may really use.

    The affinity mask, the container's quota and OMP_NUM_THREADS (torchrun sets it) all count,
    because more threads than cores make small steps many times slower.
    """
    wanted = read_settings().threads
    if wanted:
        return wanted
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = int(allowed) if allowed.isdigit() else _UNLIMITED
    return max(1, min(cores or 1, _quota(CGROUP_QUOTA), most))


def _quota(path: Path) -> int:
    try:
        allowed, period = path.read_text().split()[:2]
    except (OSError, ValueError):
        return _UNLIMITED
    return _UNLIMITED if allowed == "max" else max(1, int(allowed) // int(period))


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
