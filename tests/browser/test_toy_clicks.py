"""What only a real browser shows on the toy page: clicks on maps and bars, edits, the way back."""

import re

import pytest

PARAMETER = re.compile(r"[?&](t_\w+)=([^&]*)")
LIMIT_MS = 60_000


@pytest.fixture
def toy(app_url, page):
    page.set_viewport_size({"width": 1280, "height": 2400})
    page.set_default_timeout(LIMIT_MS)

    def opened(parameters: str = ""):
        page.goto(f"{app_url}/toy_model?{parameters}")
        page.wait_for_selector(".st-key-toy_row .barlayer .point path", state="attached")
        page.wait_for_selector(".st-key-toy_maps .barlayer .point path", state="attached")
        return page

    return opened


def click_middle(page, locator) -> None:
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    # Plotly takes a click for what it last hovered.
    page.mouse.move(x, y - 1)
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)


def test_clicking_a_row_of_a_map_asks_for_it(toy):
    page = toy()
    rows = page.locator(".st-key-toy_maps .barlayer .point path")
    assert rows.count() == 4 * 13
    click_middle(page, rows.nth(2 * 13 + 9))
    page.get_by_role("heading", name="E10 in head 3").wait_for()
    assert dict(PARAMETER.findall(page.url)) == {"t_h": "3", "t_r": "E10"}


def test_clicking_a_bar_follows_its_key(toy):
    page = toy()
    click_middle(page, page.locator(".st-key-toy_row .barlayer .point path").nth(5))
    page.get_by_text("Query and key. R6 asks, R6 answers").wait_for()


def test_an_edit_goes_into_the_link_and_the_link_restores_it(toy):
    page = toy("t_e=Swap+a+residue")
    page.locator(".st-key-toy_swap").get_by_role("radio", name="A", exact=True).or_(
        page.locator(".st-key-toy_swap button").nth(0)
    ).first.click()
    page.get_by_text("Edited: R6 is now A.").wait_for()
    assert dict(PARAMETER.findall(page.url))["t_w"] == "6A"
    page = toy("t_w=6A_nopos")
    page.get_by_text("Edited: R6 is now A; positions off.").wait_for()
    page.get_by_role("button", name="Restore").click()
    page.get_by_text("Edited:").wait_for(state="detached")
    assert "t_w" not in dict(PARAMETER.findall(page.url))
    assert page.locator('[data-testid="stException"]').count() == 0


def test_the_first_picture_needs_no_scrolling(toy):
    page = toy()
    page.set_viewport_size({"width": 1280, "height": 720})
    box = page.locator(".st-key-toy_maps .js-plotly-plot").bounding_box()
    assert box["y"] + box["height"] <= 720


def test_on_a_phone_nothing_is_wider_than_the_screen(toy):
    page = toy()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
