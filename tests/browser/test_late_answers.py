"""Answers of the server that come late, or after something newer: nothing that somebody chose meanwhile is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.dock import show_panel
from tests.browser.test_long import TEXT, go_to, open_long

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"
OUTPUT = 'Pinned while a search goes on.\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
WINDOWS = f"{EXAMPLE}?chunk=char&step=1"  # as many steps as several windows have


class Held:
    """Requests of a page that were let to the server no further, in their order."""

    def __init__(self, page: Page, is_one: Callable[[Route], bool], most: int = 1) -> None:
        self.page, self.is_one, self.most = page, is_one, most
        self.routes: list[Route] = []
        page.route("**/*", self._hold)

    def _hold(self, route: Route) -> None:
        if self.is_one(route) and len(self.routes) < self.most:
            self.routes.append(route)
        else:
            route.fallback()

    def await_first(self) -> None:
        """Until one is held. What was clicked or typed before it is under way."""
        for _ in range(500):
            if self.routes:
                return
            self.page.wait_for_timeout(20)
        pytest.fail("nothing was asked for that could be held")

    def release(self) -> None:
        """Let them go on; one that was given up meanwhile goes nowhere."""
        for route in self.routes:
            route.continue_()


def asks_for(part: str) -> Callable[[Route], bool]:
    return lambda route: route.request.headers.get("hx-target", "").endswith(f"#{part}")


def pin_two_steps(page: Page) -> None:
    page.locator("#strip [data-token][aria-selected=true]").focus()
    for key in ("m", "ArrowRight", "m"):
        page.keyboard.press(key)


def expect_pins(page: Page, *steps: int) -> None:
    """The same in every place that shows them."""
    expect(page.locator("#overview .kept")).to_have_count(len(steps))
    expect(page.locator("#pins [data-step]")).to_have_text([str(step) for step in steps])
    expect(page.locator("#dock [data-count=watch]")).to_have_text(str(len(steps)))


def test_a_second_pin_does_not_wait_for_the_first_and_is_not_lost(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    first = Held(page, asks_for("ask-pins"))
    pin_two_steps(page)
    expect_pins(page, 19, 20)
    first.release()
    expect_pins(page, 19, 20)
    pin_two_steps(page)  # 20 goes, 21 comes
    expect_pins(page, 19, 21)


def test_a_filter_typed_before_the_answer_to_another_is_not_lost(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19&dock=events")
    first = Held(page, asks_for("ask-events"))
    page.locator("#filter").fill("state:TOOL_CALL")
    page.locator("#filter").press("Enter")
    first.await_first()
    page.locator("#filter").fill("sent:name")
    page.locator("#filter").press("Enter")
    expect(page.locator("#filter-note")).to_contain_text("2")
    first.release()
    for words in ("call:1", "sent:args", "sent:name"):  # as fast as they come
        page.locator("#filter").fill(words)
        page.locator("#filter").press("Enter")
    expect(page.locator("#event-list")).to_have_attribute("data-filter-of", "sent:name")
    expect(page.locator("#event-list tbody tr")).to_have_count(2)


def test_of_three_conditions_typed_in_a_row_the_last_one_counts(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=1")
    first = Held(page, asks_for("ask-stops"))
    for words in ("held > 2", "held > 3", "sent:name"):
        page.locator("#until").fill(words)
        page.locator("#until").press("Enter")
        first.await_first()
        page.locator("#until").focus()
    expect(page.locator("#stops")).to_have_attribute("data-stops-of", "sent:name")
    expect(page.locator("#overview .pin")).to_have_count(2)
    first.release()
    expect(page.locator("#overview .pin")).to_have_count(2)


def test_a_pin_whose_answer_comes_after_another_window_stands_beside_the_rows_of_that_window(page: Page) -> None:
    page.goto(WINDOWS)
    show_panel(page, "watch")
    pins = Held(page, asks_for("ask-pins"))
    page.locator("[data-pin]").click()
    pins.await_first()
    go_to(page, 200)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 200")
    pins.release()
    expect_pins(page, 1)
    expect(page.locator("#watch tr[data-watch]:visible")).to_have_count(2)


def test_a_window_asked_for_before_a_step_was_pinned_takes_no_pin_away(page: Page) -> None:
    page.goto(WINDOWS)
    show_panel(page, "watch")
    window = Held(page, asks_for("window"))
    go_to(page, 200)
    window.await_first()
    page.locator("[data-pin]").click()
    expect_pins(page, 1)
    window.release()
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 200")
    expect_pins(page, 1)


@pytest.mark.parametrize("delay", [0, 40])
def test_keys_pressed_while_a_window_is_on_its_way_are_for_the_step_that_was_asked_for(page: Page, delay: int) -> None:
    page.goto(WINDOWS)
    expect(page.locator("html[data-ready]")).to_be_attached()
    window = Held(page, asks_for("window"))
    for key in ("g", "2", "0", "0", "Enter", "m", "ArrowRight", "m", "PageDown", "m", "g", "1", "Enter", "m"):
        page.keyboard.press(key, delay=delay)
    window.await_first()
    window.release()
    expect_pins(page, 1, 200, 201, 251)
    expect(page.locator("#go-to")).to_have_value("1")


def test_a_window_asked_for_before_a_filter_was_typed_takes_it_away_neither_from_the_field_nor_the_list(
    page: Page,
) -> None:
    page.goto(WINDOWS)
    show_panel(page, "events")
    window = Held(page, asks_for("window"))
    go_to(page, 200)
    window.await_first()
    page.locator("#filter").fill("sent:content")
    page.locator("#filter").press("Enter")
    expect(page.locator("#event-list")).to_have_attribute("data-filter-of", "sent:content")
    page.locator("#filter").press("End")
    page.locator("#filter").press_sequentially(" fi")
    window.release()
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 200")
    page.locator("#filter").press_sequentially("rst")
    expect(page.locator("#filter")).to_have_value("sent:content first")
    expect(page.locator("#event-list")).to_have_attribute("data-filter-of", "sent:content first")


def test_a_filter_cleared_before_another_window_came_leaves_the_events_of_that_window(page: Page) -> None:
    page.goto(WINDOWS)
    show_panel(page, "events")
    page.locator("#filter").fill("sent:content")
    page.locator("#filter").press("Enter")
    expect(page.locator("#event-list")).to_have_attribute("data-filter-of", "sent:content")
    cleared = Held(page, asks_for("ask-events"))
    page.locator("#filter").fill("")
    page.locator("#filter").press("Enter")
    cleared.await_first()
    go_to(page, 200)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 200")
    cleared.release()
    page.wait_for_function("""() => {
      const { first, last } = document.querySelector("[data-window]").dataset;
      const { drawn, filterOf } = document.getElementById("event-list").dataset;
      const row = document.querySelector("#event-list [data-row]");
      return first > 150 && drawn === `${first}-${last}` && filterOf === "" && row?.dataset.row > 150;
    }""")


def await_result(page: Page, route: Route) -> None:
    """Until the server answers a request about a search with what was found."""
    for _ in range(1200):
        if "data-searching" not in page.request.get(route.request.url, headers=route.request.headers).text():
            return
        page.wait_for_timeout(100)
    pytest.fail("the search goes on and on")


def test_what_a_search_asked_for_before_takes_neither_pins_nor_stops_away(page: Page) -> None:
    search = Held(page, lambda route: "/find" in route.request.url)
    page.goto("/")
    page.locator("#text").fill(OUTPUT)
    page.locator("#setup [name=run]").click()
    search.await_first()
    pin_two_steps(page)
    page.locator("#until").fill("sent:name")
    expect(page.locator("#overview .pin")).to_have_count(1)
    expect_pins(page, 14, 15)
    await_result(page, search.routes[0])
    search.release()
    expect(page.locator("#search-poll[data-searching]")).to_have_count(0)
    expect(page.locator("#overview .pin")).to_have_count(1)
    expect_pins(page, 14, 15)


def test_a_step_pinned_while_the_run_is_posted_again_is_pinned_on_the_page_that_comes(
    page: Page, allowed: list[str]
) -> None:
    allowed.append("410")
    open_long(page, f"Forgotten meanwhile. {TEXT}")
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    posted = Held(page, lambda route: route.request.url.endswith("/run"))
    page.route("**/r/*", lambda route: route.fulfill(status=410), times=1)
    go_to(page, 9000)
    posted.await_first()
    page.locator("[data-pin]").click()
    posted.release()
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")
    expect_pins(page, 1)
