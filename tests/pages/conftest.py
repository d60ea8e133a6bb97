"""Pages are opened through the entry script, as a visitor opens them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ENTRY_SCRIPT = Path(__file__).resolve().parents[2] / "streamlit_app.py"


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """`open_page("traps", seq="CASS")`: the page after its first run, with URL parameters."""

    def opened(name: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(ENTRY_SCRIPT), default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = value
        app.run()
        return app if name == "home" else app.switch_page(f"pages/{name}.py").run()

    return opened
