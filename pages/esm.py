from core.protein.chain import default_chain
from pages.parts.esm_guess import guess_section
from pages.parts.frame import open_page

open_page("esm", "Click a letter of the chain: the bars say what the model expects there.")

guess_section(default_chain(), "trb-mini")
