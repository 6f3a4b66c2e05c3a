"""Long outputs: the page stays small, windows follow the cursor, and a server that is gone takes nothing away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Request, Route, expect

pytestmark = pytest.mark.browser

TEXT = ("I will call.\n<tool_call>\n" + '{"name": "f", "arguments": {"body": "some words that go on and on"}}') * 300


def open_long(page: Page, text: str = TEXT) -> None:
    page.goto("/")
    page.locator("#parser").select_option("passthrough")
    page.locator("#text").fill(text)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")


def heading(page: Page) -> str:
    return page.locator("#step .card:not([hidden]) h2").inner_text()


def go_to(page: Page, step: int) -> None:
    page.locator("#go-to").fill(str(step))
    page.locator("#go-to").press("Enter")


def test_a_long_output_opens_small_and_is_checked_afterwards(page: Page) -> None:
    open_long(page)
    assert page.locator("*").count() < 20_000
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    expect(page.locator("#lag .lag-words")).to_be_attached()
    expect(page.locator("#result .folded").first).to_be_visible()


def test_checks_that_arrive_late_leave_the_cursor_and_the_step_bar_alone(page: Page) -> None:
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        if "report=1" in route.request.url and not waiting:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/r/*", keep)
    with page.expect_request(lambda sent: "report=1" in sent.url):
        open_long(page, f"Not asked for before. {TEXT}")
    go_to(page, 9000)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")
    page.evaluate("() => { for (const id of ['window', 'step-bar']) document.getElementById(id).seen = true; }")
    page.wait_for_timeout(100)
    waiting[0].continue_()
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    expect(page.locator("#badges dt")).to_have_count(10)
    assert page.evaluate("() => ['window', 'step-bar'].every((id) => document.getElementById(id).seen)")
    expect(page.locator("[data-slider]")).to_have_value("9000")
    assert page.locator("[data-band-cursor]").get_attribute("x1") != "0.000%"
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")


def test_checks_that_do_not_come_are_asked_for_again_and_then_when_somebody_says_so(
    page: Page, allowed: list[str]
) -> None:
    allowed.append("503")
    refused: list[str] = []

    def refuse(route: Route) -> None:
        if "report=1" in route.request.url and len(refused) < 4:
            refused.append(route.request.url)
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="<main><p>Busy.</p></main>")
        else:
            route.continue_()

    page.route("**/r/*", refuse)
    open_long(page, f"Refused at first. {TEXT}")
    page.get_by_role("button", name="ask again").click()
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    assert len(refused) == 4


def test_the_cursor_still_moves_where_neither_the_window_nor_the_run_came(page: Page, allowed: list[str]) -> None:
    allowed += ["410", "503"]
    open_long(page, f"Gone and busy. {TEXT}")
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    page.route("**/r/*", lambda route: route.fulfill(status=410), times=1)
    page.route("**/run", lambda route: route.fulfill(status=503), times=1)
    go_to(page, 9000)
    expect(page.locator("#connection")).to_be_visible()
    assert heading(page).endswith("Step 1")
    go_to(page, 9000)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")


def test_the_window_follows_the_cursor_both_ways(page: Page) -> None:
    open_long(page)
    go_to(page, 9000)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")
    page.locator("#strip [tabindex='0']").focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,150")
    page.keyboard.press("Home")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 1")


def test_a_number_selected_to_be_typed_over_stays_selected_when_the_cursor_moves(page: Page) -> None:
    open_long(page)
    page.locator("#go-to").select_text()
    page.locator("[data-jump=step][data-direction=next]").first.evaluate("control => control.click()")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 2")
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 50")


def test_keys_held_at_the_edge_of_the_window_land_where_they_should(page: Page) -> None:
    open_long(page)
    go_to(page, 500)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 500")
    page.locator("[data-slider]").focus()
    for _ in range(90):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 590")


def test_a_key_held_down_moves_smoothly_and_asks_for_one_window_at_a_time(page: Page) -> None:
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    flying, most = 0, 0

    def begun(request: Request) -> None:
        nonlocal flying, most
        flying += "/r/" in request.url
        most = max(most, flying)

    def over(request: Request) -> None:
        nonlocal flying
        flying -= "/r/" in request.url

    go_to(page, 500)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 500")
    page.on("request", begun)
    page.on("requestfinished", over)
    page.on("requestfailed", over)
    page.evaluate(
        """() => {
          window.drawn = new Set();
          const seen = () => window.drawn.add(document.querySelector("[data-step-number]").textContent);
          new MutationObserver(seen).observe(document.body, { childList: true, subtree: true, characterData: true });
        }"""
    )
    page.locator("[data-slider]").focus()
    for _ in range(200):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(15)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 700")
    assert most == 1
    assert page.evaluate("() => window.drawn.size") > 130


def test_a_new_window_stands_at_the_step_of_the_cursor_from_its_first_frame_on(page: Page) -> None:
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    go_to(page, 500)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 500")
    page.evaluate(
        """() => {
          window.frames_of = [];
          const look = () => {
            const card = document.querySelector("#step .card:not([hidden]) h2");
            window.frames_of.push(Number(card.textContent.match(/Step ([\\d,]+)/)[1].replace(",", "")));
            requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }"""
    )
    page.locator("[data-slider]").focus()
    for _ in range(250):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(5)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 750")
    shown: list[int] = page.evaluate("window.frames_of")
    assert shown == sorted(shown)
    assert max(shown) == 750


def test_a_long_run_says_at_once_that_it_is_looked_through_for_a_stop(page: Page) -> None:
    waiting: list[Route] = []
    page.route("**/r/*until=*", lambda route: waiting.append(route), times=1)
    open_long(page, "word " * 21_000)
    page.locator("#until").fill("step > 9")
    page.locator("#until").press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("looking through")
    expect(page.locator("#stops")).to_have_attribute("aria-busy", "true")
    for route in waiting:
        route.continue_()
    expect(page.locator("#stop-note [data-stop-place]")).to_contain_text("stops")
    expect(page.locator("#stops")).not_to_have_attribute("aria-busy", "true")


def test_who_moves_comes_before_the_report(page: Page) -> None:
    asked: list[str] = []

    def note(route: Route) -> None:
        if "report=1" in route.request.url:
            asked.append(route.request.url)
            route.fulfill(status=204)
        else:
            route.continue_()

    page.route("**/r/*", note)
    open_long(page, f"On the way. {TEXT}")
    page.locator("[data-slider]").focus()
    page.keyboard.press("ArrowRight")
    before = len(asked)
    for _ in range(120):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(15)
    assert len(asked) <= max(before, 1)
    page.wait_for_event("request", lambda sent: "report=1" in sent.url)


def test_the_report_is_asked_for_by_one_request_at_a_time_wherever_the_cursor_went(page: Page) -> None:
    flying: list[Request] = []
    given_up: list[str] = []
    most = 0

    def left(request: Request) -> None:
        if request in flying:
            flying.remove(request)

    def asked(request: Request) -> None:
        nonlocal most
        if "report=1" in request.url:
            flying.append(request)
            most = max(most, len(flying))

    page.on("request", asked)
    page.on("requestfinished", left)
    page.on("requestfailed", lambda request: given_up.append(request.url) if "report=1" in request.url else None)
    page.route(
        "**/r/*", lambda route: route.fulfill(status=204) if "report=1" in route.request.url else route.continue_()
    )
    open_long(page, f"There and back. {TEXT}")
    page.locator("[data-slider]").focus()
    for key in ("End", "Home", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
    page.wait_for_timeout(2_000)
    assert (most, given_up) == (1, [])


def test_the_page_of_a_long_output_says_that_it_is_left(page: Page) -> None:
    # what a page sends as it goes is not told to who drives the browser
    page.add_init_script("navigator.sendBeacon = (url) => (sessionStorage.left = url)")
    open_long(page, 3 * TEXT)
    held = page.locator("#inspector").get_attribute("data-held")
    page.goto("/help")
    assert page.evaluate("sessionStorage.left") == f"{held}/left"


def test_an_end_that_is_jumped_to_takes_the_place_of_the_moves_that_wait(page: Page) -> None:
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    windows: list[str] = []
    page.on("request", lambda sent: windows.append(sent.url) if "step=" in sent.url else None)
    page.locator("[data-slider]").focus()
    for _ in range(10):
        page.keyboard.press("End")
        page.keyboard.press("PageUp")
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
    page.keyboard.press("End")
    expect(page.locator("#step .card:not([hidden]) h2")).to_have_text("End of output")
    assert len(windows) <= 4, windows


def test_when_the_server_is_gone_what_is_loaded_still_works(page: Page, allowed: list[str]) -> None:
    allowed.append("Failed to load resource")
    allowed.append("Failed to fetch")
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    here = int(page.locator("#go-to").input_value())
    page.route("**/r/*", lambda route: route.abort())
    go_to(page, here + 2000)
    expect(page.locator("#connection strong")).to_have_text("The server did not answer.")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value(str(here + 1))


@pytest.mark.parametrize(
    ("status", "head"), [(500, "The server could not do this (500)."), (429, "The server refused this (429).")]
)
def test_what_the_server_answers_with_an_error_is_said_and_not_drawn_into_a_pane(
    page: Page, allowed: list[str], status: int, head: str
) -> None:
    allowed.append(str(status))

    def fail(route: Route) -> None:
        route.fulfill(status=status, content_type="text/html", body="<main><p>It has its reasons.</p></main>")

    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    page.route("**/r/*", fail)
    go_to(page, 9000)
    expect(page.locator("#connection")).to_contain_text("It has its reasons.")
    expect(page.locator("#connection strong")).to_have_text(head)
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    expect(page.locator("#strip")).to_be_visible()


def test_a_run_that_is_held_no_more_is_posted_again_and_the_cursor_goes_on(page: Page, allowed: list[str]) -> None:
    allowed.append("410")
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    held = page.locator("#inspector").get_attribute("data-held")
    page.route("**/r/*", lambda route: route.fulfill(status=410, body="gone"), times=1)
    go_to(page, 9000)
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")
    expect(page.locator("#text")).to_have_value(TEXT)
    expect(page.locator("#connection")).to_be_hidden()
    assert page.locator("#inspector").get_attribute("data-held") != held
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,001")


@pytest.mark.parametrize("is_late", [False, True])
def test_whatever_is_pressed_while_a_run_is_posted_again_it_is_posted_once(
    page: Page, allowed: list[str], is_late: bool
) -> None:
    allowed += ["410", "410", "410"]
    open_long(page)
    expect(page.locator("#chunkings tbody tr")).to_have_count(11)
    held = page.locator("#inspector").get_attribute("data-held") or "none"
    page.route(f"**{held}*", lambda route: route.fulfill(status=410, body="gone"))
    waiting: list[Route] = []
    page.route("**/run", lambda route: waiting.append(route) if is_late else route.continue_())
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.locator("#strip [tabindex='0']").focus()
    for key in ("End", *["ArrowLeft"] * 30, "Home", "End", *["ArrowLeft"] * 7):
        page.keyboard.press(key)
    for route in waiting:
        route.continue_()
    last = int(page.locator("#inspector").get_attribute("data-total") or 0) - 7
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text(f"Step {last:,}")
    expect(page.locator("#inspector")).not_to_have_attribute("data-held", held)
    expect(page.locator("#connection")).to_be_hidden()
    assert [url.rpartition("/")[2] for url in posts] == ["run"]


FORGET = """() => {
  const [address] = JSON.parse(sessionStorage.runs), gone = `/r/${"0".repeat(32)}`;
  sessionStorage.setItem(gone, sessionStorage[address]);
  sessionStorage.runs = JSON.stringify([gone]);
  return gone;
}"""


def test_an_address_loaded_anew_after_the_server_forgot_it_is_posted_again(page: Page, allowed: list[str]) -> None:
    allowed.append("410")
    open_long(page)
    gone = page.evaluate(FORGET)
    page.goto(f"{gone}?step=9000")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("Step 9,000")
    expect(page.locator("#text")).to_have_value(TEXT)
    assert gone not in page.url
    page.goto(f"/r/{'1' * 32}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Gone")


def test_the_last_runs_of_a_tab_are_kept_in_it(page: Page) -> None:
    open_long(page, "Number 1")
    page.goto("/")  # a run that is open is kept anew with every part of it that arrives
    older = [f"/r/{number}" for number in range(12)]
    page.evaluate("(all) => all.forEach((one) => sessionStorage.setItem(one, 'Number'))", older)
    page.evaluate("(all) => sessionStorage.setItem('runs', JSON.stringify(all))", older)
    open_long(page, "Number 2")
    kept = page.evaluate("() => JSON.parse(sessionStorage.runs)")
    assert kept[:-1] == older[1:]
    assert page.evaluate("(all) => all.map((one) => sessionStorage[one].includes('Number'))", kept) == [True] * 12
    assert page.evaluate("(one) => sessionStorage[one] ?? null", older[0]) is None


FULL = """() => {
  const { setItem } = Storage.prototype;
  let refused = 0;
  Storage.prototype.setItem = function (name, value) {
    if (name.startsWith("/r/") && refused++ < TIMES) throw new DOMException("full", "QuotaExceededError");
    setItem.call(this, name, value);
  };
}"""


@pytest.mark.parametrize(("times", "left"), [(1, [False, True]), (2, [True]), (9, [])])
def test_where_the_storage_is_full_older_runs_make_room(page: Page, times: int, left: list[bool]) -> None:
    for text in ("First", "Second"):
        open_long(page, text)
    page.add_init_script(f"({FULL.replace('TIMES', str(times))})()")
    open_long(page, "Third")
    stored = "one => sessionStorage[one]"
    kept = page.evaluate(f"() => JSON.parse(sessionStorage.runs).map({stored}).filter(Boolean)")
    assert ["Third" in text for text in kept] == left
    expect(page.locator("#inspector")).to_be_visible()
