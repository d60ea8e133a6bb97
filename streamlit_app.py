"""The frame of the app: page settings and navigation. No science.

Run with `streamlit run streamlit_app.py`.
"""

import streamlit as st

from pages.parts.frame import navigate

st.set_page_config(page_title="One Receptor", page_icon=":material/genetics:", layout="wide")
navigate().run()
