"""The truncation scrubber: with script it follows the slider, without it is links and a form; it is for everybody."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"
TEXT = 'Hi.\n<tool_call>{"name": "f", "arguments": {"a": "b c"}}</tool_call>'


def look(page: Page, path: str = f"{EXAMPLE}?step=18") -> None:
    page.goto(path)
    show_panel(page, "truncation")
    expect(page.locator("#cut-at")).to_be_visible()


def test_the_first_look_cuts_at_the_cursor_and_leaves_the_address(page: Page) -> None:
    look(page)
    expect(page.locator("#cut-at")).to_have_value("121")
    expect(page.locator(".cut-message")).to_contain_text("of 27 characters")
    page.get_by_role("link", name="Next step").click()
    page.wait_for_function("() => location.search.includes('step=19')")
    assert "cut=" not in page.url


def test_the_tab_counts_the_results_once_somebody_looked(page: Page) -> None:
    look(page)
    expect(page.locator('#dock [data-count="truncation"]')).to_have_text("5")


def test_the_slider_moves_the_cut_and_keeps_the_focus(page: Page) -> None:
    look(page)
    page.locator("[data-cut-slider]").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#cut-at")).to_have_value("126")
    expect(page.locator(".cut-place")).to_have_attribute(
        "data-cut-words", "Cut after character 126: content, 1 call, cut off."
    )
    expect(page.locator("[data-cut-slider]")).to_be_focused()
    page.wait_for_function("() => location.search.includes('cut=126') && location.search.includes('step=18')")
    expect(page.locator("#live")).to_have_text("Cut after character 126: content, 1 call, cut off.")


def test_the_buttons_lead_to_where_the_result_changes(page: Page) -> None:
    look(page)
    page.get_by_role("link", name="Next cut with another result").click()
    expect(page.locator(".cut-place")).to_have_attribute(
        "data-cut-words", "Cut after character 146: content, 1 call, complete."
    )
    page.get_by_role("link", name="Previous cut with another result").click()
    page.get_by_role("link", name="Previous cut with another result").click()
    expect(page.locator("#cut-at")).to_have_value("1")
    expect(page.locator("[data-cut-jump=previous]")).to_have_attribute("aria-disabled", "true")


def test_a_number_and_a_row_of_the_table_choose_a_cut_too(page: Page) -> None:
    look(page)
    page.locator("#cut-at").fill("9")
    page.keyboard.press("Enter")
    expect(page.locator(".cut-message")).to_contain_text("9 of 41 characters")
    page.locator(".cut-changes summary").click()
    page.locator(".cut-changes [data-cut]").last.click()
    expect(page.locator(".cut-message")).to_contain_text("get_time")
    expect(page.locator(".cut-message")).to_contain_text("as in the whole output")


def test_a_run_without_address_is_scrubbed_too(page: Page) -> None:
    page.goto("/")
    page.locator("#parser").select_option("qwen")
    page.locator("#text").fill(TEXT)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    show_panel(page, "truncation")
    expect(page.locator("#cut-at")).to_be_visible()
    page.locator("#cut-at").fill(str(TEXT.index(" c")))
    page.locator("[data-cut-go]").click()
    expect(page.locator(".cut-message")).to_contain_text("8 of 12 characters")


def test_without_script_it_is_links_and_a_form(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=18")
    plain.get_by_role("link", name="Cut it at the cursor").click()
    expect(plain.locator(".cut-message")).to_contain_text("of 27 characters")
    expect(plain.locator("[data-cut-slider]")).to_be_hidden()
    plain.locator("#cut-at").fill("150")
    plain.get_by_role("button", name="Cut", exact=True).click()
    expect(plain.locator("#cut-at")).to_have_value("150")
    plain.get_by_role("link", name="Previous cut with another result").click()
    expect(plain.locator("#cut-at")).to_have_value("146")
    expect(plain).to_have_url(re.compile("step=18"))


@pytest.mark.parametrize("panel", ["truncation", "lag"])
def test_axe_finds_nothing_on_a_cut_and_its_tables(page: Page, panel: str) -> None:
    page.goto(f"{EXAMPLE}?step=18&cut=120&only=dropped,name")
    show_panel(page, panel)
    page.locator(f"#{panel} summary").click()
    for screen in on_each_screen(page):
        page.locator(f"#{panel}").evaluate("element => element.scrollIntoView()")
        assert (screen, violations(page, screen, f"#{panel}")) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
