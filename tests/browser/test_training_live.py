"""A run started, watched, left, found again and stopped by people in real browsers."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

SLOW_MACHINE = 90_000
SHORT = "r_s_steps=80&r_s_batch=8"
LONG = "r_s_steps=20000&r_s_batch=8"


def open_training(page: Page, app_url: str, query: str = "") -> None:
    page.set_default_timeout(SLOW_MACHINE)
    page.goto(f"{app_url}/training?{query}")
    expect(page.get_by_role("heading", level=1, name="Training")).to_be_visible(
        timeout=SLOW_MACHINE
    )


def start(page: Page) -> str:
    """Press Start, wait for the first point, and return the run's number."""
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile(r"run=\d+"), timeout=SLOW_MACHINE)
    expect(page.get_by_text(re.compile(r"step [1-9][\d,]* of"))).to_be_visible(timeout=SLOW_MACHINE)
    return re.search(r"run=(\d+)", page.url).group(1)


def steps_done(page: Page) -> int:
    text = page.get_by_text(re.compile(r"step [\d,]+ of")).inner_text()
    return int(re.search(r"step ([\d,]+) of", text).group(1).replace(",", ""))


def expect_state(page: Page, state: str) -> None:
    expect(page.get_by_text(re.compile(f"sprint, .*: {state}"))).to_be_visible(timeout=SLOW_MACHINE)


def loss_chart(page: Page):
    return page.get_by_test_id("stVegaLiteChart").first


@pytest.fixture
def stopping(page: Page):
    """Whatever a test does, its run does not go on behind it."""
    yield
    stop = page.get_by_role("button", name="Stop", exact=True)
    if stop.count():
        stop.click()
        expect_state(page, "stopped")


def test_a_run_is_started_watched_reloaded_and_shared(app_url, page: Page, browser: Browser):
    open_training(page, app_url, SHORT)
    run_id = start(page)
    expect_state(page, "finished")
    assert steps_done(page) == 80

    page.reload()
    expect_state(page, "finished")
    assert steps_done(page) == 80

    other = browser.new_context().new_page()
    for query in (f"run={run_id}", "run=latest"):
        open_training(other, app_url, query)
        expect_state(other, "finished")
        assert steps_done(other) == 80


def test_the_curve_grows_in_place_and_two_browsers_see_it(
    app_url, page: Page, browser: Browser, stopping
):
    open_training(page, app_url, LONG)
    run_id = start(page)
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts.nth(5).locator("svg")).to_be_visible(timeout=SLOW_MACHINE)
    charts.evaluate_all("nodes => nodes.forEach(n => { n.querySelector('svg').marked = true; })")
    first = steps_done(page)
    other = browser.new_context().new_page()
    open_training(other, app_url, f"run={run_id}")
    expect_state(other, "running")
    page.wait_for_timeout(2_000)
    assert steps_done(page) > first
    kept = charts.evaluate_all("nodes => nodes.map(n => n.querySelector('svg').marked === true)")
    # The loss chart is built anew when its axis shrinks by a half, the others never.
    assert kept[1:] == [True] * 5
    assert steps_done(other) > first
    expect(other.get_by_role("button", name="Stop", exact=True)).to_be_disabled()


def test_pause_resume_and_stop_are_obeyed_after_a_reload_too(app_url, page: Page):
    open_training(page, app_url, LONG)
    start(page)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect_state(page, "paused")
    page.reload()
    expect_state(page, "paused")
    standing = steps_done(page)
    page.wait_for_timeout(1_500)
    assert steps_done(page) == standing
    page.get_by_role("button", name="Resume", exact=True).click()
    expect_state(page, "running")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect_state(page, "stopped")
    expect(page.get_by_role("button", name="Go on from the last checkpoint")).to_be_enabled()


def test_the_view_can_stand_still_while_the_run_goes_on(app_url, page: Page, stopping):
    open_training(page, app_url, LONG)
    start(page)
    expect(page.get_by_text("Cross-attention at step")).to_be_visible(timeout=SLOW_MACHINE)
    page.get_by_text("Follow live").click()
    expect(page.get_by_test_id("stProgress")).to_be_visible()
    page.wait_for_timeout(1_000)
    standing = steps_done(page)
    _zoom(page)
    zoomed = _axis_labels(page)
    page.wait_for_timeout(2_500)
    assert steps_done(page) == standing
    assert _axis_labels(page) == zoomed
    page.get_by_text("Follow live").click()
    expect(page.get_by_text(re.compile(rf"step {standing:,} of"))).to_have_count(0)
    assert steps_done(page) > standing


def _zoom(page: Page) -> None:
    before = _axis_labels(page)
    box = loss_chart(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(800)
    assert _axis_labels(page) != before, "the wheel did not zoom"


def _axis_labels(page: Page) -> list[str]:
    return loss_chart(page).locator("text").all_inner_texts()


def test_the_recorded_run_can_be_scrubbed(app_url, page: Page):
    open_training(page, app_url, "run=recorded")
    expect(page.get_by_text("step 3,000 of 3,000")).to_be_visible(timeout=SLOW_MACHINE)
    slider = page.get_by_role("slider", name="Go back to step")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    expect(page.get_by_text("Cross-attention at step 2,500")).to_be_visible()


def test_a_phone_keeps_its_place_while_the_run_streams(app_url, page: Page, stopping):
    page.set_viewport_size({"width": 390, "height": 844})
    open_training(page, app_url, LONG)
    start(page)
    expect(page.get_by_text("Cross-attention at step")).to_be_visible(timeout=SLOW_MACHINE)
    page.get_by_text("Cross-attention at step").scroll_into_view_if_needed()
    place, done = _scrolled(page), steps_done(page)
    assert place > 0
    page.wait_for_timeout(2_500)
    assert steps_done(page) > done
    assert _scrolled(page) == pytest.approx(place, abs=2)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390


def _scrolled(page: Page) -> float:
    return page.get_by_test_id("stMain").evaluate("node => node.scrollTop")


def test_a_run_is_taken_away_renamed_and_deleted_with_a_question(app_url, page: Page):
    open_training(page, app_url, SHORT)
    run_id = start(page)
    expect_state(page, "finished")
    page.get_by_text("Take away").click()
    for label, name in {
        "Curves (CSV)": f"run_{run_id}.csv",
        "Recipe (JSON)": f"run_{run_id}.json",
        "Checkpoint": f"run_{run_id}.pt",
        "Script that repeats it": "repeat_run.py",
    }.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        assert download.value.suggested_filename == name
        assert download.value.path().stat().st_size > 100

    page.get_by_text("Runs", exact=True).click()
    _tick_newest(page)
    page.get_by_role("textbox", name="Name", exact=True).fill("my best one")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("my best one: finished")).to_be_visible(timeout=SLOW_MACHINE)
    _tick_newest(page)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("a run that is not here")).to_be_visible(timeout=SLOW_MACHINE)
    expect(page.get_by_text("my best one")).to_have_count(0, timeout=SLOW_MACHINE)


def _tick_newest(page: Page) -> None:
    """Tick the first row: the table is a canvas, so its box is found by its place."""
    if page.get_by_role("button", name="Rename").count():
        return
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    table.click(position={"x": 16, "y": 52})
    expect(page.get_by_role("button", name="Rename")).to_be_visible()
