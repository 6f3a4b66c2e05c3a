"""The token strip in a real browser: silent tokens, lost bytes, equal tokens, the badges, and 100,000 tokens."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

TEXT = 'Hi 🙂.\n<tool_call>\n{"name": "f", "arguments": {"city": "Zürich", "town": "Zürich"}}\n</tool_call>'
UNIT = '<tool_call>\n{"name": "f", "arguments": {"body": "some words that go on and on 漢字"}}\n</tool_call>\n'

# Each step is one key: the time from the event to the end of its work and of the layout that it calls for.
STEPS = """count => {
  const times = [];
  for (let i = 0; i < count; i += 1) {
    const start = performance.now();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""


def run(page: Page, text: str, *, decode: str = "", parser: str = "qwen") -> None:
    page.goto("/")
    page.locator("#parser").select_option(parser)
    page.locator("#text").evaluate("(field, text) => { field.value = text; }", text)
    if decode:
        page.locator("#policies > summary").click()
        page.locator("#decode > summary").click()
        page.locator(f"[name=decode_policy][value={decode}]").check()
        page.keyboard.press("Escape")
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared", timeout=30_000)


def fact(page: Page, name: str) -> str:
    row = page.locator(".facts:not([hidden]) > div").filter(has=page.locator("dt", has_text=name))
    return row.first.locator("dd").inner_text()


def test_a_silent_token_shows_its_bytes_and_where_the_character_ends(page: Page) -> None:
    run(page, TEXT)
    chip = page.locator("#strip .chip-pending").first
    expect(chip).to_contain_text("F0 9F")
    chip.click()
    assert "completes at token" in fact(page, "Pending")
    assert "assumed" in fact(page, "Id")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#strip [aria-selected=true]")).to_have_count(1)


def test_equal_tokens_share_a_colour_and_a_number_once_they_are_asked_for(page: Page) -> None:
    run(page, TEXT)
    token = page.locator("#strip [data-same]").first
    number = token.get_attribute("data-same")
    plain = token.evaluate("item => getComputedStyle(item, '::after').content")
    page.get_by_role("button", name="equal tokens").click()
    expect(page.get_by_role("button", name="equal tokens")).to_have_attribute("aria-pressed", "true")
    assert plain == "none"
    assert token.evaluate("item => getComputedStyle(item, '::after').content") == f'"{number}"'
    assert violations(page, part="#input") == []
    page.get_by_role("button", name="equal tokens").press(" ")
    expect(page.locator("#input")).to_have_attribute("data-equal", "")


def test_without_script_the_toggle_and_the_badges_are_links_and_a_fold(plain: Page) -> None:
    plain.goto("/example/two-calls-with-prose?equal=1")
    expect(plain.locator("#input")).to_have_attribute("data-equal", "1")
    plain.locator("#badges > summary").click()
    expect(plain.locator("#badge-segmentation dd")).to_be_visible()
    plain.get_by_role("button", name="equal tokens").click()
    expect(plain.locator("#input")).to_have_attribute("data-equal", "")


def test_the_badges_unfold_and_lead_to_their_token(page: Page) -> None:
    run(page, TEXT + "\ufffd more")
    page.locator("#badges > summary").click()
    assert violations(page, part="#input") == []
    expect(page.locator("#badges dl > div")).to_have_count(10)
    page.locator("#badge-replaced").get_by_role("button").click()
    expect(page.locator("#strip [aria-selected=true]")).to_contain_text("\ufffd")


def test_bytes_that_a_policy_never_sends_are_a_red_chip(page: Page) -> None:
    run(page, "The end: \ufffd", decode="vllm_fast", parser="passthrough")
    expect(page.locator(".case-bar")).to_contain_text("vllm_fast")
    expect(page.locator("#strip .chip-lost")).to_have_text(["EF", "BF", "BD"])
    expect(page.locator("#badge-decoded")).to_contain_text("3 bytes lost")


def step_time(page: Page, units: int) -> float:
    """Milliseconds of the median step in a window of an output of that many units, in the quickest of three rounds."""
    run(page, UNIT * units)
    page.locator("#strip [tabindex='0']").focus()
    rounds: list[list[float]] = []
    for _ in range(3):
        page.locator("#go-to").fill("1")  # steps that wait for a window take no time
        page.locator("#go-to").press("Enter")
        expect(page.locator("#step .card:not([hidden]) h2")).to_have_text("Step 1")
        rounds.append(page.evaluate(STEPS, 40))
    return min(steps[len(steps) // 2] for steps in rounds)


def without_report(route: Route) -> None:
    """The checks of a long output are not what is measured here, and would share its processor."""
    if "report=1" in route.request.url:
        route.fulfill(status=204)
    else:
        route.continue_()


def test_a_hundred_thousand_tokens_are_stepped_through_smoothly(page: Page) -> None:
    page.route("**/r/*", without_report)
    few, many = step_time(page, 145), step_time(page, 2_900)
    total = int(page.locator("#inspector").get_attribute("data-total") or 0)
    assert total > 100_000
    assert page.locator("#strip [data-token]").count() <= 400
    assert many < 3 * few, f"a step takes {few:.1f} ms in a short output and {many:.1f} ms in one of {total:,} tokens"
    for step in (70_000, 30_000):
        page.locator("#go-to").fill(str(step))
        page.locator("#go-to").press("Enter")
        expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text(f"Step {step:,}")
    page.locator("#strip [tabindex='0']").focus()
    page.locator("#strip [tabindex='0']").press("End")
    expect(page.locator("#go-to")).to_have_value(str(total))


def test_the_strip_is_readable_on_a_small_screen_and_in_the_dark(page: Page) -> None:
    page.goto("/example/two-calls-with-prose?equal=1#input")
    page.locator("#badges > summary").click()
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen, "#input")) == (screen, [])
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


ORDER = """pieces => pieces.map((one) => one.getBoundingClientRect())
  .filter((box, at, all) => at && box.top === all[at - 1].top && box.left < all[at - 1].left).length"""


@pytest.mark.parametrize(
    ("path", "pieces"), [("?chunk=char:2&step=8", "#strip .run"), ("/compare?a_chunk=char:3", "#both [data-bit]")]
)
def test_pieces_of_text_that_is_read_leftwards_stand_in_the_order_of_the_output(
    page: Page, path: str, pieces: str
) -> None:
    text = 'مرحبا بك. <tool_call>{"name": "بحث", "arguments": {"مدينة": "برن"}}</tool_call> שלום 12'
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}
    page.goto(f"/c/{page.request.post('/api/v1/cases', data=case).json()['id']}{path}")
    assert page.locator(pieces).count() > 20
    assert page.locator(pieces).evaluate_all(ORDER) == 0


@pytest.mark.parametrize("again", [False, True])
def test_tokens_of_a_run_flow_as_its_text_does(page: Page, again: bool) -> None:
    """Where a run has no address yet its tokens post a form, and a button is laid out as a block."""
    pieces = ["Sure. <tool_", "call>", '\n{"name": "f",', ' "arguments": {}}', "\n</tool_call>"]
    page.goto("/")
    page.locator("#text").fill("".join(f"data: {_chunk(piece)}\n\n" for piece in pieces))
    page.locator("#setup [name=run]").click()
    expect(page.locator("#strip [data-token]")).to_have_count(len(pieces))
    if again:
        page.reload()
        page.wait_for_selector("html[data-ready]")
    lines = page.locator("#strip [data-token]").evaluate_all(
        "all => all.map((one) => [...one.getClientRects()].filter(({width}) => width > 1).map(({left}) => left))"
    )
    edge = lines[0][0]
    assert [len(one) for one in lines] == [1, 1, 2, 1, 2]  # what has a newline inside goes on at the edge
    assert [one[-1] == edge for one in lines] == [True, False, True, False, True]
    page.locator("#strip [data-token]").nth(3).click()
    expect(page.locator("#go-to")).to_have_value("4")


def test_lines_end_between_words(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("elephants wander " * 30)
    page.locator("#setup [name=run]").click()
    page.locator("#strip [data-token]").first.wait_for()
    tops = page.locator("#strip .run").evaluate_all(
        """runs => runs.map((run) => [run.textContent, new Set([...run.getClientRects()]
             .filter(({width}) => width > 1).map(({top}) => top)).size])"""
    )
    words = [lines for text, lines in tops if "·" not in text]
    assert words
    assert set(words) == {1}


def _chunk(content: str) -> str:
    return json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": content}}]})
