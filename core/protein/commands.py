"""What the commands do; `__main__` only parses. Messages on standard error, results elsewhere."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from core.protein.cards import WeightsError, model_card
from core.protein.chain import Chain, default_chain
from core.protein.genes import species_name
from core.protein.germline import assemble
from core.protein.guess import guess
from core.protein.limits import limits
from core.protein.model import LanguageModel
from core.protein.readout import at_temperature, p_true, pseudo_perplexity
from core.protein.receptors import one_receptor
from core.protein.scan import scan_steps
from core.protein.table import scan_csv
from core.protein.weights import load
from core.settings import read_settings

_PACKED = {".gz", ".bz2", ".xz", ".zst", ".zip"}


class BadInput(ValueError):
    """Options or letters that cannot be used."""


def say(text: str) -> None:
    """A message, never on standard output."""
    print(text, file=sys.stderr)


def chain_from(options: argparse.Namespace) -> Chain:
    """The chain that the options describe, its notes said aloud."""
    parts = (options.v, options.cdr3, options.j)
    try:
        if options.chain is not None:
            if any(part is not None for part in parts):
                raise BadInput("Give either --chain or --v, --cdr3 and --j.")
            chain = one_receptor(options.chain, species=options.species)
        elif any(part is not None for part in parts):
            if None in parts:
                raise BadInput("A receptor needs all three: --v, --cdr3 and --j.")
            chain = assemble(
                *parts,
                species=species_name(options.species),
                complete=options.complete,
                leader=not options.no_leader,
            )
        else:
            chain = default_chain()
            say(f"No receptor was given: the default one is used, {chain.name}.")
    except ValueError as problem:
        raise BadInput(str(problem)) from problem
    for note in chain.notes:
        say(note)
    return chain


def model_from(options: argparse.Namespace) -> LanguageModel:
    """The loaded model that the options name; an unknown name is bad input."""
    try:
        model_card(options.model)
    except WeightsError as problem:
        raise BadInput(str(problem)) from problem
    if threads := read_settings().threads:
        torch.set_num_threads(threads)
    return load(options.model)


@contextmanager
def one_torch_thread_each() -> Iterator[int]:
    """How many chains, or batches, to scan at once; each has one thread of torch to itself."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield read_settings().threads or before
    finally:
        torch.set_num_threads(before)


def _say_limits(model: LanguageModel, chain: Chain) -> None:
    for sentence in limits(chain, model.name):
        say(sentence)


def _check_temperature(options: argparse.Namespace) -> None:
    if not options.temperature > 0:
        raise BadInput(f"--temperature {options.temperature} must be above 0.")


def check_target(path: str | None) -> None:
    """Before anything is computed: a result that cannot be written would be lost."""
    if path is None:
        return
    if Path(path).suffix.lower() in _PACKED:
        raise BadInput(f"Nothing is packed here: name it {Path(path).stem}, not {Path(path).name}.")
    folder = Path(path).parent
    if Path(path).is_dir():
        raise BadInput(f"“{path}” is not the name of a file to write.")
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise BadInput(f"{path} cannot be written: there is no folder {folder} to write into.")


def scan_command(options: argparse.Namespace) -> int:
    """Hide every residue in turn; CSV, one row per residue."""
    _check_temperature(options)
    check_target(options.csv)
    chain = chain_from(options)
    model = model_from(options)
    _say_limits(model, chain)
    table = np.full((len(chain), 20), np.nan)
    with one_torch_thread_each() as threads:
        for step in scan_steps(model, chain, threads=threads):
            table = step.probabilities
            print(f"\r{step.done} of {step.total} residues", end="", file=sys.stderr, flush=True)
    say("")
    table = at_temperature(table, options.temperature)
    _write(options.csv, scan_csv(chain, table))
    mean = float(np.nanmean(p_true(table, chain)))
    say(
        f"{model.label}: mean p(true) {mean:.3f}, pseudo-perplexity "
        f"{pseudo_perplexity(table, chain):.3f} over {len(chain)} residues."
    )
    return 0


def guess_command(options: argparse.Namespace) -> int:
    """Hide one residue; CSV with one row."""
    _check_temperature(options)
    check_target(options.csv)
    chain = chain_from(options)
    position = _position(options, chain)
    model = model_from(options)
    _say_limits(model, chain)
    one = guess(model, chain, position).at_temperature(options.temperature)
    table = np.full((len(chain), 20), np.nan)
    table[position - 1] = one.probabilities
    _write(options.csv, scan_csv(chain, table))
    best = ", ".join(f"{letter} {p:.2f}" for letter, p in one.top())
    say(f"{model.label} at {one.residue}{position}: {best}; p(true) {one.p_true:.3f}.")
    return 0


def _position(options: argparse.Namespace, chain: Chain) -> int:
    if (options.position is None) == (options.cdr3_position is None):
        raise BadInput("Give one of --position and --cdr3-position.")
    if options.position is not None:
        position, places = options.position, range(1, len(chain) + 1)
    else:
        places = chain.cdr3_positions
        position = options.cdr3_position + (places.start - 1)
    if position not in places:
        raise BadInput(f"That position is outside: there are {len(places)}, counted from 1.")
    return int(position)


def _write(path: str | None, text: str) -> None:
    """All of the text or nothing: a full disk leaves no half of a table behind."""
    if path is None:
        sys.stdout.write(text)
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a device
        target.write_text(text)
    else:
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            part.write_text(text)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    say(f"Written to {path}.")
