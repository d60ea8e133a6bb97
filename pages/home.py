from pages.parts.frame import open_page

open_page("home", "…")
