"""Who is looking: a secret that lets a browser steer the runs it started, after a reload too."""

import hashlib
import secrets

import streamlit as st

from core.runs.run import Run
from core.runs.supervisor import Supervisor

_COOKIE = "_streamlit_xsrf"
_KEY, _ENTERED = "_visitor_key", "_entered_key"


def visitor_key() -> str:
    """This browser's own secret, with which its runs are started; never a key that was entered."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = _from_cookie() or secrets.token_urlsafe(24)
    return str(st.session_state[_KEY])


def key_for(supervisor: Supervisor, run: Run) -> str:
    """The key to change `run` with: the visitor's own, or the entered one where that does not."""
    own = visitor_key()
    entered = st.session_state.get(_ENTERED)
    return own if entered is None or supervisor.may_change(run, own) else str(entered)


def enter_key(supervisor: Supervisor, run: Run, key: str) -> bool:
    """Keep `key` (of a starter or of the owner) for this session, if it opens `run`."""
    opens = supervisor.may_change(run, key.strip())
    if opens:
        st.session_state[_ENTERED] = key.strip()
    return opens


def _from_cookie() -> str | None:
    """The random token inside Streamlit's own cookie: unlike a session it survives a reload.

    The cookie (version 2) is `2|mask|masked token|time` in hexadecimal, and its mask may change
    while the token stays.
    """
    parts = st.context.cookies.get(_COOKIE, "").strip('"').split("|")
    if len(parts) != 4 or parts[0] != "2":
        return None
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except ValueError:
        return None
    if len(mask) != 4 or len(masked) < 16:
        return None
    token = bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked))
    # Derived from the token and not the token, because people may hand their key to others.
    return hashlib.sha256(b"key to my runs" + token).hexdigest()[:32]
