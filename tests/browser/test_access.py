"""Everybody can use it: WCAG 2.2 AA by axe, keyboard alone, 320 pixels, forced colours, less motion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PAGES = (
    "/",
    "/gallery",
    "/help",
    "/checks",
    "/example/two-calls-with-prose?step=20",
    "/example/unknown-tool?machine=table&dock=wire&input=bytes",
    "/example/call-inside-reasoning?result=diff&input=text",
    "/example/unfinished-json/share",
    "/example/sglang-24147-value-ends-like-a-tag",
    "/engines",
)
SCREENS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 320, "height": 640}, "color_scheme": "light"},
}


# Colours are looked at once in each scheme, all else once in each width: a page takes axe seconds.
RULES: dict[str, dict[str, Any]] = {
    "light": {"runOnly": {"type": "tag", "values": TAGS}},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
    "narrow": {"runOnly": {"type": "tag", "values": TAGS}, "rules": {"color-contrast": {"enabled": False}}},
}


def violations(page: Page, screen: str = "light", part: str = "html") -> list[str]:
    """What axe finds in a part of a page. Its source is evaluated: the page's own policy refuses foreign scripts.

    A whole run takes it seconds. It is looked at above; what a test of its own brings about is looked at as a part.
    """
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    asked = RULES[screen] | {"resultTypes": ["violations"]}
    found = page.evaluate("([part, asked]) => axe.run(part, asked)", [part, asked])["violations"]
    return [f"{item['id']}: {node['target']} {node['failureSummary']}" for item in found for node in item["nodes"]]


def on_each_screen(page: Page) -> Iterator[str]:
    """A page that is loaded once, as each screen shows it."""
    for screen, given in SCREENS.items():
        page.set_viewport_size(given["viewport"])
        page.emulate_media(color_scheme=given["color_scheme"])
        yield screen


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(page: Page, path: str) -> None:
    page.goto(path)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen]["viewport"]["width"]


@pytest.mark.parametrize("name", ["share", "help"])
def test_axe_finds_nothing_in_a_dialog(page: Page, name: str) -> None:
    page.goto("/example/unknown-tool")
    page.locator("[data-share]" if name == "share" else "[data-dialog=help]").click()
    expect(page.locator(f"#{name}-dialog")).to_be_visible()
    assert violations(page, part=f"#{name}-dialog") == []


def test_axe_finds_nothing_in_errors(page: Page, allowed: list[str]) -> None:
    allowed += ["404", "422"]
    page.goto("/c/0000000000000000")
    assert violations(page) == []
    page.goto("/")
    page.locator("#text").fill("x")
    page.locator("#tools-menu summary").click()
    page.locator("#tools").fill("{")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors")).to_be_focused()
    assert violations(page) == []


def test_the_whole_journey_by_keyboard(page: Page) -> None:
    page.goto("/")
    page.locator("#text").focus()
    page.keyboard.type('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    page.keyboard.press("Control+Enter")
    expect(page.locator(".case-note")).to_have_text("not shared")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("End")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("End of output")
    page.keyboard.press("3")
    expect(page.locator("#result")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.press("Escape")
    page.locator("[data-share]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#share-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#share-dialog")).to_be_hidden()
    expect(page.locator("[data-share]")).to_be_focused()


def test_the_colours_are_a_choice_that_is_kept(page: Page) -> None:
    page.goto("/help")
    page.locator("[data-theme-toggle]").click()
    page.locator("[data-theme-toggle]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("[data-theme-toggle]")).to_have_accessible_name("Colours: dark")


def test_the_cursor_shows_in_forced_colours(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, forced_colors="active", reduced_motion="reduce")
    page = context.new_page()
    page.goto("/example/unknown-tool?step=3")
    style = page.locator("#strip [aria-selected=true]").first.evaluate("e => getComputedStyle(e).outlineStyle")
    assert style == "solid"
    context.close()
