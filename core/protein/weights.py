"""Where the weights of the protein models lie on this machine, and loading them by name.

In: a model's name. Out: where it is, or the loaded model, or a WeightsError with a sentence to
show. Downloading is `download.py`.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from core.protein.cards import MODELS, TRB_MINI, ModelCard, WeightsError, model_card
from core.protein.checkpoint import load_file
from core.protein.model import LanguageModel
from core.settings import ASSETS, Settings, read_settings

__all__ = ["MODELS", "TRB_MINI", "AvailableModel", "ModelCard", "WeightsError", "model_card"]


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
            "Download them on the protein page or with `python -m core.protein download "
            f"{card.name}`, or put the file there."
        )
    return load_file(card, model.path)
