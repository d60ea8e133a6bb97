"""The traps page in a browser: a setting goes into the address, which restores it."""

import re

from playwright.sync_api import Page, expect

SLOW = 20_000


def test_a_shuffle_is_a_link(app_url, page: Page, browser):
    page.goto(f"{app_url}/traps?x=Order&x_seed=3")
    heading = page.locator("h4")
    expect(heading).to_contain_text("with positions off", timeout=SLOW)
    before = heading.inner_text()
    page.get_by_test_id("stNumberInputStepUp").click()
    expect(page).to_have_url(re.compile("x_seed=4"), timeout=SLOW)
    expect(heading).not_to_have_text(before, timeout=SLOW)
    other = browser.new_context().new_page()
    other.goto(page.url)
    expect(other.locator("h4")).to_have_text(heading.inner_text(), timeout=SLOW)


def test_an_answer_gets_instant_feedback(app_url, page: Page):
    page.goto(f"{app_url}/traps?x=Self-check&x_q=5")
    page.get_by_text("6 to 13", exact=True).click(timeout=SLOW)
    expect(page.get_by_test_id("stAlert")).to_contain_text("Right.", timeout=SLOW)
