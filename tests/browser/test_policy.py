"""The whole way through a run keeps to the policy of the page: an error in the console fails the test (conftest)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import violations
from tests.browser.test_live import edit
from tests.browser.test_recorded import log

pytestmark = pytest.mark.browser

LEAVE_STYLES = """() => {
  for (const one of document.querySelectorAll("#page [id]")) {
    one.style.color = "red";
    one.style.color = "";
  }
}"""  # what may be left of a style that was set for a moment: an empty attribute
PANELS = ("findings", "chunkings", "events", "watch", "robustness", "truncation", "lag", "wire")
TORN = 'Sure.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris, "days": 3}}\n</tool_call>'


def first_run(page: Page, text: str) -> None:
    """Run a text from the first page, by the keyboard alone."""
    page.goto("/")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.insert_text(text)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()


def width(page: Page) -> float:
    """The width of the output's pane."""
    box = page.locator("#input").bounding_box()
    assert box is not None
    return box["width"]


def test_panes_that_were_moved_stay_so_through_the_next_run(page: Page) -> None:
    first_run(page, TORN)
    splitter = page.get_by_role("separator", name="Width of the output")
    for _ in range(3):
        splitter.press("ArrowRight")
    wide = width(page)
    page.get_by_role("button", name="Larger").click()
    page.evaluate(LEAVE_STYLES)
    edit(page, " More.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#fork > summary")).to_be_visible()
    assert abs(width(page) - wide) < 2
    assert page.locator("[style]").count() == 0


def test_every_part_of_a_run_is_opened_without_an_error(page: Page) -> None:
    first_run(page, TORN)
    for key in ("End", "Home", "ArrowRight", "w", "Escape", "m", "M", "]", "}", "Control+k", "Escape", "?", "Escape"):
        page.locator("#strip [tabindex='0']").focus()
        page.keyboard.press(key)
    for name in ("All rows", "Table", "Diagram", "Text", "Bytes", "Tokens", "At the end", "Diff", "At step"):
        page.locator("#inspector").get_by_role("button", name=name, exact=True).click()
    for panel in PANELS:
        show_panel(page, panel)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#compare, main h1").first).to_be_attached()


def test_the_place_that_the_verdict_names_is_a_link_and_marked(page: Page) -> None:
    first_run(page, TORN)
    expect(page.locator("#headline")).to_contain_text("at character 73, where d after the string")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("Home")
    page.locator("#said").get_by_role("button", name="character 73").click()
    expect(page.locator("#strip [aria-selected=true] .named-place")).to_have_text("d")
    expect(page.locator("#step .card:not([hidden])")).to_contain_text("73")
    page.keyboard.press("{")
    expect(page.locator("#strip .named-place")).to_have_count(1)
    assert violations(page, part="#input") + violations(page, part="#verdict") == []


def test_without_script_the_place_is_marked_too(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill(TORN)
    plain.get_by_role("button", name="Run", exact=False).first.click()
    expect(plain.locator("#strip .named-place").first).to_be_visible()


def test_what_asks_for_the_raw_output_opens_where_it_is_seen(page: Page) -> None:
    first_run(page, log("no-index"))
    page.get_by_text("Add the raw output").click()
    expect(page.locator("#raw_output")).to_be_focused()
    expect(page.get_by_role("button", name="Judge the parser")).to_be_in_viewport()
    for box in page.locator(".evidence-actions").all():
        assert box.locator("a, button").count()
