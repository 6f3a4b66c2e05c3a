"""The source pane of an entered engine: the lines of the step, with the cursor, and which other steps ran a line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import served
from tests.browser.test_access import on_each_screen, violations
from tests.browser.test_layout import (
    LEAST_LINES,
    OUTPUT,
    boxes,
    cut_sideways,
    lines_of_text,
    overlapping,
    screens_high,
    sideways,
)
from tests.webapp.engines import line_parsers
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.settings import Settings, get_settings

pytestmark = pytest.mark.browser

FILE = Path(line_parsers.__file__)
SENT = "before", 'return {"content": out} if out else None'  # where the text before a `<` is sent from
STORED = "feed", "self.buffer += text"


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a parser class of its own entered."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("lines"))
    given = {"class": "line_parsers:Sender", "python": sys.executable, "path": str(FILE.parent), "seconds": 20}
    write_entry(settings, "own", Entry.model_validate(given))
    write_entry(settings, "merged", Entry.model_validate({**given, "class": "sending_parsers:Merged"}))
    app = create_app(settings)
    for name in ("own", "merged"):
        entered(settings).card(name)
    with served(app) as address:
        yield address
    use_engines(get_settings())


def run(page: Page, text: str = "Well. <b> it ends", parser: str = "own:Sender") -> None:
    page.goto("/")
    page.locator("#parser").select_option(parser)
    page.locator("#text").fill(text)
    page.locator("#setup [name=run]").click()
    expect(page.locator("#machine-title")).to_have_text("Source")


def test_the_output_of_an_engine_has_room_for_its_text(page: Page) -> None:
    run(page, OUTPUT)
    for (width, height), least in LEAST_LINES.items():
        page.set_viewport_size({"width": width, "height": height})
        assert (width, lines_of_text(page) >= least) == (width, True)


def line(page: Page, method: str, text: str) -> Locator:
    return page.locator(f"#lines section[aria-label$='{method}'] .source-line").filter(has_text=text)


def go_to(page: Page, step: int) -> None:
    page.locator("#go-to").fill(str(step))
    page.locator("#go-to").press("Enter")
    expect(page.locator("#lines [data-source]")).to_have_attribute("data-source", str(step))


def test_the_lines_of_the_step_are_shown_with_what_they_did(page: Page) -> None:
    run(page, "Well.<b> it ends")
    go_to(page, 1)
    expect(line(page, *STORED)).to_have_class(re.compile(r"\bran\b"))
    expect(line(page, *STORED).locator(".source-values")).to_contain_text("self.buffer")
    expect(line(page, "feed", "return self.before()")).not_to_have_class(re.compile(r"\bran\b"))
    expect(page.locator("#lines #sender")).to_contain_text('return {"content": out}')
    expect(page.locator("#lines #sender .source-values")).to_contain_text("returned")


def test_the_pane_moves_with_the_cursor(page: Page) -> None:
    run(page, "Well. <b> it ends")
    go_to(page, 1)
    shown = page.locator("#lines [data-source]")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_attribute("data-source", "2")
    page.keyboard.press("End")
    expect(line(page, "finish", "rest = self.buffer")).to_have_class(re.compile(r"\bran\b"))
    expect(page.locator("#strip [tabindex='0']")).to_be_focused()
    page.keyboard.press("Home")
    expect(shown).to_have_attribute("data-source", "1")


def test_a_number_of_a_line_tells_which_other_steps_ran_it(page: Page) -> None:
    run(page)
    go_to(page, 2)
    line(page, *STORED).locator(".source-number").click()
    asked = page.locator("#lines .source-asked")
    expect(asked).to_contain_text(re.compile(r"line_parsers\.py:\d+\s+ran at \d+ other steps"))
    expect(page.locator("#lines [data-source]")).to_have_attribute("data-source", "2")
    expect(page).to_have_url(re.compile(r"where=line_parsers\.py"))
    asked.get_by_role("link", name="Next step that ran").or_(asked.get_by_role("button", name="Next step that")).click()
    expect(page.locator("#lines [data-source]")).to_have_attribute("data-source", "3")
    expect(asked).to_contain_text("other steps")


def test_it_is_all_there_without_script(plain: Page) -> None:
    run(plain)
    expect(line(plain, *STORED)).to_have_class(re.compile(r"\bran\b"))
    plain.locator("#step-bar").get_by_role("link", name="Next step").or_(
        plain.locator("#step-bar").get_by_role("button", name="Next step")
    ).click()
    expect(plain.locator("#lines [data-source]")).to_have_attribute("data-source", "2")
    line(plain, *STORED).locator(".source-number").click()
    expect(plain.locator("#lines .source-asked")).to_contain_text("other steps")


def test_the_attributes_stand_behind_a_tab_and_follow_the_cursor(page: Page) -> None:
    run(page)
    page.locator("#strip [data-token]", has_text="<").first.click()
    page.locator("[data-tabs=source] [data-tab=state]").click()
    expect(page).to_have_url(re.compile("source=state"))
    expect(page.locator("#lines .source")).to_be_hidden()
    changed = page.locator("#lines tr.now")
    expect(changed).to_contain_text("buffer")
    expect(changed).to_contain_text("'<")
    page.keyboard.press("ArrowRight")
    expect(changed).to_contain_text("grew by")
    expect(page.locator("#step .card:visible .changed-list")).to_contain_text("buffer grew by")
    step = page.locator("#go-to").input_value()
    expect(page).to_have_url(re.compile(rf"step={step}\b"))
    page.reload()
    expect(changed).to_contain_text("grew by")


def test_a_character_of_the_message_leads_to_the_line_that_sent_it(page: Page) -> None:
    run(page, "Well. <b> it ends")
    go_to(page, 4)
    page.locator("#result .run").first.click(position={"x": 2, "y": 6})
    expect(page.locator("#who")).to_contain_text("W content, character 0, sent at step 1")
    expect(page.locator("#lines [data-source='1']")).to_be_visible()
    expect(page.locator("#lines #sender")).to_contain_text('return {"content": out}')


@pytest.mark.parametrize("tab", ["#machine", "#step", "#input", "#result", "#dock"])
def test_on_a_narrow_screen_no_tab_is_higher_than_two_screens_and_the_lines_scroll_in_their_pane(
    page: Page, tab: str
) -> None:
    run(page)
    page.set_viewport_size({"width": 390, "height": 844 if tab != "#machine" else 280})  # its functions are short
    page.evaluate("tab => { location.hash = tab; }", tab)
    assert screens_high(page) <= 2
    if tab != "#machine":
        return
    lines = page.locator("#lines")
    assert lines.evaluate("one => one.scrollHeight > one.clientHeight")
    expect(page.locator("#lines #sender, #lines .source-line.ran").first).to_be_in_viewport()


def test_axe_finds_nothing_and_no_pane_stands_over_another(page: Page) -> None:
    run(page)
    for screen in on_each_screen(page):
        if screen == "narrow":
            page.locator(".screens").get_by_role("link", name="Source").click()
        expect(page.locator("#lines .source-line.ran").first).to_be_visible()
        assert (screen, violations(page, screen)) == (screen, [])
        assert overlapping(boxes(page, ("input", "step", "result", "machine", "dock", "findings"))) == []
        assert (screen, sideways(page), cut_sideways(page)) == (screen, 0, [])
        box = page.locator("#machine").bounding_box()
        assert box is not None
        assert box["width"] > (290 if screen == "narrow" else 500)


def test_on_paper_of_the_source_the_lines_that_ran_are_left_and_findings_come_first(page: Page) -> None:
    run(page)
    expect(page.locator("#lines .source-line:not(.ran)").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("#lines .source-line:not(.ran)").first).to_be_hidden()
    expect(page.locator("#lines .source-line.ran").first).to_be_visible()
    stand = boxes(page, ("findings", "machine"))
    assert stand["findings"]["bottom"] <= stand["machine"]["top"] + 1


def test_without_script_the_source_scrolls_and_is_not_in_the_way_of_what_follows(page: Page, plain: Page) -> None:
    run(page)
    plain.goto(page.url)
    assert boxes(plain, ("lines",))["lines"]["height"] <= 28 * 16


def test_a_character_of_several_that_leave_at_one_step_leads_to_the_line_of_its_own(page: Page) -> None:
    """Content and a call leave at one step, by two lines."""
    run(page, "a", "merged:Merged")
    sender = page.locator("#lines #sender .source-text")
    for role, words, part in (
        ("content", 'return {"content": "WRONG"}', "content:0"),
        ("name", 'return {"tool_calls"', "name:0:0"),
        ("content", 'return {"content": "WRONG"}', "content:0"),
    ):
        page.locator(f"#message .run.role-{role}").first.click(position={"x": 2, "y": 6})
        expect(page.locator("#lines [data-about]")).to_have_attribute("data-about", part)
        expect(sender).to_contain_text(words)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#lines [data-about]")).to_have_attribute("data-about", "content:1")
    page.keyboard.press("Escape")
    expect(page.locator("#lines [data-about]")).to_have_attribute("data-about", "")
