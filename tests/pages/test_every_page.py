"""Walk the page list through the entry script: no page fails, good input or bad."""

import pytest

from pages.parts.frame import ROOMS

BAD_SEQUENCES = {
    "empty": "",
    "header only": ">receptor",
    "digits": "12345",
    "asterisk": "CA*SS",
    "X": "CASXS",
    "foreign letter": "CASSЖ",
    "10,000 letters": "A" * 10_000,
    "script": "<script>alert(1)</script>",
}
PAGES_WITH_A_SEQUENCE = ["toy_model", "full_transformer", "training", "traps"]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_page_opens_with_its_title(open_page, room):
    app = open_page(room.name)
    assert not app.exception
    assert app.title[0].value == room.title


@pytest.mark.parametrize("text", BAD_SEQUENCES.values(), ids=BAD_SEQUENCES.keys())
@pytest.mark.parametrize("name", PAGES_WITH_A_SEQUENCE)
def test_a_bad_sequence_gets_a_sentence_and_the_picture_stays(open_page, name, text):
    app = open_page(name)
    figures = len(app.get("plotly_chart"))
    app.text_input("seq").set_value(text).run()
    assert not app.exception
    assert any("Still showing CASSIRSSYEQYF" in error.value for error in app.error)
    assert len(app.get("plotly_chart")) == figures


@pytest.mark.parametrize("text", ["cassirssyeqyf", ">receptor\nCASSIRSSYEQYF"])
@pytest.mark.parametrize("name", PAGES_WITH_A_SEQUENCE)
def test_what_was_cleaned_is_said(open_page, name, text):
    app = open_page(name)
    app.text_input("seq").set_value(text).run()
    assert not app.exception
    assert not app.error
    assert any("upper case" in note.value or "FASTA" in note.value for note in app.caption)
