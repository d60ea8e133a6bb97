"""Settings come from the environment, and a wrong one is named."""

from pathlib import Path

import pytest

from core.settings import REPOSITORY, read_settings


def test_defaults_need_no_environment():
    settings = read_settings({})
    assert settings.data_folder == REPOSITORY / ".data"
    assert (settings.model_folder, settings.owner_key, settings.threads) == (None, None, None)
    assert (settings.offline, settings.max_running) == (False, 1)


def test_every_variable_is_read():
    settings = read_settings(
        {
            "ONE_RECEPTOR_DATA": "/d",
            "ONE_RECEPTOR_MODELS": "/m",
            "ONE_RECEPTOR_OWNER_KEY": "k",
            "ONE_RECEPTOR_OFFLINE": "1",
            "ONE_RECEPTOR_MAX_RUNNING": "3",
            "ONE_RECEPTOR_THREADS": "2",
        }
    )
    assert (settings.data_folder, settings.model_folder) == (Path("/d"), Path("/m"))
    assert (settings.owner_key, settings.offline) == ("k", True)
    assert (settings.max_running, settings.threads) == (3, 2)


@pytest.mark.parametrize("text", ["two", "-1", "1.5"])
def test_a_number_that_cannot_be_read_is_named(text):
    with pytest.raises(ValueError, match="ONE_RECEPTOR_MAX_RUNNING"):
        read_settings({"ONE_RECEPTOR_MAX_RUNNING": text})
