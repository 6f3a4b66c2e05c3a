"""One small language says where to stop and which events to list, and completes itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"


def kinds(page: Page) -> set[str]:
    return set(page.locator("#events tbody tr td:nth-child(2)").all_inner_texts())


def test_a_condition_is_completed_by_the_keyboard_and_run_to(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("b")
    page.keyboard.type("state:call")
    field = page.get_by_role("combobox", name="Stop when")
    expect(field).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#completions [aria-selected=true]")).to_contain_text("state:")
    assert violations(page, part="#step-bar") == []
    offered = page.locator("#completions [aria-selected=true]").get_attribute("data-value") or ""
    page.keyboard.press("Enter")
    expect(field).to_have_value(f"{offered} ")
    expect(page.locator("#completions")).to_have_count(0)
    page.keyboard.type("step>1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-stop-place]")).to_contain_text("this is 1")
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)
    expect(page.locator("#step .card:not([hidden])")).to_contain_text(offered.removeprefix("state:"))


def test_after_enter_in_the_filter_keys_are_for_the_cursor_unless_it_is_wrong(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("/")
    page.keyboard.type("sent:args call:1")
    page.keyboard.press("Enter")
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value("2")
    expect(page.locator("#filter")).to_have_value("sent:args call:1")
    expect(page.locator("#filter-note")).to_contain_text(re.compile("[0-9]"))
    page.keyboard.press("/")
    page.locator("#filter").fill("state:NOWHERE")
    page.keyboard.press("Enter")
    expect(page.locator("#filter-problem")).to_be_visible()
    expect(page.locator("#filter")).to_be_focused()


COLOUR = "it => getComputedStyle(it).color"


def test_what_is_no_condition_is_said_under_the_field(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#until").fill("state:NOWHERE")
    page.keyboard.press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("state:NOWHERE is none of this run: there are CONTENT,")
    expect(page.locator("#until")).to_have_attribute("aria-invalid", "true")


def test_what_is_wrong_with_a_condition_covers_no_pane(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1&until=state:NOWHERE")
    note, bar = (page.locator(name).bounding_box() for name in ("#stop-note", "#step-bar"))
    work = page.locator("#work").bounding_box()
    assert note is not None
    assert bar is not None
    assert work is not None
    assert note["y"] + note["height"] <= bar["y"] + bar["height"] <= work["y"] + 1
    assert violations(page, part="#step-bar") == []


@pytest.mark.parametrize("wrong", ["state:NOWHERE", "colour:red"])
def test_what_is_wrong_with_a_condition_is_told_in_two_lines_beside_its_field(page: Page, wrong: str) -> None:
    page.set_viewport_size({"width": 1760, "height": 900})
    page.goto(f"{EXAMPLE}?step=1&until={wrong}")
    note, field = (page.locator(name).bounding_box() for name in ("#stop-note", "#until"))
    assert note is not None
    assert field is not None
    assert note["height"] <= field["height"] + 4
    assert field["x"] + field["width"] <= note["x"]
    assert abs(note["y"] + note["height"] / 2 - field["y"] - field["height"] / 2) <= 1


def test_what_is_typed_counts_before_it_is_entered(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#until").fill("commit")
    expect(page.locator("[data-stop-place]")).to_have_text("2 stops")
    expect(page.locator("#until")).to_be_focused()
    page.locator("#until").fill("commit call:1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("r")
    expect(page.locator("[data-stop-place]")).to_have_text("1 stop, this is 1")
    expect(page.locator("#step .card:not([hidden])")).to_contain_text("CallStart")
    page.keyboard.press("r")
    expect(page.locator("#stop-note")).to_contain_text("the first of 1")


@pytest.mark.parametrize("words", ["sent:", 'text:"</tool"', "held > 2"])
def test_no_count_of_stops_is_shown_beside_another_condition(page: Page, words: str) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    field, count = page.locator("#until"), page.locator("[data-stop-place]")
    field.fill("held > 20")
    expect(count).to_be_visible()
    page.evaluate(
        "document.addEventListener('input', () => { window.seen = document.querySelector('#stop-note').innerText })"
    )
    field.fill("")
    field.press_sequentially(words)
    assert "stop" not in page.evaluate("window.seen")
    page.keyboard.press("Tab")
    expect(page.locator("#stops")).to_have_attribute("data-stops-of", words)
    expect(page.locator("#stop-note")).not_to_have_text("")
    expect(page.locator("#stop-note > :visible")).to_have_count(1)


def test_run_to_goes_on_from_the_start_and_the_keys_are_the_cursors_again(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=9999")
    page.locator("#headline").focus()
    page.keyboard.press("b")
    page.keyboard.type("commit")
    page.keyboard.press("Enter")
    note = page.locator("#stop-note [data-stop-place]")
    expect(note).to_have_text("the first of 2 again")
    expect(note).to_have_attribute("title", "None after here: the first of 2")
    assert page.locator("#stop-note").evaluate("one => one.scrollHeight <= one.clientHeight")  # no word is clipped
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)
    page.keyboard.press("m")
    expect(page.locator("#pins-note")).to_have_text("1 pinned step")
    page.evaluate("dispatchEvent(new Event('resize'))")
    expect(note).to_have_text("the first of 2 again")  # until the next move
    page.keyboard.press("ArrowRight")
    expect(note).to_have_text("2 stops")
    page.keyboard.press("ArrowLeft")
    expect(note).to_have_text("2 stops, this is 1")
    page.keyboard.press("b")
    page.keyboard.type("raised")
    page.keyboard.press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("nothing to run to")
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)


def test_what_is_wrong_with_a_condition_moves_nothing(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    before = page.locator("#work").bounding_box()
    page.locator("#until").fill("foo:bar")
    expect(page.locator(".stop-problem")).to_contain_text("There is no condition foo:")
    assert page.locator("#work").bounding_box() == before
    page.keyboard.press("Enter")
    expect(page.locator(".stop-problem")).to_be_visible()
    assert page.locator("#work").bounding_box() == before


@pytest.mark.parametrize(
    ("words", "told"), [("state:NOPE", "there are CONTENT,"), ("foo or bar", "or"), ("(held > 2)", "(held")]
)
def test_what_is_no_condition_is_said_calmly_as_it_is_typed(page: Page, words: str, told: str) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#until").press_sequentially(words)
    note, until = page.locator(".stop-problem"), page.locator("#until")
    expect(note).to_contain_text(told)
    expect(until).to_be_focused()
    calm = note.evaluate(COLOUR)
    page.keyboard.press("Enter")
    expect(note).to_be_visible()
    assert note.evaluate(COLOUR) != calm


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("hel", "hel goes on, as in held > 20: more characters are held"),
        ("held > 20 -sen", "sen goes on, as in sent:content: content goes out"),
        ("state:", "state: goes on, as in state:CONTENT: after the step"),
        ("held >", "held is compared with a number, as in held > 20."),
        ("call:", "call: goes on, as in call:0: of the first call"),
    ],
)
def test_what_a_condition_lacks_is_said_while_it_is_typed(page: Page, words: str, told: str) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    work = page.locator("#work").bounding_box()
    page.locator("#until").press_sequentially(words)
    expect(page.locator("#stop-note")).to_have_text(told)
    assert page.locator("#work").bounding_box() == work
    page.locator("#until").fill("commit")
    expect(page.locator("#stop-note")).to_have_text("2 stops")


def test_enter_takes_the_one_condition_that_a_word_begins(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#until").press_sequentially("comm")
    expect(page.locator("#completions li")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("[data-stop-place]")).to_contain_text("2 stops, this is 1")
    expect(page).to_have_url(re.compile("until=commit"))


def test_the_same_language_filters_the_events(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("/")
    page.keyboard.type("sent:args call:1")
    expect(page.locator("#filter-note")).to_contain_text("matches of")
    assert kinds(page) == {"CallArguments"}
    expect(page.locator("#filter")).to_be_focused()
    expect(page).to_have_url(re.compile("filter=sent"))
    page.keyboard.press("Escape")
    expect(page.locator("#filter")).to_have_value("sent:args call:1")
    page.keyboard.press("End")
    assert kinds(page) == {"CallArguments"}
    page.locator("#filter").fill("colour:red")
    expect(page.locator("#filter-problem")).to_contain_text("There is no condition colour:")
    expect(page).to_have_url(re.compile("filter=colour"))
    page.reload()
    expect(page.locator("#filter")).to_have_value("colour:red")
    expect(page.locator("#filter-problem")).to_be_visible()


def test_without_script_filter_and_stops_are_in_the_form(plain: Page) -> None:
    plain.goto(EXAMPLE)
    plain.locator("#filter").fill("sent:name")
    plain.locator("#until").fill("json:whole")
    plain.locator("#until").press("Enter")
    plain.wait_for_url("**filter=sent*")
    assert kinds(plain) == {"CallName"}
    plain.get_by_role("link", name="Next stop").click()
    expect(plain.locator("#step .card:not([hidden])")).to_contain_text("CallEnd")
    assert kinds(plain) == {"CallName"}


def test_a_panel_shows_its_filter(page: Page) -> None:
    page.goto(f"{EXAMPLE}?filter=held>0&step=8")
    show_panel(page, "events")
    expect(page.locator("#events")).to_contain_text("held")
    assert violations(page, part="#events") == []
