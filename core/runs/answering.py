"""The process that reverses strings with saved weights; `core.runs.asking` starts it.

In: JSON lines with a checkpoint's file and a string. Out: a JSON line each. It leaves when nobody
has asked for a while, or when whoever asked is gone.
"""

import json
import os
import select
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from core.training.checkpoint import read_checkpoint
from core.training.evaluate import decode_string
from core.training.events import Sampled
from core.training.model import build_model
from core.training.recipe import Recipe, check_watched

IDLE_AT_MOST = 120.0


def answer(file: Path, string: str) -> dict[str, Any]:
    """The fields of a `Sampled`: step, what the weights write, what is right. Or `error`."""
    try:
        content = read_checkpoint(file)
        recipe = Recipe.from_dict(content["recipe"])
        string = check_watched(recipe, string)
    except ValueError as problem:
        return {"error": str(problem)}
    model = build_model(recipe)
    model.load_state_dict(content["model"])
    decoded = decode_string(model, recipe, string)
    return asdict(Sampled(content["taken"], string, decoded, string[::-1]))


def main() -> int:
    """Answer until the pipe ends or rests for `IDLE_AT_MOST` seconds."""
    os.nice(5)  # a run under way comes first
    torch.set_num_threads(1)
    while select.select([sys.stdin], [], [], IDLE_AT_MOST)[0]:
        line = sys.stdin.readline()
        if not line:
            break
        question = json.loads(line)
        print(json.dumps(answer(Path(question["file"]), question["string"])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
