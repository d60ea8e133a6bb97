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
from torch.overrides import TorchFunctionMode

from core.protein.cards import ModelCard, WeightsError
from core.protein.model import LanguageModel

# Contacts need a second published file, which no page here uses.
_NOT_NEEDED = ("contact_head.",)


def load_file(card: ModelCard, path: Path) -> LanguageModel:
    """The model `card` from its file, in evaluation mode and float32."""
    state = check_file(path, card)
    module, alphabet = empty_module(card)
    full = {
        name: state[name].float() if name in state else torch.zeros(tensor.shape)
        for name, tensor in module.state_dict().items()
    }
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
    expected = {name: tensor.shape for name, tensor in empty_module(card)[0].state_dict().items()}
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


class _NoInitialValues(TorchFunctionMode):
    """Leaves new weights unset, which takes neither time nor memory until they are written.

    The meta device would do as well, but its first operation imports torch's compiler: 1.4 s
    before a first guess.
    """

    _SKIPPED = frozenset({"normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_"})

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in self._SKIPPED:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def empty_module(card: ModelCard) -> tuple[Any, Any]:
    """fair-esm's ESM-2 of this shape without memory for its weights, and its alphabet.

    Random initial values would cost half a second and a second copy of the weights.
    """
    try:
        from esm.data import Alphabet
        from esm.model.esm2 import ESM2
    except ImportError as problem:
        raise WeightsError(
            "The package fair-esm is missing or hidden by another package called esm: "
            "pip uninstall esm, then pip install fair-esm==2.0.0."
        ) from problem
    alphabet = Alphabet.from_architecture("ESM-1b")
    with _NoInitialValues():
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
