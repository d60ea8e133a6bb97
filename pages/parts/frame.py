"""The list of pages and how a page opens inside the app's frame.

The list lives here and not in streamlit_app.py because a page needs it too: as long as no
session has run the entry script, Streamlit serves a deep link such as /esm from the `pages`
folder alone, without navigation. `open_page` then registers the list and runs again.
"""

from base64 import b64encode
from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.navigation.page import Page

from core.settings import ASSETS

_ROUTED, _OPEN = "_routed_by_entry_script", "_open_room"
# A figure without a theme writes in Plotly's grey, which becomes the colour of the page's text;
# but not on coloured cells, where Plotly chose between grey and white.
_INK = (
    "<style>.stPlotlyChart :not(.heatmap-label) > text:not(.slicetext, .bartext-inside)"
    '[style*="fill: rgb(68, 68, 68)"] {fill: currentColor !important}</style>'
)


@dataclass(frozen=True)
class Room:
    """One page: file in `pages/`, title, icon, the line that says what it shows, menu name."""

    name: str
    title: str
    icon: str
    help: str
    menu: str = ""


ROOMS = (
    Room(
        "home",
        "One Receptor",
        ":material/home:",
        "The Transformer, told with one T-cell receptor.",
        menu="Home",
    ),
    Room(
        "toy_model",
        "Toy model",
        ":material/grid_on:",
        "Four attention heads set by hand, every number visible and editable.",
    ),
    Room(
        "full_transformer",
        "Full Transformer",
        ":material/account_tree:",
        "The encoder-decoder of “Attention Is All You Need”, part by part.",
    ),
    Room(
        "training",
        "Training",
        ":material/show_chart:",
        "Teach a Transformer to read a CDR3 backwards, live.",
    ),
    Room(
        "esm",
        "Protein model",
        ":material/visibility_off:",
        "Hide a residue and let a protein language model guess it.",
    ),
    Room(
        "traps",
        "Four traps",
        ":material/warning:",
        "Four common beliefs about Transformers, each tested live.",
    ),
)


@cache
def _tab_icon() -> str:
    """Our own picture, because Streamlit fetches Material icons for the tab from the internet.

    It is written out: a browser asks for an icon's file again whenever the address changes, and
    the server then answers that beside the rerun which changed it.
    """
    picture = (ASSETS / "icon.png").read_bytes()
    return f"data:image/png;base64,{b64encode(picture).decode()}"


def navigate() -> Page:
    """Set up the browser tab, register every page and return the one that the URL asks for."""
    st.session_state[_ROUTED] = True
    st.set_page_config(page_title="One Receptor", page_icon=_tab_icon(), layout="wide")
    return st.navigation(
        [
            st.Page(
                f"pages/{room.name}.py",
                title=room.menu or room.title,
                icon=room.icon,
                url_path="" if room.name == "home" else room.name,
                default=room.name == "home",
                help=room.help,
            )
            for room in ROOMS
        ]
    )


def open_page(name: str, first_click: str) -> None:
    """First call of every page: guard the deep link, then write the title and what to do first.

    `first_click` is the one sentence that tells a newcomer where to begin.
    """
    if _ROUTED not in st.session_state:
        navigate()
        st.rerun()
    st.session_state[_OPEN] = name
    room = next(room for room in ROOMS if room.name == name)
    st.title(room.title)
    st.markdown(f"{room.help} **{first_click}**")
    st.html(_INK)


def open_room() -> str:
    """The name of the page that is open."""
    return str(st.session_state.get(_OPEN, ""))
