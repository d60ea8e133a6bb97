"""What the command for many receptors does; `__main__` only parses. Results go to a file."""

import argparse
import sys
import time
from pathlib import Path

from core.protein.commands import BadInput, check_target, model_from, one_torch_thread_each, say
from core.protein.genes import ReceptorError
from core.protein.many import ManyProgress, scan_many
from core.protein.rows import Reading


def scan_many_command(options: argparse.Namespace) -> int:
    """Scan every receptor of a file; TSV with an error column; goes on where it stopped."""
    source, target = Path(options.source), Path(options.target)
    if not source.is_file():
        raise BadInput(f"There is no file {source}.")
    check_target(options.target)
    how = _reading(options)
    model = model_from(options)
    started, step = time.monotonic(), ManyProgress(0, 0, 0)
    try:
        with one_torch_thread_each() as threads:
            for step in scan_many(
                model,
                source,
                target,
                how=how,
                cdr3_only=options.cdr3_only,
                threads=threads,
            ):
                _show_rate(step, time.monotonic() - started)
    except ReceptorError as problem:
        raise BadInput(str(problem)) from problem
    finally:
        if step.done:
            say("")  # ends the line that counts
    if step.resumed:
        say(f"{step.resumed} of them were in {target} already.")
    say(f"{model.label}: {step.done} receptors written to {target}, {step.failed} with an error.")
    return 0


def _reading(options: argparse.Namespace) -> Reading:
    try:
        return Reading(options.complete, options.species)
    except ReceptorError as problem:
        raise BadInput(str(problem)) from problem


def _show_rate(step: ManyProgress, seconds: float) -> None:
    if not step.done:
        return
    rate = (step.done - step.resumed) / max(seconds, 1e-9)
    print(
        f"\r{step.done} receptors, {step.failed} with an error, {rate:.1f} per second",
        end="",
        file=sys.stderr,
        flush=True,
    )
