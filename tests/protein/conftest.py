"""Models for the tests: TRB-mini, and small ESM-2s of random weights in the published format."""

import argparse
from pathlib import Path

import numpy as np
import pytest
import torch
from esm.data import Alphabet
from esm.model.esm2 import ESM2

from core.protein.cards import ModelCard
from core.protein.chain import Chain, default_chain
from core.protein.checkpoint import load_file
from core.protein.model import LanguageModel
from core.protein.scan import scan
from core.protein.weights import load

# Five layers, width 44 = 11 heads of 4: no two axes of one size.
TINY = ModelCard(
    "esm2-tiny", "random ESM-2", 5, 44, 11, "esm2_t5_tiny.pt", "nothing: random weights"
)


def save_published(card: ModelCard, path: Path, seed: int = 0) -> ESM2:
    """Random weights, saved as ESM-2's published files are laid out; returns the module."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = ESM2(card.layers, card.d_model, card.heads, Alphabet.from_architecture("ESM-1b"))
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.3 / card.d_model**0.25)
    module.eval()
    state = {
        ("encoder." if name.startswith("lm_head.") else "encoder.sentence_encoder.") + name: tensor
        for name, tensor in module.state_dict().items()
        if not name.startswith("contact_head.")
    }
    cfg = argparse.Namespace(
        arch="esm2",
        encoder_layers=card.layers,
        encoder_embed_dim=card.d_model,
        encoder_attention_heads=card.heads,
        token_dropout=True,
    )
    torch.save({"cfg": {"model": cfg}, "model": state}, path)
    return module


@pytest.fixture(scope="session")
def mini() -> LanguageModel:
    return load("trb-mini")


@pytest.fixture(scope="session")
def mini_table(mini, published) -> np.ndarray:
    """TRB-mini's whole scan of the published chain."""
    return scan(mini, published)


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / TINY.file
    save_published(TINY, path)
    return path


@pytest.fixture(scope="session")
def tiny(tiny_file) -> LanguageModel:
    return load_file(TINY, tiny_file)


@pytest.fixture(scope="session")
def published() -> Chain:
    return default_chain()
