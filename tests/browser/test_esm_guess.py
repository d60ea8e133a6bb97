"""The protein page in a real browser: guess, vote, reveal, click a residue, scan."""

import re

import pytest
from playwright.sync_api import Page, expect

LONG = 90_000  # a cold server imports much first, perhaps on a busy machine


@pytest.fixture
def esm_page(app_url, page: Page) -> Page:
    page.set_default_timeout(LONG)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app_url}/esm")
    expect(page.get_by_text("cannot see residue 115")).to_be_visible(timeout=LONG)
    return page


def numbers_of(page: Page) -> str:
    return page.get_by_text("cannot see residue").inner_text()


def click_letter(page: Page, position: int) -> None:
    """Click a letter of the chain as a hand does: Plotly wants the pointer to arrive first."""
    letter = page.get_by_test_id("stPlotlyChart").first.locator(".textpoint text").nth(position - 1)
    expect(letter).to_be_visible(timeout=LONG)
    page.wait_for_timeout(500)  # the chart listens a moment after it is drawn
    box = letter.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.up()


def test_opens_with_a_guess_and_the_first_picture_needs_no_scrolling(esm_page):
    assert "TRB-mini, not ESM-2" in numbers_of(esm_page)
    picture = esm_page.get_by_test_id("stPlotlyChart").first
    expect(picture).to_be_visible(timeout=LONG)
    box = picture.bounding_box()
    assert box["y"] + box["height"] <= 720
    expect(esm_page.get_by_test_id("stException")).to_have_count(0)


def test_a_click_on_the_chain_chooses_the_residue(esm_page):
    click_letter(esm_page, 20)
    expect(esm_page.get_by_text("cannot see residue 20 ")).to_be_visible(timeout=LONG)
    expect(esm_page).to_have_url(re.compile("e_at=20"))


def test_a_pill_and_a_number_choose_the_residue(esm_page):
    esm_page.get_by_role("radio", name="C1", exact=True).click()
    expect(esm_page.get_by_text("cannot see residue 110")).to_be_visible(timeout=LONG)
    expect(esm_page.get_by_text("Published, ESM-2 35M")).to_be_visible()
    esm_page.get_by_role("spinbutton").fill("3")
    esm_page.get_by_role("spinbutton").press("Enter")
    expect(esm_page.get_by_text("cannot see residue 3 ")).to_be_visible(timeout=LONG)


def test_a_vote_keeps_the_answer_out_of_the_page_until_reveal(esm_page):
    answer = re.search(r"p\(R\) = ([\d.]+)", numbers_of(esm_page))[1]
    esm_page.get_by_text("Hold a vote").click()
    expect(esm_page.get_by_text("cannot see residue")).to_have_count(0, timeout=LONG)
    # The bars go when the run ends; only the chain stays.
    expect(esm_page.get_by_test_id("stPlotlyChart")).to_have_count(1, timeout=LONG)
    assert answer not in esm_page.content()
    esm_page.get_by_role("radio", name="S", exact=True).click()
    esm_page.get_by_role("button", name="Reveal").click()
    expect(esm_page.get_by_text("Your vote: S")).to_be_visible(timeout=LONG)
    assert answer in numbers_of(esm_page)


def test_the_scan_shows_its_numbers_and_a_link_repeats_them(esm_page, app_url, context):
    esm_page.get_by_role("button", name="Hide each of the 131").click()
    expect(esm_page.get_by_text("129 of 131")).to_be_visible(timeout=LONG)
    expect(esm_page.get_by_text("pseudo-perplexity")).to_be_visible()
    esm_page.get_by_role("radio", name="Log-odds").click()
    expect(esm_page).to_have_url(re.compile("e_view=Log-odds"))
    other = context.new_page()
    other.goto(esm_page.url)
    expect(other.get_by_text("129 of 131")).to_be_visible(timeout=LONG)
    expect(other.get_by_text("masked-marginal score")).to_be_visible()
