"""The search in the page: it starts by itself, says how far it is, and leads to what it found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import served
from tests.browser.dock import show_panel
from tests.browser.test_access import on_each_screen, violations
from tests.webapp.page.searches import FAULTY, SLOW, faulty_search
from webapp.app import create_app
from webapp.engines import ENGINES
from webapp.jobs.searches import Searches
from webapp.services import EXTENSION
from webapp.settings import Settings

pytestmark = pytest.mark.browser

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TEXT = f"Hello.\n{CALL}\n{CALL.replace('f', 'g')}\nDone with both."
WAIT = 90_000  # a search shares the machine with whatever else runs on it


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that has broken engines, and searches with them."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("search"))
    app = create_app(settings)
    jobs = app.extensions[EXTENSION].searches = Searches(settings, faulty_search.__module__)
    with pytest.MonkeyPatch.context() as patch, served(app) as address:
        for name, engine in FAULTY.items():
            patch.setitem(ENGINES, name, engine)
        yield address
        jobs.close()


def line(text: str = TEXT, engine: str | None = None, **more: Any) -> str:
    parser = {"name": "qwen"} | ({"engine": engine} if engine else {})
    return json.dumps({"schema": 1, "parser": parser, "input": {"text": text}, **more})


def shared(page: Page, engine: str, text: str = TEXT) -> str:
    """The address of a stored case."""
    answer = page.request.post("/cases", form={"case": line(text, engine, title="Demo")}, max_redirects=0)
    return str(answer.headers["location"]).partition("?")[0]


def searched(page: Page, path: str) -> None:
    """The page once its search is over."""
    page.goto(path)
    expect(page.locator("#search")).to_contain_text("Searched", timeout=WAIT)


def test_a_page_searches_by_itself_and_leads_to_the_failing_chunking(page: Page) -> None:
    path = shared(page, "loses-second")
    page.goto(path)
    step = page.locator("#go-to")
    page.get_by_role("link", name="Next step").click()
    here = step.input_value()
    expect(page.locator("#search")).to_contain_text("Searched", timeout=WAIT)
    show_panel(page, "chunkings")
    expect(step).to_have_value(here)  # the cursor stays where it is
    expect(page.locator("#headline")).to_contain_text("call")
    expect(page.locator("#verdict .smallest")).to_be_visible()
    page.locator("#chunkings .outcomes").get_by_role("link", name="side by side").first.click()
    expect(page).to_have_url(re.compile("/compare.b_chunk="))


def tops(page: Page) -> Any:
    found = page.locator("#overview, #step-bar, #work, #dock")
    return found.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")


@pytest.mark.parametrize(("engine", "width"), [("loses-second", 1440), ("drops-text", 1440)])
def test_what_a_search_finds_moves_nothing_below_the_verdict(page: Page, engine: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(shared(page, engine, f"{TEXT} Still."))
    expect(page.locator("#smallest")).to_have_text("A smaller case that shows it is being looked for.")
    before = tops(page)
    smallest = page.locator("#verdict.fails .smallest")
    expect(smallest).to_have_count(1, timeout=WAIT)
    assert tops(page) == before
    assert smallest.evaluate("(one) => one.scrollHeight - one.clientHeight") <= 1  # all of it has room
    assert smallest.evaluate("(one) => getComputedStyle(one).overflowY") == "auto"
    if not smallest.is_visible():  # there was no room for it
        page.get_by_role("button", name="Show why").click()
        expect(smallest).to_be_visible()


def test_what_no_room_was_left_for_is_unfolded_by_a_button(page: Page) -> None:
    page.goto(shared(page, "drops-text", "Some words, " * 1500 + TEXT))
    expect(page.locator("#headline")).to_have_text("Not checked yet.")
    before = tops(page)
    expect(page.locator("#headline")).to_contain_text("replays", timeout=WAIT)
    assert tops(page) == before
    page.get_by_role("button", name="Show why").click()
    expect(page.locator("#headline")).to_be_focused()
    expect(page.get_by_role("button", name="Show why")).to_be_hidden()
    assert tops(page) > before
    assert violations(page, part="#verdict") == []


def test_grounds_that_grow_are_cut_and_the_smallest_case_stays(page: Page) -> None:
    page.goto("/example/dynamo-9536-calls-with-a-semicolon")  # nobody has searched it on this server
    before = tops(page)
    more = page.get_by_role("button", name="… more")
    expect(more).to_be_visible(timeout=WAIT)
    assert tops(page) == before
    expect(page.locator("#verdict .smallest")).to_be_visible()
    expect(page.get_by_role("button", name="Show why")).to_be_hidden()
    expect(page.locator("#verdict .primary:visible")).to_have_count(1)  # one next action
    assert violations(page, part="#verdict") == []
    more.click()
    expect(page.locator("#headline")).to_be_focused()
    expect(more).to_be_hidden()
    assert tops(page) > before


def test_progress_is_shown_and_a_search_can_be_cancelled_and_begun_again(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill(f"{SLOW} Or not.")
    page.locator("#setup [name=run]").click()
    bar = page.get_by_role("progressbar", name="Search for a failing chunking")
    expect(bar).to_be_visible()
    expect(page.locator("#search")).to_contain_text(re.compile(r"chunkings \d+ of 10,000; 1 outcome so far"))
    expect(page.locator("#verdict")).to_contain_text("the search goes on")
    page.locator("#search").get_by_role("button", name="Cancel").click()
    expect(page.locator("#search")).to_contain_text("cancelled")
    expect(bar).to_have_count(0)
    page.locator("#search").get_by_role("button", name="Search again").click()
    expect(bar).to_be_visible()
    page.locator("#search").get_by_role("button", name="Cancel").click()
    expect(page.locator("#search")).to_contain_text("cancelled")


def test_the_heat_strip_is_moved_by_keys_and_by_clicks(page: Page) -> None:
    searched(page, shared(page, "loses-second"))
    show_panel(page, "chunkings")
    slider = page.get_by_role("slider", name="Cut in two after character")
    first = int(slider.input_value())
    slider.focus()
    slider.press("ArrowRight")
    expect(page.locator("[data-heat-cut]")).to_have_text(str(first + 1))
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"after character {first + 1}: (outcome A|same)"))
    slider.press("Enter")
    expect(page).to_have_url(re.compile(f"chunk=cuts:{first + 1}"))
    expect(page.locator("#verdict")).to_contain_text("another chunking")
    strip = page.locator(".heat-strip")
    show_panel(page, "chunkings")
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box
    strip.click(position={"x": 1, "y": box["height"] / 2})
    expect(page).to_have_url(re.compile("chunk=cuts:[12]$"))


def test_d_goes_to_the_next_chunking_that_diverges(page: Page) -> None:
    searched(page, shared(page, "loses-second"))
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile("chunk="))
    expect(page.locator(".outcomes [aria-current]")).to_contain_text("Outcome A")


@pytest.mark.parametrize("script", [True, False])
def test_the_smallest_form_opens_as_a_run_with_a_link_back(page: Page, plain: Page, script: bool) -> None:
    tab, path = page if script else plain, shared(page, "drops-text", TEXT + "!" * script)
    if script:
        searched(tab, path)
    else:
        tab.goto(path)
        with tab.expect_navigation(timeout=WAIT):
            tab.get_by_role("link", name="Find a failing one").click()
        while not tab.locator(".smallest").count():
            with tab.expect_navigation(timeout=WAIT):
                tab.get_by_role("link", name="Look again").click()
    box = tab.locator(".smallest")
    with tab.expect_download() as download:
        box.get_by_role("button", name="Download it").click()
    assert json.loads(download.value.path().read_text())["parent"]
    box.get_by_role("button", name="Open smallest case").click()
    expect(tab.locator(".lead")).to_contain_text("smallest failing form of Demo", ignore_case=True)
    expect(tab.locator("#findings")).to_contain_text("Error")
    tab.locator(".lead").get_by_role("link", name="Demo").click()
    expect(tab).to_have_url(re.compile(f"{path}(\\?step=\\d+)?$"))


def test_without_script_a_failing_range_is_a_link(page: Page, plain: Page) -> None:
    path = shared(page, "drops-text")
    searched(page, path)
    plain.goto(path)
    plain.locator(".matrix td").get_by_role("link", name="outcome A").first.click()
    expect(plain.locator("#verdict")).to_contain_text("another chunking")
    plain.get_by_role("link", name="back to it").click()
    expect(plain).to_have_url(re.compile(f"{path}$"))


def test_without_script_a_search_is_cancelled_by_a_button(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill(f"{SLOW} Without script.")
    plain.locator("#setup [name=run]").click()
    with plain.expect_navigation(timeout=WAIT):
        plain.get_by_role("button", name="Find a failing one").click()
    expect(plain.get_by_role("progressbar", name="Search for a failing chunking")).to_be_visible()
    plain.get_by_role("button", name="Cancel").click()
    expect(plain.locator("#search")).to_contain_text("cancelled")
    expect(plain.get_by_role("button", name="Search again")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_a_finding_leads_to_its_comparison_its_cut_and_its_check(page: Page, plain: Page, script: bool) -> None:
    path, tab = shared(page, "loses-second"), page if script else plain
    searched(page, path)
    tab.goto(path)
    tab.locator("#finding-1").get_by_role("link", name="side by side").click()
    expect(tab).to_have_url(re.compile("/compare.b_chunk=whole"))
    expect(tab.locator(".compare-sentence")).to_contain_text("The calls differ")
    tab.goto(path)
    if script:
        show_panel(tab, "robustness")
    cut = tab.locator("#robustness").get_by_role("link", name="cut there")
    at = cut.get_attribute("data-cut") or ""
    cut.click()
    expect(tab.locator("#cut-at")).to_have_value(at)
    expect(tab.locator("#truncation")).to_be_in_viewport()
    expect(tab).to_have_url(re.compile(f"cut={at}"))
    if script:
        show_panel(tab, "findings")
    tab.locator("#finding-1").get_by_role("link", name="chunking").click()
    expect(tab).to_have_url(re.compile("/checks#chunking$"))
    expect(tab.get_by_role("heading", name="chunking C1")).to_be_in_viewport()


def test_a_finding_explains_itself_and_the_verdict_leads_to_its_proof(page: Page) -> None:
    searched(page, shared(page, "loses-second"))
    finding = page.locator("#finding-1")
    finding.get_by_text("Explain").click()
    expect(finding).to_contain_text("to do")
    page.locator("#verdict").get_by_role("link", name="replay it so").click()
    expect(page).to_have_url(re.compile("chunk=whole"))


def test_the_right_parser_is_one_click_away(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill(f"{CALL} and words")
    page.locator("#parser").select_option("mistral")
    page.locator("#setup [name=run]").click()
    expect(page.locator("#verdict")).to_contain_text("Wrong parser", timeout=WAIT)
    expect(page.locator("#search")).to_contain_text("Searched", timeout=WAIT)
    page.locator("#verdict").get_by_role("button", name=re.compile("[Rr]un it with")).click()
    expect(page.locator("#result")).to_contain_text("tool_calls")


def test_axe_finds_nothing_after_a_search(page: Page) -> None:
    path = shared(page, "loses-second")
    searched(page, path)
    for details in page.locator(".more-outcomes, .heat-list, #findings details").all():
        details.evaluate("element => (element.open = true)")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
