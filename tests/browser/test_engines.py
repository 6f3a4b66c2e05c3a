"""An entered engine in the page: chosen from the list, run, its failure at its step; the same without script."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import served
from tests.browser.test_access import violations
from tests.browser.test_layout import sideways
from tests.webapp.engines.entering import fake, own
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.settings import Settings, get_settings

pytestmark = pytest.mark.browser

TEXT = "Hello, you there. Stop now!"
CALL = 'Hi. <tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the fake engine entered."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("engines"))
    write_entry(settings, "fake", fake())
    write_entry(settings, "own", own("Hermes"))
    write_entry(settings, "hung", own("Hung", seconds=0.5))
    app = create_app(settings)
    for name in ("fake", "own", "hung"):
        entered(settings).card(name)
    with served(app) as address:
        yield address
    use_engines(get_settings())


def run(page: Page, parser: str, text: str = TEXT) -> None:
    page.goto("/")
    page.locator("#parser").select_option(f"fake:{parser}")
    page.locator("#text").fill(text)
    page.locator("#setup [name=run]").click()


def test_a_parser_of_an_engine_is_chosen_and_run(page: Page) -> None:
    run(page, "upper")
    expect(page.locator("#result")).to_contain_text("STOP")
    expect(page.locator("#parser")).to_have_value("fake:upper")
    page.locator("#setup [name=run]").click()
    expect(page.locator("#result")).to_contain_text("STOP")


def test_what_its_process_does_not_survive_is_a_finding_and_the_page_serves_on(page: Page) -> None:
    run(page, "crashes")
    expect(page.locator("body")).to_contain_text("Crashed: its process ended (exit code 3)")
    run(page, "echo")
    expect(page.locator("#result")).to_contain_text("Stop")


def test_what_a_failing_parser_lost_is_hatched_below_what_is_right(page: Page) -> None:
    run(page, "upper", CALL)
    expect(page.locator(".overview-labels dt")).to_have_text(["Deltas", "Expected", "This run", "Findings"])
    expected, came = page.locator(".band-lane").all()
    assert (expected.locator(".role-lost").count(), came.locator(".role-name").count()) == (0, 0)
    assert expected.locator(".role-name").count() == 1 <= came.locator(".role-lost").count()
    expect(page.locator("#strip .role-lost").filter(has_text="f").first).to_be_visible()
    expect(page.locator("#input .pane-note")).to_contain_text("lost")


def test_what_is_said_of_tokens_is_whole_below_a_text_that_scrolls(page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 1024})
    run(page, "upper", CALL * 20)
    expect(page.locator("#badges summary")).to_be_visible()
    script = "element => [element.getBoundingClientRect().top, element.getBoundingClientRect().bottom]"
    body, badges = [page.locator(one).evaluate(script) for one in (".output-body", "#badges")]
    assert body[0] < badges[0] < badges[1] <= body[1] + 1


def test_the_line_at_the_thumb_has_its_room_whatever_it_says(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    run(page, "upper")
    said = page.locator("[data-summary]:is(.step-summary *)")
    said.evaluate("line => { line.textContent = 'attribute_'.repeat(40) }")
    shown: dict[str, Any] = {
        name: page.locator(name).first.bounding_box() or {}
        for name in ("#overview", "#step-summary", "#step-bar .button-group")
    }
    line = shown["#step-summary"]
    assert line["y"] >= shown["#overview"]["y"] + shown["#overview"]["height"]
    assert line["y"] + line["height"] <= shown["#step-bar .button-group"]["y"]


def test_engines_are_put_into_the_matrix_by_a_button(page: Page) -> None:
    page.goto("/")
    page.locator("#parser").select_option("qwen")
    page.locator("#text").fill(CALL)
    page.locator("#setup [name=run]").click()
    page.get_by_role("link", name="Compare", exact=True).or_(page.get_by_role("button", name="Compare")).first.click()
    page.get_by_role("link", name="This case, elsewhere").click()
    page.get_by_text("With the engines").click()
    row = page.locator(".matrix tr", has=page.locator("th code", has_text="own:hermes"))
    expect(row).to_contain_text("same message")


def test_a_column_of_a_matrix_is_asked_without_script(plain: Page) -> None:
    plain.goto("/engines/own/hermes")
    expect(plain.locator("table.matrix tbody tr").first).to_contain_text("not run yet")
    plain.get_by_role("columnheader", name="own").get_by_role("link", name="Run them").click()
    expect(plain.get_by_role("columnheader", name="own")).to_contain_text("passes")


def test_an_engine_that_hangs_holds_no_matrix_back(page: Page) -> None:
    page.goto("/engines/hung/hermes")
    expect(page.get_by_role("columnheader", name="own")).to_contain_text("passes")
    row = page.locator("table.matrix tbody tr").first
    expect(row).to_contain_text("hangs")
    expect(page.get_by_role("columnheader", name="hung")).to_contain_text("not asked. Ask again")


def test_the_columns_of_many_engines_are_wide_enough_to_read(plain: Page) -> None:
    plain.set_viewport_size({"width": 1440, "height": 900})
    plain.goto("/engines/own/hermes")
    more = "row => { for (let more = 0; more < 30; more++) row.append(row.lastElementChild.cloneNode()) }"
    plain.locator(".matrix tr").evaluate_all(f"rows => rows.forEach({more})")
    widths = plain.locator(".matrix thead th").evaluate_all("heads => heads.map(head => head.offsetWidth)")
    assert (min(widths) >= 150, sideways(plain)) == (True, 0)


def test_in_a_narrow_window_a_case_is_a_block_with_a_line_for_each_engine(plain: Page) -> None:
    plain.set_viewport_size({"width": 390, "height": 844})
    plain.goto("/engines/own/hermes?asks=0")
    row = plain.locator("table.matrix tbody tr").first
    title, *cells = [box for part in row.locator("th, td").all() if (box := part.bounding_box())]
    assert len(cells) == row.locator("td").count() > 1
    below = [one["y"] >= before["y"] + before["height"] for before, one in pairwise([title, *cells])]
    whole = {one["x"] >= 0 and one["x"] + one["width"] <= 390 for one in [title, *cells]}
    assert ({*below}, whole, sideways(plain)) == ({True}, {True}, 0)


def test_it_runs_without_script(plain: Page) -> None:
    run(plain, "upper")
    expect(plain.locator("#result")).to_contain_text("STOP")


@pytest.mark.parametrize("width", [1440, 390])
def test_from_the_list_to_the_matrix_to_a_run(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/engines")
    assert violations(page) == []
    page.get_by_role("link", name="cases by hermes of own").click()
    expect(page.locator("table.matrix tbody tr").first).to_contain_text("passes")
    assert (violations(page), sideways(page)) == ([], 0)
    page.locator("table.matrix tbody a").first.click()
    expect(page.locator("#inspector")).to_have_attribute("data-parser", "own:hermes")


def test_an_engine_is_asked_without_script(plain: Page) -> None:
    plain.goto("/engines")
    plain.get_by_role("button", name="Ask own who it is").click()
    expect(plain.get_by_role("region", name="Parsers of own")).to_contain_text("hermes")
