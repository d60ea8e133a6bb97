"""Every page by its own URL on a server that nobody has opened, in a real browser."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from pages.parts.frame import ROOMS

# Streamlit looks for its own endpoints under the page's path first and finds them above.
EXPECTED_NOISE = "/_stcore/"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_deep_link_on_a_fresh_server_shows_the_page_in_its_frame(app_url, page: Page, room):
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console", lambda message: problems.append(message.text) if _is_error(message) else None
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    path = "" if room.name == "home" else room.name
    page.goto(f"{app_url}/{path}?seq=CASSIRSSYEQYF")
    expect(page.get_by_role("heading", level=1, name=room.title)).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stSidebarNav").get_by_role("link")).to_have_count(len(ROOMS))
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=90_000)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert problems == []
    # Offline means offline: no font, icon or script from anywhere else.
    assert [url for url in asked if not url.startswith((app_url, "ws:", "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_axe_finds_no_serious_violation(app_url, browser: Browser, room, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto(f"{app_url}/{'' if room.name == 'home' else room.name}")
    expect(page.get_by_role("heading", level=1, name=room.title)).to_be_visible(timeout=60_000)
    # The recorded run plays at first; a page counts once it has come to rest.
    expect(page.get_by_test_id("stApp")).to_have_attribute(
        "data-test-script-state", "notRunning", timeout=90_000
    )
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=30_000)
    found = Axe().run(page).response["violations"]
    page.close()
    serious = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in found
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []


def _is_error(message) -> bool:
    place = f"{message.text} {message.location}"
    return message.type == "error" and EXPECTED_NOISE not in place


def test_the_sequence_of_a_link_goes_along_to_the_next_page(app_url, page: Page):
    box = page.get_by_label("Sequence").first
    page.goto(f"{app_url}/full_transformer?seq=CASSLGQ")
    expect(box).to_have_value("CASSLGQ", timeout=30_000)
    page.get_by_role("link", name="Four traps").click()
    expect(page.get_by_role("heading", name="Four traps")).to_be_visible(timeout=30_000)
    expect(page).to_have_url(re.compile("traps.*seq=CASSLGQ"), timeout=30_000)
    expect(box).to_have_value("CASSLGQ")
