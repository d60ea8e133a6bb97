"""What every test shares: the published numbers, and a data folder that is thrown away."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Every published number with its tolerance (tests/golden_numbers.json)."""
    return json.loads((Path(__file__).parent / "golden_numbers.json").read_text())


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    """No test reads or writes the data folder of the person who runs it."""
    monkeypatch.setenv("ONE_RECEPTOR_DATA", str(tmp_path / "data"))
