"""Settings of one installation, read from environment variables (README, "Settings").

In: the process environment. Out: a frozen value. Knows nothing of the pages.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ASSETS = REPOSITORY / "assets"


@dataclass(frozen=True)
class Settings:
    """Where things are kept and what this machine allows."""

    data_folder: Path
    model_folder: Path | None
    owner_key: str | None
    offline: bool
    max_running: int
    threads: int | None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from `environment` (the process environment when None).

    Raises ValueError naming the variable when a number cannot be read.
    """
    env = os.environ if environment is None else environment
    models = env.get("ONE_RECEPTOR_MODELS")
    return Settings(
        data_folder=Path(env.get("ONE_RECEPTOR_DATA") or REPOSITORY / ".data"),
        model_folder=Path(models) if models else None,
        owner_key=env.get("ONE_RECEPTOR_OWNER_KEY") or None,
        offline=env.get("ONE_RECEPTOR_OFFLINE", "0").lower() in {"1", "true", "yes"},
        max_running=_whole_number(env, "ONE_RECEPTOR_MAX_RUNNING", 1),
        threads=_whole_number(env, "ONE_RECEPTOR_THREADS", 0) or None,
    )


def _whole_number(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if not text:
        return default
    if not text.isdigit():
        raise ValueError(f"{name} is {text!r}; it must be a whole number such as {default or 1}.")
    return int(text)
