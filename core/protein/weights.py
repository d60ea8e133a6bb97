"""Where the weights of the protein models lie, and how they become a LanguageModel.

In: a model's name. Out: what is known about it, or the loaded model, or a WeightsError with a
sentence to show. Downloads live in `download.py`. A file is never unpickled: only tensors, and
the plain argument list that ESM-2's published files carry, are read.
"""

import argparse
import hashlib
import os
import pickle
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from core.protein.model import LanguageModel
from core.settings import ASSETS, Settings, read_settings

TOKENS = 33


class WeightsError(RuntimeError):
    """Weights that are missing or unusable; the message says what, where, and what to do."""


@dataclass(frozen=True)
class ModelCard:
    """What a model is, before any file is looked at. `file` is the weight file's name."""

    name: str
    label: str
    layers: int
    d_model: int
    heads: int
    file: str
    knows: str
    bytes_per_weight: int = 4

    @property
    def parameters(self) -> int:
        """Number of weights of this shape, contact head and tied output layer as in ESM-2."""
        d = self.d_model
        layer = 12 * d * d + 13 * d
        head = d * d + 3 * d + TOKENS
        return TOKENS * d + self.layers * (layer) + 2 * d + head + self.layers * self.heads + 1

    @property
    def size_bytes(self) -> int:
        """Size of the weights on disk, to a few per cent."""
        return self.parameters * self.bytes_per_weight


TRB_MINI = ModelCard(
    "trb-mini",
    "TRB-mini, not ESM-2",
    6,
    192,
    6,
    "trb_mini.pt",
    "Human T-cell receptor beta chains simulated from V(D)J recombination: germline V and J, "
    "and what the junction usually holds. It never saw a natural sequence, and knows nothing of "
    "other proteins, alpha chains, thymic selection or what a receptor binds.",
    bytes_per_weight=2,
)
_ESM2_KNOWS = (
    "Protein sequences of every kind (UniRef50). It does not know which antigen a receptor binds."
)
MODELS = (
    TRB_MINI,
    ModelCard("esm2-8m", "ESM-2 8M", 6, 320, 20, "esm2_t6_8M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-35m", "ESM-2 35M", 12, 480, 20, "esm2_t12_35M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-150m", "ESM-2 150M", 30, 640, 20, "esm2_t30_150M_UR50D.pt", _ESM2_KNOWS),
    ModelCard("esm2-650m", "ESM-2 650M", 33, 1280, 20, "esm2_t33_650M_UR50D.pt", _ESM2_KNOWS),
)


@dataclass(frozen=True)
class AvailableModel:
    """A model and where its weights are: `path` is None when they are not on this machine."""

    card: ModelCard
    path: Path | None
    destination: Path

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def label(self) -> str:
        return self.card.label

    @property
    def knows(self) -> str:
        return self.card.knows

    @property
    def found(self) -> bool:
        return self.path is not None

    @property
    def size_bytes(self) -> int:
        """Size of the file that was found, or about the size of the one to download."""
        return self.path.stat().st_size if self.path else self.card.size_bytes


def model_card(name: str) -> ModelCard:
    """The card of a model by name. Raises WeightsError naming those there are."""
    for card in MODELS:
        if card.name == name.lower():
            return card
    names = ", ".join(card.name for card in MODELS)
    raise WeightsError(f"There is no model “{name}”: choose one of {names}.")


def weight_folders(settings: Settings | None = None) -> tuple[Path, ...]:
    """Folders searched for ESM-2 files, in order: the user's, then the torch hub cache."""
    chosen = (settings or read_settings()).model_folder
    hub = Path(os.environ.get("TORCH_HOME") or Path.home() / ".cache" / "torch")
    folders = [chosen] if chosen else []
    return (*folders, hub / "hub" / "checkpoints")


def available_models(settings: Settings | None = None) -> tuple[AvailableModel, ...]:
    """Every model this app can use, with where its weights are, TRB-mini first."""
    folders = weight_folders(settings)
    found = [AvailableModel(TRB_MINI, ASSETS / TRB_MINI.file, ASSETS / TRB_MINI.file)]
    for card in MODELS[1:]:
        places = [folder / card.file for folder in folders]
        path = next((place for place in places if place.is_file()), None)
        found.append(AvailableModel(card, path, places[0]))
    return tuple(found)


