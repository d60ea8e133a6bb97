"""A weight file, read as data only, checked, and poured into fair-esm's ESM-2.

In: a path and the card of the model it should hold. Out: a LanguageModel, or a WeightsError with
a sentence to show. A file is never unpickled: only tensors, and the plain argument list that
ESM-2's published files carry, are read.
"""

import argparse
import hashlib
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch

from core.protein.cards import ModelCard, WeightsError
from core.protein.model import LanguageModel

# Contacts need a second published file, which no page here uses.
_NOT_NEEDED = ("contact_head.",)


def load_file(card: ModelCard, path: Path) -> LanguageModel:
    """The model `card` from its file, in evaluation mode and float32."""
    state = check_file(path, card)
    module, alphabet = build_module(card)
    full = {name: state.get(name, value).float() for name, value in module.state_dict().items()}
    module.load_state_dict(full, assign=True)
    module.lm_head.weight = module.embed_tokens.weight
    module.eval().requires_grad_(False)
    return LanguageModel(card.name, card.label, card.knows, module, alphabet, file_sha256(path))


def check_file(path: Path, card: ModelCard) -> dict[str, torch.Tensor]:
    """The tensors of a weight file under the names of fair-esm's module.

    Raises WeightsError unless the file is whole and holds exactly this model.
    """
    data = _read(path, card)
    if not isinstance(data, dict) or not {"cfg", "model"} <= set(data):
        raise WeightsError(f"{path} is not a weight file of {card.label}: no cfg and model in it.")
    shape = _shape(data["cfg"])
    if shape != card.shape:
        raise WeightsError(
            f"{path} describes layers, width and heads as {shape}, and {card.label} has "
            f"{card.shape}: it is another model's file."
        )
    state = {_plain_name(name): tensor for name, tensor in data["model"].items()}
    _check_tensors(state, card, path)
    return state


def _check_tensors(state: dict[str, torch.Tensor], card: ModelCard, path: Path) -> None:
    expected = {name: tensor.shape for name, tensor in _empty_module(card)[0].state_dict().items()}
    wrong = [name for name, tensor in state.items() if expected.get(name) != tensor.shape]
    missing = [n for n in expected if n not in state and not n.startswith(_NOT_NEEDED)]
    if wrong or missing:
        raise WeightsError(
            f"{path} is not {card.label}: {len(wrong)} tensors have another name or shape and "
            f"{len(missing)} are missing ({', '.join((wrong + missing)[:3])}). Put the right file "
            "there, or choose the model it belongs to."
        )
    if not all(torch.isfinite(tensor).all() for tensor in state.values()):
        raise WeightsError(f"{path} holds values that are not numbers; delete it and get it again.")


def build_module(card: ModelCard) -> tuple[Any, Any]:
    """fair-esm's ESM-2 of this shape, all weights zero, and its alphabet.

    Random initial values are skipped: they would cost half a second and be overwritten.
    """
    module, alphabet = _empty_module(card)
    module = module.to_empty(device="cpu")
    for parameter in module.parameters():
        parameter.data.zero_()
    d_k = card.d_model // card.heads
    for layer in module.layers:
        layer.self_attn.rot_emb.inv_freq.copy_(10000.0 ** -(torch.arange(0, d_k, 2) / d_k))
    return module, alphabet


def _empty_module(card: ModelCard) -> tuple[Any, Any]:
    try:
        from esm.data import Alphabet
        from esm.model.esm2 import ESM2
    except ImportError as problem:
        raise WeightsError(
            "The package fair-esm is missing or hidden by another package called esm: "
            "pip uninstall esm, then pip install fair-esm==2.0.0."
        ) from problem
    alphabet = Alphabet.from_architecture("ESM-1b")
    with torch.device("meta"):
        module = ESM2(card.layers, card.d_model, card.heads, alphabet, token_dropout=True)
    return module, alphabet


def _read(path: Path, card: ModelCard) -> Any:
    if not path.is_file():
        raise WeightsError(f"{path} is not there; {card.label} cannot be loaded.")
    damaged = WeightsError(
        f"{path} ({path.stat().st_size:,} bytes; about {card.size_bytes:,} expected) is cut short "
        "or damaged. Delete it and get it again."
    )
    try:
        # torch does not compare the checksums inside the file, so a flipped bit would pass.
        if zipfile.is_zipfile(path) and zipfile.ZipFile(path).testzip() is not None:
            raise damaged
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as problem:
        raise WeightsError(
            f"{path} holds more than weights and was not opened, because it could run code. "
            f"Put the published {card.file} there."
        ) from problem
    except (RuntimeError, EOFError, OSError, ValueError, zipfile.BadZipFile) as problem:
        raise damaged from problem


def _plain_name(name: str) -> str:
    for prefix in ("encoder.sentence_encoder.", "encoder."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _shape(cfg: Any) -> tuple[Any, ...]:
    """Layers, width, heads as either kind of file writes them; None where they are not said."""
    if not isinstance(cfg, dict):
        return (None, None, None)
    if isinstance(cfg.get("model"), argparse.Namespace):
        names = ("encoder_layers", "encoder_embed_dim", "encoder_attention_heads")
        return tuple(getattr(cfg["model"], name, None) for name in names)
    return tuple(cfg.get(name) for name in ("num_layers", "embed_dim", "attention_heads"))


def file_sha256(path: Path) -> str:
    """Checksum of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
