"""The output is edited where it stands; the message and a quick verdict follow while somebody types."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.test_access import violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"
NOTE_WINDOW = """() => document.addEventListener("htmx:finally:request", ({ detail }) => {
  if (detail.ctx.target.id === "window") window.heldBack = true;
})"""

PLACES = '() => ["live-edit", "result"].map((id) => document.getElementById(id).getBoundingClientRect().toJSON())'


def edit(page: Page, added: str) -> None:
    """Open the text of the run by its key, and add words at its end."""
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("e")
    expect(page.locator("#live-text")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(added)


def test_what_is_typed_is_replayed_and_judged_and_the_run_comes_back(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    before = page.locator("#headline").inner_text()
    edit(page, " And more words.")
    expect(page.locator("#message")).to_contain_text("And·more·words.")
    expect(page.locator("#said")).to_contain_text("quick verdict")
    expect(page.get_by_role("button", name="Show why")).to_be_hidden()  # what holds has nothing to unfold
    expect(page.locator("#live-note")).to_contain_text("333 characters")
    assert violations(page, part="#input") + violations(page, part="#result") == []
    page.keyboard.press("Escape")
    expect(page.locator("#headline")).to_have_text(before)
    expect(page.locator("#message")).not_to_contain_text("more·words.")
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value("20")


@pytest.mark.parametrize("width", [1440, 1100, 800])
def test_the_message_stands_beside_the_text_and_both_fill_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(EXAMPLE)
    edit(page, " x")
    expect(page.locator("#said")).to_contain_text("quick verdict")
    text, message = page.evaluate(PLACES)
    assert (text["left"], text["top"], text["bottom"]) == (0, message["top"], message["bottom"])
    assert round(message["right"]) == width
    assert 0 <= message["left"] - text["right"] <= 2


@pytest.mark.parametrize("width", [1440, 1100])
def test_no_word_of_the_quick_verdict_is_clipped_without_a_way_to_the_rest(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(EXAMPLE)
    edit(page, " x")
    grounds = page.locator("#said .grounds")
    expect(grounds).to_contain_text("quick verdict")
    more = page.locator("#said .more-grounds")
    assert grounds.evaluate("one => one.scrollHeight <= one.clientHeight + 1") or more.is_visible()
    grounds.evaluate("one => one.append(' And more of it'.repeat(30))")  # than the verdict has room for
    expect(more).to_be_visible()
    more.click()
    expect(more).to_be_hidden()
    assert grounds.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_an_edit_that_breaks_the_output_is_said_at_once_and_mended_again(page: Page) -> None:
    page.goto("/example/marker-split-across-tokens")
    edit(page, '\n<tool_call>\n{"name": "f", "arguments": {"a": }}\n</tool_call>')
    expect(page.locator("#said")).to_contain_text("2 warnings")
    text = page.locator("#live-text").input_value()
    page.locator("#live-text").fill(text.replace('{"a": }', '{"a": 1}'))
    expect(page.locator("#said")).not_to_contain_text("2 warnings")


def test_a_draft_of_the_text_survives_a_reload_and_is_run(page: Page) -> None:
    page.goto(EXAMPLE)
    edit(page, " Kept.")
    expect(page.locator("#message")).to_contain_text("Kept.")
    page.reload()
    page.get_by_role("button", name="Edited text").click()  # what is kept says so
    expect(page.locator("#message")).to_contain_text("Kept.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#source > summary")).to_contain_text("323 characters")
    expect(page.locator("#headline")).to_be_focused()
    expect(page.locator("#live-edit")).to_be_hidden()


def drafts(page: Page) -> Any:
    return page.evaluate("Object.keys(sessionStorage).filter((name) => name.startsWith('live-'))")


def test_a_draft_is_kept_until_it_is_the_run_again_or_is_run(page: Page) -> None:
    page.goto(EXAMPLE)
    edit(page, "!")
    assert len(drafts(page)) == 1
    page.keyboard.press("Backspace")
    assert drafts(page) == []
    page.keyboard.type("!")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    assert drafts(page) == []


def test_a_window_that_was_on_its_way_when_the_edit_began_comes_after_it(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("word " * 1_500)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    waiting: list[Route] = []
    page.route("**/r/*", lambda route: waiting.append(route), times=1)
    page.get_by_role("button", name="Last step").click()
    edit(page, "")
    page.evaluate(NOTE_WINDOW)
    waiting[0].continue_()
    page.wait_for_function("() => window.heldBack")
    page.keyboard.press("Escape")
    expect(page.locator("#go-to")).not_to_have_value("1")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    last = int(page.locator("#go-to").input_value())
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#go-to")).to_have_value(str(last - 1))


def test_the_form_goes_back_to_the_text_of_the_run(page: Page) -> None:
    page.goto(EXAMPLE)
    before = page.locator("#text").input_value()
    edit(page, " Other words.")
    expect(page.locator("#message")).to_contain_text("Other·words.")
    page.keyboard.press("Escape")
    assert page.locator("#text").input_value() == before


def test_a_newer_text_wins_over_the_one_on_its_way(page: Page) -> None:
    page.goto(EXAMPLE)
    edit(page, "")
    for number in range(8):
        page.locator("#live-text").fill(f"number {number}")
    expect(page.locator("#message")).to_contain_text("number·7")


def test_above_two_thousand_tokens_live_is_off_and_says_so(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("word " * 30)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    page.get_by_role("button", name="Edit", exact=True).first.click()
    page.locator("#live-text").fill("word " * 2_500)
    expect(page.locator("#said")).to_contain_text("Live is off: the output has 2,")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#source > summary")).to_contain_text("12,500 characters")
    page.get_by_role("button", name="Edit", exact=True).first.click()
    expect(page.locator("#text")).to_be_focused()


def test_on_a_narrow_screen_text_and_message_stand_below_each_other(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{EXAMPLE}#input")
    page.get_by_role("button", name="Edit", exact=True).first.click()
    page.locator("#live-text").fill("narrow words")
    expect(page.locator("#message")).to_contain_text("narrow·words")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page, "narrow") == []
    context.close()


def test_a_key_that_is_pressed_alone_is_answered_at_once_and_of_others_the_last(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.keyboard.press("e")
    sent = page.evaluate(
        """() => {
          const [field, ajax, asked] = [document.getElementById("live-text"), htmx.ajax, []];
          htmx.ajax = (...all) => (asked.push(field.value), ajax.apply(htmx, all));
          return ["a", "b", "c"].map((letter) => {
            field.value += letter;
            field.dispatchEvent(new InputEvent("input", { bubbles: true }));
            window.asked = asked;
            return asked.length;
          });
        }"""
    )
    assert sent == [1, 1, 1]
    page.wait_for_function("window.asked.length === 2 && window.asked[1].endsWith('abc')")
