"""A pasted log of a server without its raw output: its chunks in time, played back, read as clients do, and laid beside
a parser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import on_each_screen, violations
from tests.corpus import case_data

pytestmark = pytest.mark.browser


def case(name: str) -> dict[str, Any]:
    return case_data(f"recorded/{name}")


def log(name: str) -> str:
    events = [f"data: {json.dumps(payload)}\n\n" for payload in case(name)["input"]["stream"]]
    return "".join([*events, "data: [DONE]\n\n"])


def shared(page: Page, base: str, name: str) -> str:
    answer = page.request.post(f"{base}/api/v1/cases", data=case(name))
    return str(f"/c/{answer.json()['id']}")


def clients(page: Page) -> Any:
    return page.get_by_role("region", name="What clients make of it")


@pytest.mark.parametrize("script", [True, False])
def test_a_log_is_played_and_shows_which_client_breaks(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto("/")
    tab.locator("#text").fill(log("no-index"))
    tab.locator("#setup [name=run]").click()
    expect(tab.locator(".case-note")).to_have_text("not shared")
    expect(tab.locator("#findings")).to_contain_text("A part of a call has no index")
    if script:
        show_panel(tab, "wire")
    tab.get_by_role("button", name="Clients", exact=True).click()
    expect(clients(tab)).to_contain_text("breaks, gets 0 calls")
    expect(clients(tab)).to_contain_text("gets 1 call, as the message has")
    clients(tab).get_by_role("button", name="chunk 2").first.click()
    expect(tab.locator("#go-to")).to_have_value("2")


@pytest.mark.parametrize(
    ("width", "model", "judge"),
    [(1440, "Qwen/Qwen3-8B", "qwen"), (1280, "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "qwen_coder")],
)
def test_the_line_of_the_set_up_has_the_format_that_judges_whole(
    page: Page, width: int, model: str, judge: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    leak = {"content": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'}
    deltas = [{"tool_calls": [call]}, *[{"content": "word "}] * 12, leak]
    same = {"object": "chat.completion.chunk", "model": model}
    chunks = [{**same, "created": at, "choices": [{"index": 0, "delta": one}]} for at, one in enumerate(deltas)]
    page.goto("/")
    page.locator("#text").fill("".join(f"data: {json.dumps(one)}\n\n" for one in chunks))
    page.locator("#setup [name=run]").click()
    facts = page.locator("#setup .setup-fact")
    expect(facts).to_have_text([f"Model {model}", f"Markers of {judge}"])
    expect(page.locator("#setup .intake > summary")).to_contain_text("warning")
    whole = "one => one.scrollWidth <= one.clientWidth"
    assert facts.last.evaluate(whole)
    assert page.locator("#setup").evaluate("form => form.offsetHeight") < 48  # one line
    if width == 1440:
        assert facts.first.evaluate(whole)
        assert page.locator("#recorded-menu > summary .quiet").evaluate(whole)


def test_a_character_of_the_answer_is_said_to_be_sent_in_its_chunk(page: Page, base: str) -> None:
    page.goto(f"{shared(page, base, 'no-index')}?step=2")
    page.locator("#result .run").first.click(position={"x": 2, "y": 6})
    expect(page.locator("#who")).to_contain_text(", sent in chunk ")


def test_the_cursor_strikes_no_number_of_a_chunk_through(page: Page, base: str) -> None:
    page.goto(f"{shared(page, base, 'no-index')}?step=2")
    struck = """() => {
      const line = document.querySelector("#overview [data-band-cursor]");
      const at = line.getBoundingClientRect();
      return [...document.querySelectorAll("#overview .axis-text")].filter(text => {
        const { left, right } = text.getBoundingClientRect();
        const over = line.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING
          && getComputedStyle(text).paintOrder.startsWith("stroke");
        return left < at.right && at.left < right && !over;
      }).length;
    }"""
    for number in range(1, 7):
        page.locator("#go-to").fill(str(number))
        page.locator("#go-to").press("Enter")
        expect(page.locator("#input tr[aria-current=step]")).to_have_attribute("data-row", str(number))
        assert page.evaluate(struck) == 0
        own = page.locator("#overview .axis-text", has_text=str(number)).first.bounding_box()
        cursor = page.locator("#overview [data-band-cursor]").bounding_box()
        assert own is not None
        assert cursor is not None
        assert cursor["x"] + cursor["width"] < own["x"] + 1


@pytest.mark.parametrize("script", [True, False])
def test_the_end_of_a_stream_is_a_place_and_no_chunk(page: Page, plain: Page, base: str, script: bool) -> None:
    tab = page if script else plain
    tab.goto(f"{shared(page, base, 'no-index')}?step=1")
    last = int(tab.locator("[data-total]").first.get_attribute("data-total") or 0) - 1
    tab.locator("#go-to").fill("end")
    tab.locator("#go-to").press("Enter")
    expect(tab.locator("#go-to")).to_have_value("end")
    expect(tab.locator("#step .card:visible h2")).to_have_text("End of the stream")
    expect(tab).to_have_title(re.compile(", end of the stream ·"))
    tab.get_by_role("link", name="Previous step").click()
    expect(tab.locator("#go-to")).to_have_value(str(last))
    expect(tab).to_have_title(re.compile(f", chunk {last} of {last} ·"))


@pytest.mark.parametrize("script", [True, False])
def test_a_parser_stands_beside_the_servers_stream(page: Page, plain: Page, base: str, script: bool) -> None:
    tab = page if script else plain
    tab.goto(f"{shared(page, base, 'beside-the-output-departs')}?dock=wire")
    tab.get_by_role("link", name="Compare with the server's stream").click()
    expect(tab.locator(".compare-sentence")).to_contain_text("The calls differ.")
    expect(tab.locator("#step-a")).to_contain_text("recorded, as recorded")
    expect(tab.locator("#a_parser")).to_have_value("recorded")
    tab.get_by_role("link", name="Go to where B parts from A").click()
    expect(tab.locator("#go-to")).not_to_have_value("0")


def test_a_recording_whose_output_is_unknown_is_compared_chunk_by_chunk(page: Page, base: str) -> None:
    page.goto(f"{shared(page, base, 'no-index')}?step=1")
    held = page.url
    page.goto("/")
    page.locator("#text").fill("Hi.")
    page.locator("#text").press("Control+Enter")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator("#put").fill(held.partition("?")[0])
    page.locator("#put-form button").click()
    expect(page.locator("#output-title")).to_have_text("What was sent")
    page.locator("#both [tabindex='0']").focus()
    page.keyboard.press("Home")
    said = page.locator("[data-compare-summary]")
    seen = [said.inner_text().rpartition(" C ")[2]]
    while page.locator("#go-to").input_value() != page.locator("#compare").get_attribute("data-size"):
        page.keyboard.press("ArrowRight")
        seen.append(said.inner_text().rpartition(" C ")[2])
    assert len({one for one in seen if one.startswith("chunk")}) > 2
    assert violations(page) == []


@pytest.mark.parametrize("address", ["?dock=wire&wire=clients", "?step=2&dock=wire&wire=chunks"])
def test_axe_finds_nothing_in_what_clients_make_of_it(page: Page, base: str, address: str) -> None:
    page.goto(shared(page, base, "no-index") + address)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


DELIVERED = {"index": 0, "id": "call_1", "function": {"name": "get_time", "arguments": "{}"}}
CHUNKS = [
    (0, chunk({"role": "assistant", "content": "Let me see.\n"})),
    (38, chunk({"tool_calls": [DELIVERED]})),
    (61, chunk({"content": '<tool_call>\n{"name": "save_note", '})),
    (344, chunk({"content": '"arguments": {"body": "x"}}\n</tool_call>'})),
    (345, chunk({"content": " D"})),
    (345.5, chunk({"content": "one"})),
    (370, chunk({}, "tool_calls")),
]
TIMED = "".join([f"12:03:59.{int(at * 1000):06d} data: {line}\n" for at, line in CHUNKS]) + "12:04:00 data: [DONE]\n"


def paste(tab: Page, text: str = TIMED) -> None:
    tab.goto("/")
    tab.locator("#text").fill(text)
    tab.locator("#setup [name=run]").click()
    expect(tab.locator("#input-title")).to_have_text("Chunks")


def row(tab: Page, number: int) -> Any:
    return tab.locator(f".chunk-table tr[data-row='{number}']")


@pytest.mark.parametrize("script", [True, False])
def test_chunks_are_stepped_through_in_time_and_what_leaked_is_replayed(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    paste(tab)
    expect(tab.locator("#source > summary")).to_have_text("7 chunks, 370 ms")
    expect(tab.locator("#machine")).to_contain_text("A recording has no state table")
    expect(tab.locator("body")).not_to_contain_text("UNKNOWN")
    expect(row(tab, 3)).to_have_attribute("aria-current", "step")
    row(tab, 4).get_by_role("button").click()
    expect(tab.locator("#step .card:not([hidden]) h2")).to_have_text("Chunk 4")
    expect(tab.locator("#step .card:not([hidden])")).to_contain_text("283 ms after chunk 3")
    expect(row(tab, 4)).to_contain_text("gap")
    expect(row(tab, 6)).to_contain_text("burst, 3 of 3")
    expect(tab.locator("#result .not-yet").first).to_contain_text("D")
    tab.locator("#verdict").get_by_role("button", name="Replay what leaked with qwen").click()
    expect(tab.locator("#result")).to_contain_text("save_note")
    expect(tab.locator("#strip")).to_be_visible()


def test_the_axis_is_one_of_time_for_the_cursor_and_the_slider(page: Page) -> None:
    paste(page)
    page.locator("#step-bar [data-jump=step][data-direction=next]").click()
    expect(row(page, 4)).to_have_attribute("aria-current", "step")
    assert 85 < float(page.locator("[data-band-cursor]").get_attribute("x1")[:-1]) < 92  # type: ignore[index]
    page.locator("#overview .slider").fill("30")
    expect(row(page, 3)).to_have_attribute("aria-current", "step")
    page.locator("#until").fill("gap > 60ms")
    page.locator("#until").press("Enter")
    expect(page.locator("#stop-note")).to_contain_text("1 stop")
    page.locator("#until").blur()
    page.locator("h2#step-title, #step .card:not([hidden]) h2").first.click()
    page.keyboard.press("r")
    expect(page.locator("#stop-note")).to_contain_text("the first of 1")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_follows_the_recording_to_its_end(page: Page, motion: Any) -> None:
    page.emulate_media(reduced_motion=motion)
    paste(page)
    page.get_by_label("Speed of play").select_option("4")
    page.locator("#step-bar [data-jump=end][data-direction=previous]").click()
    page.locator("[data-play]").click()
    expect(page.locator("#go-to")).to_have_value("end")
    expect(page.locator("[data-play]")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#step .card:not([hidden]) h2")).to_have_text("End of the stream")


def test_a_gap_is_cut_short_and_any_key_pauses(page: Page) -> None:
    paste(page, TIMED.replace("12:03:59.344", "12:09:59.344").replace("12:03:59.345", "12:09:59.345")
          .replace("12:03:59.370", "12:09:59.370").replace("12:04:00", "12:10:00"))  # fmt: skip
    expect(page.locator("#machine")).to_contain_text("6 min 0 s before chunk 4 is the longest gap")
    page.get_by_label("Speed of play").select_option("4")
    page.locator("[data-play]").click()
    expect(page.locator("#go-to")).to_have_value("end")
    page.locator("#step-bar [data-jump=end][data-direction=previous]").click()
    page.get_by_label("Speed of play").select_option("0.25")
    page.locator("[data-play]").click()
    page.keyboard.press("Escape")
    expect(page.locator("[data-play]")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(("script", "key"), [(True, None), (False, None), (True, "Control+Enter")])
def test_the_raw_output_settles_what_a_recording_cannot_say(
    page: Page, plain: Page, script: bool, key: str | None
) -> None:
    tab = page if script else plain
    paste(tab)
    tab.locator(".settle > summary").click()
    tab.get_by_label("What the model wrote, with its special tokens").fill(
        'Let me see.\n<tool_call>\n{"name": "save_note", "arguments": {"body": "x"}}\n</tool_call>'
    )
    if key is None:
        tab.get_by_role("button", name="Judge the parser").click()
    else:
        tab.keyboard.press(key)
    expect(tab.locator("#strip")).to_be_visible()
    expect(tab.locator("#result")).to_contain_text("save_note")
    expect(tab.locator("#findings")).to_contain_text("server")


def test_axe_finds_nothing_in_a_recording_and_nothing_leaves_the_screen(page: Page) -> None:
    paste(page)
    for screen in on_each_screen(page):
        for part in ("verdict", "input", "step", "machine", "result") if screen == "narrow" else ("verdict",):
            tab = page.locator(f".screens:not(.unscripted) [data-screen='{part}']")
            if tab.is_visible():
                tab.click()
            looked_at = "html" if part == "verdict" else f"#{part}"
            assert (screen, part, violations(page, screen, looked_at)) == (screen, part, [])
            assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("size", [(1440, 900), (1100, 800), (768, 1024), (390, 844)])
def test_no_pane_of_a_recording_covers_another(browser: Browser, watch: Any, size: tuple[int, int]) -> None:
    context = watch.context(browser, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    paste(page)
    panes = [page.locator(f"#{name}") for name in ("overview", "step-bar", "input", "step", "result", "machine")]
    boxes = [box for one in panes if one.is_visible() and (box := one.bounding_box())]
    fixed = size[0] <= 700  # band and steps are a bar at the bottom, over what scrolls
    for at, one in enumerate(boxes[2:] if fixed else boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= size[0] + 1
        for other in (boxes[2:] if fixed else boxes)[at + 1 :]:
            beside = one["x"] + one["width"] <= other["x"] + 2 or other["x"] + other["width"] <= one["x"] + 2
            assert beside or one["y"] + one["height"] <= other["y"] + 2 or other["y"] + other["height"] <= one["y"] + 2
    if size == (1440, 900):
        assert page.evaluate("() => document.documentElement.scrollHeight <= window.innerHeight")
    context.close()


def test_a_condition_leaves_the_axis_of_time_as_it_is(page: Page, base: str) -> None:
    page.goto(shared(page, base, "no-index"))
    lanes, pins = page.locator("#overview .overview-labels"), page.locator("#overview .pin")
    had = lanes.inner_text()
    page.locator("#until").fill("step > 1")
    expect(pins).not_to_have_count(0)
    expect(lanes).to_have_text(had, use_inner_text=True)
    page.locator("#until").fill("")
    expect(pins).to_have_count(0)
    expect(lanes).to_have_text(had, use_inner_text=True)
