"""Who is looking: a secret that lets a browser steer the runs it started, after a reload too."""

import hashlib
import secrets

import streamlit as st

_COOKIE = "_streamlit_xsrf"
_KEY = "_visitor_key"


def visitor_key() -> str:
    """This browser's secret, or the key that was entered in its place."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = _from_cookie() or secrets.token_urlsafe(24)
    return str(st.session_state[_KEY])


def use_key(key: str) -> None:
    """Act as the holder of `key` (of a run's starter or of the owner) for this session."""
    if key.strip():
        st.session_state[_KEY] = key.strip()


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
