"""Text from a link or a visitor: shown harmless, and a value that does not exist is named."""

import re
from collections.abc import Callable, Iterable, Mapping

import streamlit as st

_SHOWN = 40


def plain(text: str) -> str:
    """The text with Markdown's signs made harmless, for gene names and what visitors typed."""
    return re.sub(r"([\\`*_{}\[\]()#+!|<>~:$&])", r"\\\1", text)


def say_what_is_damaged(checks: Mapping[str, tuple[str, Callable[[str], bool]]]) -> None:
    """For each URL key: what it is called, and whether a text is a value it can take.

    Call it before the widgets, which put the default where they cannot read the link.
    """
    for key, (name, fits) in checks.items():
        text = st.query_params.get(key)
        if text is not None and not fits(text):
            shown = text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
            st.warning(
                f"The link's {name} ({key}={plain(shown)}) does not exist here; the usual one is "
                "shown.",
                icon=":material/link_off:",
            )


def whole_number(low: int, high: int) -> Callable[[str], bool]:
    """Whether a text is a whole number from `low` to `high`."""
    return lambda text: text.isascii() and text.isdigit() and low <= int(text[:9]) <= high


def number(low: float, high: float) -> Callable[[str], bool]:
    """Whether a text is a number from `low` to `high`."""

    def fits(text: str) -> bool:
        try:
            return low <= float(text) <= high
        except ValueError:
            return False

    return fits


def check_link(allowed: Mapping[str, Iterable[object]], **names: str) -> None:
    """Say so when the URL holds none of the values that a widget offers; `names` are the keys'."""
    say_what_is_damaged(
        {key: (names.get(key, "setting"), _one_of(values)) for key, values in allowed.items()}
    )


def _one_of(values: Iterable[object]) -> Callable[[str], bool]:
    """Looks only when asked: most links name few of a page's settings."""
    return lambda text: text in map(str, values)
