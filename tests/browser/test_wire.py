"""The wire view: chunks, event stream and the one object, with script and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/call-inside-reasoning"
VIEWS = ("chunks", "sse", "response")


def events(text: str) -> list[Any]:
    """The payloads of an event stream; it has to end with the sentinel."""
    found = text.split("\n\n")
    assert found[-2:] == ["data: [DONE]", ""]
    return [json.loads(event.removeprefix("data: ")) for event in found[:-2]]


def chunks(page: Page) -> Any:
    return page.get_by_role("region", name="Chunks as the client receives them")


@pytest.mark.parametrize("script", [True, False])
def test_view_and_dialect_are_chosen_and_the_cursor_stays(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto(f"{EXAMPLE}?step=9&dock=wire&machine=table")
    expect(chunks(tab)).to_contain_text('"reasoning": "')
    tab.get_by_role("link", name="reasoning_content", exact=True).click()
    expect(chunks(tab)).to_contain_text('"reasoning_content": "')
    tab.get_by_role("link", name="SSE", exact=True).click()
    expect(tab.locator("#wire-text")).to_contain_text('data: {"id":"chatcmpl-')
    expect(tab.locator("#wire-text")).to_contain_text('"reasoning_content":"')
    tab.get_by_role("link", name="Not streamed").click()
    expect(tab.get_by_role("region", name="The answer as one object")).to_contain_text('"extensions": {')
    expect(tab.get_by_role("link", name="Not streamed")).to_have_attribute("aria-current", "true")
    expect(tab.locator("#go-to")).to_have_value("9")
    expect(tab.get_by_role("region", name="Transition table")).to_be_visible()
    if script:
        tab.wait_for_function("() => location.search.includes('wire=response')")
    for kept in ("step=9", "dock=wire", "machine=table", "wire=response", "dialect=reasoning_content"):
        assert kept in tab.url


@pytest.mark.parametrize("script", [True, False])
def test_a_run_without_an_address_has_the_same_choices(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto("/")
    tab.locator("#text").fill('<think>Hm.</think>Hi <tool_call>{"name": "f", "arguments": {}}</tool_call>')
    tab.locator("#parser").select_option("qwen")
    tab.locator("#setup [name=run]").click()
    expect(tab.locator(".case-note")).to_have_text("not shared")
    if script:
        show_panel(tab, "wire")
    tab.get_by_role("button", name="reasoning_content", exact=True).click()
    tab.get_by_role("button", name="SSE", exact=True).click()
    expect(tab.locator("#wire-text")).to_contain_text('"reasoning_content":"')
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Download the whole stream").click()
    saved = events(Path(download.value.path()).read_text())
    assert saved[0]["choices"][0]["delta"]["reasoning_content"]
    assert saved[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_the_focus_stays_on_the_choice(page: Page) -> None:
    page.goto(f"{EXAMPLE}?dock=wire")
    page.get_by_role("link", name="SSE", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#wire-text")).to_be_visible()
    expect(page.get_by_role("link", name="SSE", exact=True)).to_be_focused()


def test_a_row_leads_to_its_step_and_the_step_marks_its_row(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=2&dock=wire")
    expect(chunks(page).locator("li.now a")).to_have_text("2")
    page.get_by_role("link", name="Step 7", exact=True).click()
    expect(page.locator("#go-to")).to_have_value("7")
    expect(chunks(page).locator("li.now a")).to_have_text("7")
    expect(chunks(page).locator("li.not-yet").first).to_be_visible()


def test_the_current_chunk_is_brought_into_sight(page: Page) -> None:
    page.goto("/example/two-calls-with-prose?step=45")
    show_panel(page, "wire")
    expect(chunks(page).locator("li.now").first).to_be_in_viewport()
    page.get_by_role("link", name="Last step").click()
    expect(chunks(page).locator("li.now").last).to_contain_text('"finish_reason": "tool_calls"')
    box, row = (found.bounding_box() or {} for found in (chunks(page), chunks(page).locator("li.now").first))
    assert box["y"] <= row["y"] <= box["y"] + box["height"]


def test_stepping_keeps_what_the_address_chose(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=3&dock=wire&wire=sse&dialect=reasoning_content")
    page.get_by_role("link", name="Next step").click()
    page.wait_for_function("() => location.search.includes('step=4')")
    for kept in ("dock=wire", "wire=sse", "dialect=reasoning_content"):
        assert kept in page.url


def test_what_is_copied_is_the_exported_stream(page: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/example/marker-split-across-tokens?dock=wire&wire=sse")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = events(page.evaluate("() => navigator.clipboard.readText()"))
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the whole stream").click()
    assert copied == events(Path(download.value.path()).read_text())


def test_a_copy_that_is_refused_says_what_to_do(page: Page) -> None:
    page.goto(f"{EXAMPLE}?dock=wire&wire=response")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Select and copy")).to_be_visible()


def test_a_long_answer_shows_its_window(page: Page) -> None:
    page.goto("/")
    page.locator("#parser").select_option("passthrough")
    page.locator("#text").fill("some words that go on and on " * 400)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    show_panel(page, "wire")
    assert chunks(page).locator("li").count() < 200
    expect(chunks(page)).to_contain_text("⋯ what steps 34 to")
    page.get_by_role("link", name="Last step").or_(page.get_by_role("button", name="Last step")).click()
    expect(chunks(page).locator("li.now").last).to_contain_text('"finish_reason": "stop"')
    expect(chunks(page)).to_contain_text("⋯ what steps 1 to")


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_on_the_wire(page: Page, view: str) -> None:
    page.goto(f"{EXAMPLE}?step=20&dock=wire&wire={view}")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen, "#wire")) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
