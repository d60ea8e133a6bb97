"""Commands that look after the models: download, list, train. `__main__` only parses."""

import argparse
import csv
import json
import sys
from dataclasses import fields
from pathlib import Path

from core.protein.cards import WeightsError, model_card
from core.protein.commands import BadInput, check_target, say
from core.protein.download import download_steps
from core.protein.simulated import simulated_chains
from core.protein.train_mini import MiniRecipe, train_mini
from core.protein.weights import available_models
from core.settings import read_settings


def download_command(options: argparse.Namespace) -> int:
    """Fetch published weights, with progress; interrupt to cancel."""
    try:
        card = model_card(options.name)
    except WeightsError as problem:
        raise BadInput(str(problem)) from problem
    settings = read_settings()
    model = next(m for m in available_models(settings) if m.card is card)
    if model.path:
        say(f"{card.label} is already here: {model.path}.")
        return 0
    say(f"{card.label}: about {card.size_bytes / 1e6:,.0f} MB to {model.destination}.")
    steps = download_steps(
        card, model.destination, base_url=options.base_url, offline=settings.offline
    )
    kept = 0
    for step in steps:
        if step.kept and not kept:
            say(f"Going on after {step.kept / 1e6:,.1f} MB that a killed download left.")
        kept = step.kept
        total = f" of {step.total / 1e6:,.1f}" if step.total else ""
        print(f"\r{step.done / 1e6:,.1f}{total} MB", end="", file=sys.stderr, flush=True)
    say(f"\n{card.label} is in {model.destination}.")
    return 0


def train_mini_command(options: argparse.Namespace) -> int:
    """Train a TRB-mini from simulated receptors; JSON lines on standard output."""
    if not Path(options.receptors).is_file():
        raise BadInput(f"There is no file {options.receptors}.")
    check_target(options.target)
    names = [field.name for field in fields(MiniRecipe)]
    try:
        chains = list(simulated_chains(Path(options.receptors), options.seed))
        say(f"{len(chains)} chains from {options.receptors}.")
        recipe = MiniRecipe(**{name: getattr(options, name) for name in names})
        for event in train_mini(chains, recipe, Path(options.target)):
            print(json.dumps(event), flush=True)
    except ValueError as problem:
        raise BadInput(str(problem)) from problem
    return 0


def models_command(options: argparse.Namespace) -> int:
    """List the models: name, label, size, where the weights are or would go; CSV."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "label", "layers", "d_model", "heads", "parameters", "bytes", "path"))
    for model in available_models():
        shape = (*model.card.shape, model.card.parameters, model.size_bytes)
        writer.writerow((model.name, model.label, *shape, model.path or ""))
    return 0
