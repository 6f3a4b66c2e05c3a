"""Who wrote this: from a character of the message to the step that sent it, to the output it came from, and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"


def test_a_character_that_is_pressed_leads_to_the_step_that_sent_it(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    box = page.locator("#result .call .run", has_text="get_weather").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 1.5 / len("get_weather"), box["y"] + box["height"] / 2)
    expect(page.locator("#who")).to_contain_text(
        "e call 0 name, character 1, sent at step 17 · row r29 (CALL_HEADER on"
    )
    expect(page.locator("#who")).to_contain_text("from character 79 of the output")
    expect(page.locator("#go-to")).to_have_value("17")
    assert "get" in "".join(page.locator("#strip .linked").all_inner_texts())
    assert violations(page, part="#input") + violations(page, part="#result") == []


def test_a_character_that_was_sent_outside_the_window_is_answered_in_the_window_that_comes(page: Page) -> None:
    call = '<tool_call>\n{{"name": "f", "arguments": {{"city": "Town number {}"}}}}\n</tool_call>\n'
    page.goto("/")
    page.locator("#text").fill("".join([call.format(number) for number in range(6)]))
    page.locator("#text").press("Control+Enter")
    page.locator("#go-to").fill("21")
    page.locator("#go-to").press("Enter")
    far = page.locator("#result article.call").nth(5).locator("pre.raw .run").nth(3)
    sent = far.get_attribute("data-sent") or ""
    far.click()
    expect(page.locator("#go-to")).to_have_value(sent)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text(f"Step {sent}")
    expect(page.locator("#who")).to_contain_text("call 5 arguments, character ")
    expect(page.locator("#who")).to_contain_text(f", sent at step {sent}")
    expect(page.locator("#who-caret")).to_be_focused()


def test_by_keyboard_from_a_token_to_its_character_to_its_step_and_back(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    token = page.locator("#strip [data-token][aria-selected=true]")
    token.focus()
    page.keyboard.press("w")
    caret = page.locator("#who-caret")
    expect(caret).to_be_focused()
    expect(page.locator("#who")).to_contain_text("c call 0 arguments, character 2, sent at step 19")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#who")).to_contain_text('" call 0 arguments, character 6, sent at step 20')
    expect(page.locator("#go-to")).to_have_value("19")  # looking moves nothing
    page.keyboard.press("Enter")
    expect(page.locator("#go-to")).to_have_value("20")
    expect(caret).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#strip [data-token]:focus")).to_have_text('":')
    expect(caret).to_have_count(0)


def test_the_caret_goes_from_text_to_text(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [data-token][aria-selected=true]").focus()
    page.keyboard.press("w")
    who = page.locator("#who")
    expect(who).to_contain_text("I content, character 0, sent at step 1")
    for key, said in (("End", ". content"), ("ArrowDown", "g call 0 name"), ("ArrowLeft", ". content"),
                      ("Home", "I content")):  # fmt: skip
        page.keyboard.press(key)
        expect(who).to_contain_text(said)
    page.keyboard.press("Escape")
    expect(who).to_be_empty()
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)


def test_what_a_step_became_leads_to_its_character(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.locator(".facts:not([hidden]) .cue").click()
    expect(page.locator("#who-caret")).to_be_focused()


def test_without_script_a_character_names_its_step(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=1")
    expect(plain.locator("#result .call .run", has_text="get_weather").first).to_have_attribute("title", "step 17")
    expect(plain.locator("#who")).to_be_hidden()
