"""The runs of this browser: listed, undone, forgotten; and none where storage is refused."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import on_each_screen, violations
from tests.browser.test_compare import OUTPUT

pytestmark = pytest.mark.browser

SECOND = OUTPUT.replace("Hi", "Goodbye")
REFUSED = (
    "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, {get() {throw 1}})"
)


def run(page: Page, text: str) -> None:
    page.goto("/")
    page.locator("#text").fill(text)
    page.locator("#parser").select_option("qwen")
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")


def test_undo_goes_back_to_the_run_before_with_its_text(page: Page) -> None:
    run(page, OUTPUT)
    first = page.url.partition("?")[0]
    expect(page.locator("[data-undo]")).to_be_hidden()
    run(page, SECOND)
    page.locator("[data-undo]").click()
    expect(page).to_have_url(re.compile(re.escape(first)))
    page.locator("#source > summary").click()
    expect(page.locator("#text")).to_have_value(OUTPUT)


def edit(page: Page, word: str) -> str:
    """Runs the output with another word from the page of a run; its address."""
    page.keyboard.press("e")
    page.locator("#live-text").fill(OUTPUT.replace("Hi", word))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#strip")).to_contain_text(f"{word}.")
    expect(page.locator("[data-undo]")).to_be_visible()
    return page.url.partition("?")[0]


def test_undo_goes_to_the_run_before_the_one_that_is_shown_wherever_back_and_forward_led(page: Page) -> None:
    run(page, OUTPUT)
    first = page.url.partition("?")[0]
    second = edit(page, "Second")
    page.go_back()
    expect(page.locator("#strip")).to_contain_text("Hi.")
    expect(page.locator("[data-undo]")).to_be_hidden()
    third = edit(page, "Third")
    assert len({first, second, third}) == 3
    page.locator("[data-undo]").click()
    expect(page).to_have_url(re.compile(re.escape(first)))
    expect(page.locator("[data-undo]")).to_be_hidden()
    page.go_back()
    expect(page.locator("#strip")).to_contain_text("Third.")
    expect(page.locator("[data-undo]")).to_be_visible()  # the page is ready
    page.go_back()
    expect(page.locator("#strip")).to_contain_text("Hi.")
    page.go_forward()
    expect(page.locator("#strip")).to_contain_text("Third.")
    page.locator("[data-undo]").click()
    expect(page).to_have_url(re.compile(re.escape(first)))


def commands(page: Page, words: str) -> int:
    """How many commands the palette lists for some words."""
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    expect(page.locator("#palette-dialog li").first).to_be_visible()
    count = page.locator("#palette-dialog li").count()
    page.keyboard.press("Escape")
    return count


def return_to(page: Page, at: str) -> None:
    """Leads by Back and Forward to the run again."""
    page.go_back()
    expect(page.locator("#setup.at-home #text")).to_be_focused()
    page.go_forward()
    expect(page).to_have_url(at)
    expect(page.locator("#headline")).to_be_focused()


def test_the_palette_finds_and_does_the_same_after_back_and_forward(page: Page) -> None:
    run(page, OUTPUT)
    before = commands(page, "share")
    return_to(page, page.url)
    assert commands(page, "share") == before < 20
    page.keyboard.press("Control+k")
    page.keyboard.type("colours dark")
    page.locator("#palette-dialog li").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+k")
    page.keyboard.type("share")
    page.keyboard.press("Enter")
    expect(page.locator("#share-dialog")).to_be_visible()


def test_what_this_browser_keeps_is_said_and_can_be_chosen_after_back_and_forward(page: Page) -> None:
    page.goto("/")
    page.evaluate("Object.assign(localStorage, {theme: 'dark', 'share-input': 45, 'share-step': 32, 'share-dock': 43})")
    run(page, OUTPUT)
    page.wait_for_function("() => document.querySelector('[data-splitter=input]').ariaValueNow === '45'")
    lines = "all => all.map(one => one.ariaValueNow)"
    before = page.locator("[data-splitter]").evaluate_all(lines)
    return_to(page, page.url)
    assert page.locator("[data-splitter]").evaluate_all(lines) == before
    expect(page.locator("[data-theme-toggle]")).to_have_accessible_name("Colours: dark")
    page.keyboard.press("?")
    switch = page.locator("#help-dialog [data-keys-switch]")
    expect(switch).to_be_checked()
    switch.uncheck()
    assert page.evaluate("localStorage.keys") == "off"
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1100, "height": 800})
    page.wait_for_function("() => document.querySelector('[data-splitter=input]').ariaValueNow <= 45")
    return_to(page, page.url)
    expect(switch).not_to_be_checked()


def test_a_name_that_is_cut_off_can_be_reached_after_back_and_forward(page: Page) -> None:
    run(page, OUTPUT)
    return_to(page, page.url)
    page.evaluate("document.querySelector('.case-name').textContent = 'a name '.repeat(60)")
    page.set_viewport_size({"width": 1150, "height": 900})
    expect(page.locator(".case-name")).to_have_attribute("tabindex", "0")


def test_what_arrives_while_undo_leaves_does_not_put_the_run_back(page: Page) -> None:
    run(page, OUTPUT)
    first = page.url.partition("?")[0]
    edit(page, "Second")
    page.evaluate(
        "document.querySelector('[data-undo]').click();"
        "document.dispatchEvent(new CustomEvent('htmx:after:swap', {detail: {ctx: {}}}));"
    )
    expect(page).to_have_url(re.compile(re.escape(first)))
    expect(page.locator("[data-undo]")).to_be_hidden()


def test_the_first_page_and_the_menu_list_what_was_run(page: Page) -> None:
    run(page, OUTPUT)
    run(page, SECOND)
    page.get_by_text("Runs", exact=True).click()
    expect(page.locator(".history-menu [data-history] a")).to_have_count(1)
    page.goto("/")
    listed = page.locator("section [data-history] a")
    expect(listed).to_have_count(2)
    expect(listed.first).to_contain_text("Goodbye.")
    expect(listed.first).to_contain_text("qwen")
    expect(listed.first).to_contain_text(re.compile("hold|complete"))
    listed.last.click()
    expect(page.locator("#strip")).to_contain_text("Hi.")


@pytest.mark.parametrize("width", [1440, 1100, 768, 720, 390])
def test_the_menu_of_runs_opens_on_the_screen(page: Page, width: int) -> None:
    run(page, OUTPUT)
    run(page, SECOND)
    page.set_viewport_size({"width": width, "height": 900})
    page.get_by_text("Runs", exact=True).click()
    expect(page.locator(".history-menu [data-forget]")).to_be_in_viewport(ratio=1)
    expect(page.locator(".history-menu .menu-body")).to_be_in_viewport(ratio=1)
    box = page.locator(".history-menu .menu-body").bounding_box()
    assert box is not None
    assert width > 700 or box["width"] == width  # a sheet from below


def test_a_text_of_this_tab_is_offered_to_be_put_beside(page: Page) -> None:
    run(page, OUTPUT)
    run(page, SECOND)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator("[data-recent-select]").select_option(index=2)
    page.get_by_role("button", name="Put beside", exact=True).click()
    expect(page.locator(".compare-sentence")).to_contain_text("The outputs differ from A's: C in 1 place")


def test_forgetting_empties_the_list_and_the_texts(page: Page) -> None:
    run(page, OUTPUT)
    page.goto("/")
    page.locator("section [data-forget]").click()
    expect(page.locator("section[data-history-box]")).to_be_hidden()
    assert page.evaluate("[localStorage.getItem('history'), sessionStorage.length]") == [None, 0]


def test_forgetting_takes_drafts_and_the_run_on_the_page_along(page: Page) -> None:
    run(page, OUTPUT)
    page.keyboard.press("e")
    page.locator("#live-text").fill("Other words.")
    expect(page.locator("#message")).to_contain_text("Other·words.")
    page.keyboard.press("Escape")
    page.evaluate("sessionStorage.setItem('draft', '{}')")
    page.locator("[data-forget]").first.dispatch_event("click")
    page.locator("[data-pin]").click()
    expect(page.locator("#overview .kept")).to_have_count(1)
    assert page.evaluate("[localStorage.getItem('history'), sessionStorage.length]") == [None, 0]


def test_a_run_is_listed_with_its_own_words_whatever_is_typed_over_it(page: Page) -> None:
    run(page, OUTPUT)
    listed = page.evaluate("localStorage.getItem('history')")
    page.keyboard.press("e")
    page.locator("#live-text").fill('<tool_call>\n{"name": }\n</tool_call>')
    expect(page.locator("#said")).to_contain_text("quick verdict")
    page.keyboard.press("Escape")
    page.locator("[data-pin]").click()
    expect(page.locator("#overview .kept")).to_have_count(1)
    now = page.evaluate("localStorage.getItem('history')")
    assert [{**one, "time": 0} for one in json.loads(now)] == [{**one, "time": 0} for one in json.loads(listed)]


def test_where_storage_is_refused_there_is_no_list_and_all_else_works(page: Page) -> None:
    page.add_init_script(REFUSED)
    run(page, OUTPUT)
    run(page, SECOND)
    expect(page.locator("[data-undo]")).to_be_hidden()
    expect(page.locator(".history-menu")).to_be_hidden()


def test_axe_finds_nothing_with_runs_listed(page: Page) -> None:
    run(page, OUTPUT)
    page.goto("/")
    expect(page.locator("section [data-history] a")).to_have_count(1)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])


def gone(page: Page, address: str) -> None:
    """The server forgets the run: it answers what a restarted one does."""
    page.goto(f"/r/{'0' * 32}")
    answer = page.content()
    page.route(f"**{address}*", lambda route: route.fulfill(status=410, body=answer, content_type="text/html"))


def test_the_page_of_a_run_that_is_gone_says_that_the_tab_has_it_and_one_press_brings_it_back(
    page: Page, allowed: list[str]
) -> None:
    allowed += ["410", "503"]
    run(page, OUTPUT)
    page.keyboard.press("e")
    page.locator("#live-text").fill(OUTPUT.replace("Hi", "Edited"))
    expect(page.locator("#message")).to_contain_text("Edited.")
    here = page.url
    gone(page, here.partition("?")[0].rpartition("/r/")[2])
    page.route("**/run", lambda route: route.fulfill(status=503), times=1)
    page.goto(here)
    expect(page.get_by_role("heading", name="This tab still has it")).to_be_visible()
    expect(page.locator("[data-kept-note]")).to_have_text("It did not come.")
    page.get_by_text("Runs", exact=True).first.click()
    expect(page.locator(".history-menu [data-history] a")).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator("#strip")).to_contain_text("Hi.")
    page.get_by_text("Edited text").click()
    expect(page.locator("#live-text")).to_have_value(OUTPUT.replace("Hi", "Edited"))


def test_a_run_that_is_gone_says_in_plain_words_how_it_comes_back(plain: Page, allowed: list[str]) -> None:
    allowed.append("410")
    plain.goto(f"/r/{'0' * 32}")
    main = plain.locator("main")
    expect(main).to_contain_text("Without script, go back in the browser to where it was typed")
    expect(main).not_to_contain_text("This tab still has it", use_inner_text=True)
    expect(plain.get_by_role("link", name="Start anew")).to_be_visible()
