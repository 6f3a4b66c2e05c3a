"""The cursor: buttons, keys, slider, address, both with and without script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel

pytestmark = pytest.mark.browser

EXAMPLE = "/example/marker-split-across-tokens"


def heading(page: Page) -> str:
    return page.locator("#step .card:not([hidden]) h2").inner_text()


def test_the_buttons_move_every_pane(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.get_by_role("link", name="Next step").click()
    assert "Step 9" in heading(page)
    expect(page.locator("#strip [aria-selected=true]")).to_have_text("tool")
    expect(page.locator("#events tr[aria-current=step]").first).to_contain_text("<tool")
    expect(page.locator("[data-slider]")).to_have_value("9")
    expect(page.locator("#go-to")).to_have_value("9")


def test_held_text_is_marked_in_the_strip_and_released(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=10")
    expect(page.locator("#strip .role-held")).to_have_count(3)
    page.get_by_role("link", name="First step").click()
    expect(page.locator("#strip .role-held")).to_have_count(0)


def test_keys_step_and_jump(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert "Step 2" in heading(page)
    page.keyboard.press("]")
    expect(page.locator(".when-diagram .current")).to_contain_text("TOOL_CALL")
    page.keyboard.press("End")
    assert "End of output" in heading(page)
    page.keyboard.press("Home")
    page.keyboard.press(".")
    assert "Step 2" in heading(page)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("{", "Previous finding: there is none."),
        ("[", "Previous state change: there is none."),
        ("d", "No other chunking gives another message."),
    ],
)
def test_a_key_that_leads_nowhere_says_so_until_the_next_move(page: Page, key: str, said: str) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    expect(page.locator("html[data-ready]")).to_be_attached()
    before = page.locator(".step-summary [data-summary]").text_content() or ""
    page.keyboard.press(key)
    expect(page.locator("#live")).to_have_text(said)
    expect(page.locator(".step-summary [data-summary]")).to_have_text(said)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".step-summary [data-summary]")).to_have_text(before)


def test_single_keys_can_be_switched_off(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("?")
    page.get_by_label("Single keys are on").uncheck()
    page.keyboard.press("Escape")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("]")
    assert "Step 1" in heading(page)
    page.keyboard.press("ArrowRight")
    assert "Step 2" in heading(page)


def test_keys_do_nothing_in_a_field(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=3")
    show_panel(page, "events")
    page.locator("#filter").fill("")
    page.locator("#filter").press_sequentially("n.]")
    assert "Step 3" in heading(page)


def test_the_address_follows_the_cursor_and_opens_there(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.get_by_role("link", name="Next step").click()
    page.wait_for_url("**step=9*")
    page.reload()
    assert "Step 9" in heading(page)


def test_tabs_switch_in_place_and_stay_in_the_address(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.get_by_role("link", name="Table").click()
    expect(page.get_by_role("region", name="Transition table")).to_be_visible()
    page.wait_for_url("**machine=table*")
    page.reload()
    expect(page.get_by_role("region", name="Transition table")).to_be_visible()


def test_the_slider_and_the_number_field_move_the_cursor(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.locator("[data-slider]").focus()
    page.keyboard.press("ArrowRight")
    assert "Step 9" in heading(page)
    page.locator("#go-to").fill("30")
    page.locator("#go-to").press("Enter")
    assert "Step 30" in heading(page)


@pytest.mark.parametrize("typed", ["x", "1e5", "-5", "7.9", "step 12", ""])
def test_what_is_no_step_is_refused_where_it_was_typed(page: Page, plain: Page, typed: str) -> None:
    for one in (page, plain):
        one.goto(f"{EXAMPLE}?step=3")
        one.locator("#go-to").fill(typed)
        one.locator("#go-to").press("Enter")
        assert one.locator("#go-to").evaluate("field => !field.validity.valid && field.matches(':focus')")
        assert one.url.endswith("?step=3")
        assert "Step 3" in heading(one)


def test_stepping_is_announced(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.get_by_role("link", name="Next step").click()
    expect(page.locator("#live")).to_contain_text("Step 9 of 45. Fed tool. State CONTENT. Sent nothing. Held")


def test_play_runs_and_any_key_stops_it(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=8")
    page.locator("[data-play]").click()
    expect(page.locator("#go-to")).not_to_have_value("8")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-play]")).to_have_attribute("aria-pressed", "false")


def test_without_script_the_same_controls_are_links(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=8")
    plain.get_by_role("link", name="Next step").click()
    assert "Step 9" in heading(plain)
    plain.get_by_role("link", name="Next state change").click()
    expect(plain.locator(".when-diagram .current")).to_contain_text("TOOL_CALL")
    expect(plain.get_by_role("region", name="Chunks as the client receives them")).to_be_visible()
    plain.locator("#go-to").fill("5")
    plain.locator("#go-to").press("Enter")
    assert "Step 5" in heading(plain)


def test_a_stop_is_a_condition_that_is_run_to(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("b")
    page.keyboard.type("held > 20")
    page.keyboard.press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("this is 1")
    expect(page.locator("#overview .pin").first).to_be_attached()
    expect(page.locator("#strip [tabindex='0']")).to_be_focused()
    expect(page.locator("#step-summary")).to_contain_text(re.compile("held 2[1-9]"))
    page.keyboard.press("r")
    expect(page.locator("#stop-note")).to_contain_text("this is 2")
    page.keyboard.press("R")
    expect(page.locator("#stop-note")).to_contain_text("this is 1")
    at = page.locator("#go-to").input_value()
    expect(page).to_have_url(re.compile(f"step={at}&until=held"))
    page.reload()
    expect(page.locator("#stop-note")).to_contain_text("this is 1")
    page.locator("#until").fill("colour:red")
    page.locator("#until").press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("There is no condition colour")
    expect(page.locator("#overview .pin")).to_have_count(0)


def test_the_badge_of_a_call_says_one_state_at_a_time(page: Page) -> None:
    page.goto("/example/unfinished-json?step=1")
    badges = page.locator("#result .call .badge:visible")
    seen = [badges.all_inner_texts()]
    for _ in range(int(page.locator("#inspector").get_attribute("data-total") or 0) - 1):
        page.get_by_role("link", name="Next step").first.click()
        seen.append(badges.all_inner_texts())
    assert {tuple(shown) for shown in seen} == {(), ("open",), ("cut off",)}
    assert seen[-1] == ["cut off"]
    page.goto("/example/unfinished-json?step=1")
    page.locator("[data-tabs=result]").get_by_role("link", name="At the end").click()
    assert badges.all_inner_texts() == ["cut off"]


def test_without_script_a_stop_is_part_of_the_form(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=1")
    plain.locator("#until").fill("sent:name")
    plain.locator("#until").press("Enter")
    plain.get_by_role("link", name="Next stop").click()
    expect(plain.locator("#step .card:not([hidden])")).to_contain_text("CallName")


def test_who_walks_to_a_step_sees_what_a_page_opened_there_shows(page: Page) -> None:
    message = page.locator("#message")
    page.goto("/example/two-calls-with-prose?step=1")
    page.locator("#strip [tabindex='0']").focus()
    steps = int(float(page.locator("[data-slider]").get_attribute("max") or 0))
    for _ in range(steps - 1):
        page.keyboard.press("ArrowRight")
    expect(page.locator("[data-slider]")).to_have_value(str(steps))
    walked = message.inner_text()
    page.goto(f"/example/two-calls-with-prose?step={steps}")
    assert message.inner_text() == walked
