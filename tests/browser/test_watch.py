"""Pinned steps, and what is watched: before and after a step, and at every pin."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"


def test_pins_are_flags_rows_and_part_of_the_address(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    pin = page.get_by_role("button", name="Pin this step")
    page.locator("#strip [data-token][aria-selected=true]").focus()
    page.keyboard.press("m")
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    expect(pin).to_have_attribute("aria-pressed", "false")
    pin.click()
    expect(page.locator("#overview .kept")).to_have_count(2)
    expect(page).to_have_url(re.compile("pins=19,20"))
    page.keyboard.press("End")
    page.keyboard.press("M")
    expect(page.locator("#go-to")).to_have_value("19")
    page.reload()
    expect(page.locator("#overview .kept")).to_have_count(2)
    expect(page.locator("#dock [data-tab=watch] .count")).to_have_text("2")
    show_panel(page, "watch")
    page.get_by_label("Unpin step 19").click()
    expect(page.locator("#overview .kept")).to_have_count(1)
    expect(page).to_have_url(re.compile("pins=20$"))
    page.get_by_label("Pinned step 20").click()
    expect(page.locator("#go-to")).to_have_value("20")
    assert violations(page, part="#overview") + violations(page, part="#dock") == []


def test_the_thirty_first_pin_is_refused_aloud(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=40&pins={','.join(map(str, range(1, 31)))}")
    page.locator("[data-pin]").click()
    expect(page.locator("#live")).to_have_text("Step 40 is not pinned: 30 steps are, and that is the most.")
    expect(page.locator("[data-pin]")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#watch .pane-note")).to_have_text("30 pinned steps, the most")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("step=39.*pins=.*29,30$"))


def test_the_watch_shows_before_and_after_while_stepping(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19&dock=watch")
    rows = page.locator("#watch tbody:first-of-type tr:visible")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_attribute("aria-current", "step")
    assert "city" not in rows.nth(0).inner_text()
    expect(rows.nth(1).locator("td.changed")).to_contain_text('{"city')
    page.locator("#strip [data-token][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text('{"city')
    expect(rows.nth(1).locator("th")).to_have_text("20")


def test_the_watch_says_of_a_tentative_call_that_it_is_not_sent(page: Page) -> None:
    page.goto("/")
    page.locator("#parser").select_option("qwen")
    call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
    page.locator("#text").fill(call * 2)
    page.locator("#setup [name=run]").click()
    show_panel(page, "watch")
    now = page.locator("#watch tbody:first-of-type tr[aria-current]")
    second = page.locator("#strip [data-token]", has_text="<tool_call>").last
    second.click()
    expect(now).to_contain_text("call 1: not sent yet, it may still be text")
    expect(now).not_to_contain_text("call 0")


def test_without_script_steps_are_pinned_by_a_link(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=19")
    plain.get_by_role("button", name="Pin this step").click()
    expect(plain.locator("#overview .kept")).to_have_count(1)
    plain.get_by_role("link", name="Next step").click()
    expect(plain.locator("#watch .pins")).to_contain_text('{"city')
    expect(plain.locator("#watch tbody:first-of-type tr:visible")).to_have_count(2)
    plain.get_by_label("Unpin step 19").click()
    expect(plain.locator("#overview .kept")).to_have_count(0)


def test_findings_stay_marked_when_a_step_is_pinned(page: Page) -> None:
    page.goto("/example/unknown-tool?step=5")
    expect(page.locator("#overview .mark-finding").first).to_be_attached()
    page.locator("[data-pin]").click()
    expect(page.locator("#overview .kept")).to_have_count(1)
    expect(page.locator("#overview .mark-finding").first).to_be_attached()
