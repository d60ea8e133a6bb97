"""The frame of the app. No science.

Run with `streamlit run streamlit_app.py`.
"""

from pages.parts.frame import navigate

navigate().run()
