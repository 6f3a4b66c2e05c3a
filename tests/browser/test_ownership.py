"""The legend filters the text at once, by mouse and keyboard, and the lag plot follows the cursor."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.dock import show_panel

pytestmark = pytest.mark.browser

EXAMPLE = "/example/call-inside-reasoning"


def toggle(page: Page, role: str) -> Locator:
    return page.locator(f"[data-role-toggle={role}]")


def decoration(page: Page, role: str) -> str:
    """What draws a role's cue under its first run in the strip."""
    run = page.locator(f"#strip .run.role-{role}").first
    return str(run.evaluate("run => { const s = getComputedStyle(run); return s.borderBlockEndColor + s.fontWeight }"))


def test_a_pressed_role_leaves_only_its_own_cue(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=74")
    named, reasoned = decoration(page, "name"), decoration(page, "reasoning")
    toggle(page, "name").click()
    expect(toggle(page, "name")).to_have_attribute("aria-pressed", "true")
    assert decoration(page, "name") == named
    assert decoration(page, "reasoning") != reasoned
    page.wait_for_function("() => location.search.includes('only=name')")
    toggle(page, "reasoning").click()
    assert decoration(page, "reasoning") == reasoned
    page.wait_for_function("() => /only=reasoning,name/.test(location.search)")
    page.reload()
    expect(toggle(page, "reasoning")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="show all").or_(page.get_by_role("link", name="show all")).click()
    expect(page.locator("[data-role-all]")).to_be_hidden()
    expect(toggle(page, "content")).to_be_focused()
    page.wait_for_function("() => !location.search.includes('only=')")


def test_a_role_is_a_button_for_both_keys(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=3&input=text")
    toggle(page, "dropped").focus()
    page.keyboard.press("Space")
    expect(page.locator("#input")).to_have_attribute("data-only", "dropped")
    page.keyboard.press("Enter")
    expect(page.locator("#input")).to_have_attribute("data-only", "")
    expect(page).to_have_url(re.compile("step=3"))


def test_the_text_tab_shows_who_got_what_is_not_fed_yet(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    faint = decoration(page, "arguments")
    page.get_by_role("link", name="Text", exact=True).click()
    assert decoration(page, "arguments") != faint


def test_how_much_is_held_and_the_lag_cursor_follow_the_step(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    before = page.locator("[data-lag-cursor]").get_attribute("x1")
    expect(toggle(page, "held").locator("[data-role-size]")).to_have_text("0")
    page.locator("#go-to").fill("53")
    page.locator("#go-to").press("Enter")
    expect(toggle(page, "held")).to_have_attribute("aria-label", "held, 33 characters")
    assert page.locator("[data-lag-cursor]").get_attribute("x1") != before


def test_a_click_into_the_lag_plot_goes_to_the_step_that_fed_the_character(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    show_panel(page, "lag")
    plot = page.locator("[data-lag]")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": box["width"] - 1, "y": 50})
    last = page.locator("#go-to")
    expect(last).not_to_have_value("1")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step")
    plot.click(position={"x": 1, "y": 50})
    expect(last).to_have_value("1")


def test_a_filter_survives_the_next_window(page: Page) -> None:
    page.goto("/")
    page.locator("#parser").select_option("passthrough")
    page.locator("#text").fill("some words that go on and on " * 400)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    toggle(page, "held").click()
    page.locator("#go-to").fill("1500")
    page.locator("#go-to").press("Enter")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 1,500")
    expect(page.locator("#input")).to_have_attribute("data-only", "held")


def test_without_script_a_role_is_a_link(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=20")
    toggle(plain, "dropped").click()
    expect(plain).to_have_url(re.compile(r"\?step=20&only=dropped$"))
    expect(toggle(plain, "dropped")).to_have_attribute("aria-pressed", "true")
    toggle(plain, "name").click()
    expect(plain.locator("#input")).to_have_attribute("data-only", "name dropped")
    plain.locator("[data-role-all]").click()
    expect(plain.locator("#input")).to_have_attribute("data-only", "")
