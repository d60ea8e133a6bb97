"""The frame of the app: page settings and navigation. No science.

Run with `streamlit run streamlit_app.py`.
"""

import streamlit as st

from core.settings import ASSETS
from pages.parts.frame import navigate

# A file of our own: Streamlit fetches Material icons for the tab from the internet.
st.set_page_config(page_title="One Receptor", page_icon=ASSETS / "icon.png", layout="wide")
navigate().run()
