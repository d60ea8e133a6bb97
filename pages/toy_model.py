from pages.parts.frame import open_page

open_page("toy_model", "…")