def load(name: str, settings: Settings | None = None) -> LanguageModel:
    """The model `name` from its file, in evaluation mode and float32.

    Raises WeightsError when the weights are missing, cut short or of another model.
    """
    card = model_card(name)
    model = next(m for m in available_models(settings) if m.card is card)
    if model.path is None:
        looked = " and ".join(str(folder) for folder in weight_folders(settings))
        raise WeightsError(
            f"The weights of {card.label} are not on this machine: no {card.file} in {looked}. "
            "Download them from the protein page, or put the file there."
        )
    return load_file(card, model.path)


def load_file(card: ModelCard, path: Path) -> LanguageModel:
    """Read one weight file as the model `card` says it is. Raises WeightsError if it is not."""
    state = _state_dict(card, _read(path, card), path)
    module, alphabet = build_module(card)
    expected = module.state_dict()
    wrong = [k for k, v in state.items() if k not in expected or expected[k].shape != v.shape]
    missing = [k for k in expected if k not in state and not k.startswith("contact_head.")]
    if wrong or missing:
        raise WeightsError(
            f"{path} is not {card.label}: {len(wrong)} tensors have another shape or name and "
            f"{len(missing)} are missing ({', '.join((wrong + missing)[:3])} ...). Put the right "
            "file there or choose the model it belongs to."
        )
    full = {k: state.get(k, v).float() for k, v in expected.items()}
    if not all(torch.isfinite(v).all() for v in full.values()):
        raise WeightsError(f"{path} holds values that are not numbers; delete it and get it again.")
    module.load_state_dict(full, assign=True)
    module.lm_head.weight = module.embed_tokens.weight
    module.eval().requires_grad_(False)
    return LanguageModel(card.name, card.label, card.knows, module, alphabet, file_sha256(path))


def build_module(card: ModelCard) -> tuple[Any, Any]:
    """fair-esm's ESM-2 of this shape, and its alphabet. Weights are not yet set.

    Raises WeightsError when another package called `esm` hides fair-esm.
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
    # Random initial values are skipped: they would cost half a second and be overwritten.
    with torch.device("meta"):
        module = ESM2(card.layers, card.d_model, card.heads, alphabet, token_dropout=True)
    module = module.to_empty(device="cpu")
    for layer in module.layers:
        d_k = card.d_model // card.heads
        layer.self_attn.rot_emb.inv_freq.copy_(10000.0 ** -(torch.arange(0, d_k, 2) / d_k))
    module.contact_head.regression.weight.data.zero_()
    module.contact_head.regression.bias.data.zero_()
    return module, alphabet


def _read(path: Path, card: ModelCard) -> Any:
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as problem:
        raise WeightsError(f"{path} is gone; {card.label} cannot be loaded.") from problem
    except (RuntimeError, EOFError, OSError, ValueError, zipfile.BadZipFile) as problem:
        raise WeightsError(
            f"{path} ({path.stat().st_size:,} bytes; about {card.size_bytes:,} expected) is cut "
            "short or damaged. Delete it and get it again."
        ) from problem
    except pickle.UnpicklingError as problem:
        raise WeightsError(
            f"{path} holds more than weights and was not opened, because it could run code. "
            f"Put the published {card.file} there."
        ) from problem


def _state_dict(card: ModelCard, data: Any, path: Path) -> dict[str, torch.Tensor]:
    """The tensors under the names of fair-esm's module; checks that the file describes `card`."""
    if not isinstance(data, dict) or not {"cfg", "model"} <= set(data):
        raise WeightsError(f"{path} is not a weight file of {card.label}: no cfg and model in it.")
    shape = _shape(data["cfg"])
    if shape != (card.layers, card.d_model, card.heads):
        raise WeightsError(
            f"{path} describes layers, width and heads as {shape}, and {card.label} has "
            f"{(card.layers, card.d_model, card.heads)}: it is another model's file."
        )
    prefixes = ("encoder.sentence_encoder.", "encoder.")
    state = {}
    for key, value in data["model"].items():
        prefix = next((p for p in prefixes if key.startswith(p)), "")
        state[key[len(prefix) :]] = value
    return state


def _shape(cfg: Any) -> tuple[Any, ...]:
    if isinstance(cfg, dict) and isinstance(cfg.get("model"), argparse.Namespace):
        names = ("encoder_layers", "encoder_embed_dim", "encoder_attention_heads")
        return tuple(getattr(cfg["model"], name, None) for name in names)
    if isinstance(cfg, dict):
        return tuple(cfg.get(name) for name in ("num_layers", "embed_dim", "attention_heads"))
    return (None, None, None)


def file_sha256(path: Path) -> str:
    """Checksum of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
