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
    click_at(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def click_at(page, x: float, y: float) -> None:
    # Plotly takes a click for what it last hovered.
    page.mouse.move(x, y - 1)
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)


def click_cell(page, figure: str, which: int, row: int, column: int) -> None:
    frame = page.locator(f".st-key-{figure} .barlayer .point path").nth(which * 13 + row)
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    x = box["x"] + (column + 0.5) * box["width"] / 13
    click_at(page, x, box["y"] + box["height"] / 2)


def test_clicking_a_cell_of_a_map_asks_for_its_row_and_column(toy):
    page = toy()
    assert page.locator(".st-key-toy_maps .barlayer .point path").count() == 4 * 13
    click_cell(page, "toy_maps", 2, 9, 11)
    page.get_by_role("heading", name="E10 in head 3").wait_for()
    page.get_by_text("Query and key. E10 asks, Y12 answers").wait_for()
    assert dict(PARAMETER.findall(page.url)) == {"t_h": "3", "t_r": "E10", "t_k": "Y12"}
    # A second click takes Plotly's selection back, and must ask again all the same.
    page.locator(".st-key-t_r button").nth(0).click()
    page.get_by_role("heading", name="C1 in head 3").wait_for()
    click_cell(page, "toy_maps", 2, 9, 11)
    page.get_by_role("heading", name="E10 in head 3").wait_for()


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


def test_going_to_the_largest_change_moves_every_picker_and_the_link(toy):
    page = toy("t_w=9D&t_h=3")
    page.get_by_role("button", name="Go there").click()
    page.get_by_role("heading", name="D9 in head 1").wait_for()
    page.get_by_text("Query and key. D9 asks, R6 answers").wait_for()
    page.wait_for_url("**t_k=R6**")
    assert dict(PARAMETER.findall(page.url)) == {"t_w": "9D", "t_r": "D9", "t_k": "R6"}
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("heading", name="Y9 in head 1").wait_for()
    page.get_by_text("Query and key. Y9 asks, R6 answers").wait_for()
    page.get_by_role("radio", name="Y9", checked=True).wait_for()


def test_the_first_picture_needs_no_scrolling(toy):
    page = toy()
    page.set_viewport_size({"width": 1280, "height": 720})
    for figure in page.locator(".st-key-toy_maps .js-plotly-plot").all():
        box = figure.bounding_box()
        assert box["y"] + box["height"] <= 720


def test_on_a_phone_nothing_is_wider_than_the_screen(toy):
    page = toy()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for figure in page.locator(".st-key-toy_maps .js-plotly-plot").all():
        box = figure.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    equations = page.locator(".st-key-toy_story .katex-display").all()
    assert len(equations) == 6
    assert all(e.evaluate("e => e.scrollWidth <= e.clientWidth") for e in equations)
