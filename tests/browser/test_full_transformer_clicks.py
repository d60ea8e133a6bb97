"""The drawing in a real browser: a click opens a box, the link keeps it, keys work too."""

import re

import pytest
from playwright.sync_api import Page, expect

PATH = "/full_transformer"
PATIENCE_MS = 60_000


@pytest.fixture
def drawing(page: Page, app_url: str) -> Page:
    page.set_default_timeout(PATIENCE_MS)
    page.goto(app_url + PATH)
    page.locator(".js-plotly-plot").first.locator(".bars .point").nth(17).wait_for()
    return page


def click_box(page: Page, number: int) -> None:
    bar = page.locator(".js-plotly-plot").first.locator(".bars .point").nth(number).bounding_box()
    assert bar is not None
    page.mouse.click(bar["x"] + 8, bar["y"] + bar["height"] / 2)


def test_clicking_a_box_opens_it_and_a_clean_browser_sees_the_same(
    drawing: Page, new_context, app_url: str
) -> None:
    drawing.evaluate("document.querySelector('.js-plotly-plot').dataset.before = 'click'")
    click_box(drawing, 12)
    expect(drawing.get_by_text("The output asks, the source answers")).to_be_visible(
        timeout=PATIENCE_MS
    )
    expect(drawing).to_have_url(re.compile("f_box=Cross-attention"), timeout=PATIENCE_MS)
    drawing.get_by_text("Download or see the code").first.click()
    expect(drawing.get_by_text("Data (CSV)")).to_be_visible(timeout=PATIENCE_MS)
    # The picture is not replaced under the visitor's hand.
    kept = drawing.evaluate("document.querySelector('.js-plotly-plot').dataset.before")
    assert kept == "click"
    other = new_context().new_page()
    other.set_default_timeout(PATIENCE_MS)
    other.goto(drawing.url)
    expect(other.get_by_text("The output asks, the source answers")).to_be_visible(
        timeout=PATIENCE_MS
    )


def test_a_box_can_be_chosen_without_a_mouse(drawing: Page) -> None:
    box = drawing.get_by_role("combobox", name="Box (or click it in the drawing)")
    box.focus()
    box.fill("Generator")
    box.press("Enter")
    expect(drawing.get_by_text("One score for every token")).to_be_visible(timeout=PATIENCE_MS)
    expect(drawing).to_have_url(re.compile("f_box=Generator"), timeout=PATIENCE_MS)


def test_the_first_picture_is_visible_without_scrolling(page: Page, app_url: str) -> None:
    page.set_default_timeout(PATIENCE_MS)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(app_url + PATH)
    bars = page.locator(".js-plotly-plot").first.locator(".bars .point")
    bars.nth(17).wait_for()
    boxes = [bars.nth(n).bounding_box() for n in range(18)]
    assert max(box["y"] + box["height"] for box in boxes if box) <= 720


def test_nothing_scrolls_sideways_on_a_phone(page: Page, app_url: str) -> None:
    page.set_default_timeout(PATIENCE_MS)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}{PATH}?f_part=Masks")
    page.locator(".js-plotly-plot").nth(3).wait_for()
    wide = page.evaluate(
        "(() => { const m = document.querySelector('[data-testid=stMain]');"
        " return m.scrollWidth - m.clientWidth })()"
    )
    assert wide <= 0
