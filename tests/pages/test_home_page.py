"""The home page: computed headlines, a link to every page, and nothing slow loaded."""

import math
import subprocess
import sys

from core.transformer.parameters import total_by_formula
from core.transformer.shape import ModelShape
from pages.parts.frame import ROOMS

TORCH_FREE = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("streamlit_app.py", default_timeout=60).run()
assert not app.exception, app.exception
for slow in ("torch", "pandas"):
    assert slow not in sys.modules, f"the home page loaded {slow}"
"""


def test_every_other_page_has_a_link_and_a_number(open_page):
    app = open_page("home")
    links = [link.proto.page for link in app.get("page_link")]
    assert links == [room.name for room in ROOMS if room.name != "home"]
    assert len(app.subheader) == len(links)


def test_the_headlines_are_computed(open_page, golden):
    numbers = [heading.value for heading in open_page("home").subheader]
    toy, total = golden["toy"], golden["transformer"]["parameters_total"]
    assert numbers[0] == f"{100 * toy['weights_of_R6_head1']['to_E10']:.0f}\N{NO-BREAK SPACE}%"
    assert total_by_formula(ModelShape(10_000, 8_000)) == total
    assert numbers[1] == f"{total / 1e6:.1f} million"
    right, other = 0.9 + 0.1 / 23, 0.1 / 23
    assert numbers[2] == f"{-right * math.log(right) - 22 * other * math.log(other):.3f}"
    assert numbers[3] == "11 of 13"
    ffn, attention = toy["ffn_weight_count_d8_ff32"], toy["attention_weight_count_d8_h4"]
    assert numbers[4] == f"{ffn} : {attention}"


def test_the_sequence_is_drawn_with_words_for_those_who_cannot_see_it(open_page, golden):
    (figure,) = open_page("home").get("plotly_chart")
    assert "CASSIRSSYEQYF, 13 residues, each as 8 numbers" in figure.proto.alt
    assert "R6 and E10 are charged" in figure.proto.alt
    hydropathy = [golden["toy"]["hydropathy_scaled"][letter] for letter in "CASSIRSSYEQYF"]
    said = f"hydropathy from {min(hydropathy):+.2f} to {max(hydropathy):+.2f}"
    assert said in figure.proto.alt
    polar, aromatic = (
        sum(letter in those for letter in "CASSIRSSYEQYF") for those in ("STNQY", "FWY")
    )
    assert f"polar for {polar}, aromatic for {aromatic} of them" in figure.proto.alt


def test_torch_is_not_loaded():
    subprocess.run([sys.executable, "-c", TORCH_FREE], check=True, timeout=120)
