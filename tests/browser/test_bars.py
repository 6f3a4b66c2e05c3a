"""The bars above the panes at every width of a wide screen: no control or word lies on another, none ends outside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_history import SECOND, run
from tests.browser.test_layout import cut_sideways, overlapping, sideways
from tests.browser.test_recorded import DELIVERED, chunk

pytestmark = pytest.mark.browser

WIDTHS = (1101, 1150, 1280, 1366, 1440)
MARKUP = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
STREAM = [
    chunk({"role": "assistant", "content": ""}), chunk({"content": "Let me look."}),
    chunk({"tool_calls": [DELIVERED]}), chunk({"content": MARKUP}), chunk({}, "tool_calls"),
]  # fmt: skip
TIMED = "\n\n".join(
    f"{1730000000 + 0.08 * at * at:.6f} data: {data}" for at, data in enumerate([*STREAM, "[DONE]"])
).replace('"model": "m"', '"model": "Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8"')


def boxes(page: Page, selector: str) -> dict[str, Any]:
    """The boxes of what is shown, by their words, each of which stands for itself."""
    script = """selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility())
      .map((one, at) => [`${at} ${one.textContent.trim() || one.id}`, one.getBoundingClientRect().toJSON()])
      .filter(([, box]) => box.width > 1)"""
    return dict(page.evaluate(script, selector))


BANNER = ".banner :is(.product, a, button, summary, .case-name, .case-note):not(.menu-body *)"
STEPS = "#step-bar :is(a, button, .group-name, input, select, p, .go-to > span):not(.visually-hidden)"


def apart(page: Page, where: str) -> None:
    assert (where, overlapping(boxes(page, BANNER))) == (where, [])
    assert (where, overlapping(boxes(page, STEPS))) == (where, [])
    assert (where, sideways(page), cut_sideways(page)) == (where, 0, [])


@pytest.mark.parametrize("condition", ["", "state:TOOL_CALL sent:args", "state:NOWHERE"])
def test_the_bars_of_a_run_stand_apart(page: Page, condition: str) -> None:
    run(page, SECOND + "Hi")
    run(page, SECOND)
    expect(page.locator("[data-undo]")).to_be_visible()
    expect(page.locator(".history-menu > summary")).to_be_visible()
    if condition:
        page.locator("#until").fill(condition)
        page.locator("#until").press("Enter")
        expect(page.locator("#stop-note")).not_to_be_empty()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        apart(page, f"{width} {condition}")
        field, note = (boxes(page, name) for name in ("#until", "#stop-note"))
        assert [box["width"] >= 220 for box in field.values()] == [True]
        if condition:
            assert all(box["width"] >= 60 for box in note.values())


def inside(page: Page, selector: str) -> None:
    """What is selected is seen, and all of it."""
    box, width = page.locator(selector).bounding_box(), page.viewport_size
    assert box is not None, selector
    assert width is not None
    assert box["x"] >= 0, selector
    assert box["x"] + box["width"] <= width["width"], selector


def test_on_a_narrow_screen_a_new_run_commands_and_stops_are_at_hand(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for text in ("Hi.", 'Hi. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'):
        page.goto("/")
        page.locator("#text").fill(text)
        page.locator("#text").press("Control+Enter")
        page.wait_for_selector("#work")
    rows = {box["y"] for box in page.locator(".banner nav a").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().toJSON())")}  # fmt: skip
    assert len(rows) == 1
    for selector in (".banner .product", ".banner .new-run", ".banner [data-palette]", ".banner [data-dialog=help]"):
        inside(page, selector)
    page.get_by_role("button", name="Commands").click()
    page.locator("#palette-words").fill("stop when")
    page.keyboard.press("Enter")
    expect(page.locator("#until")).to_be_focused()
    page.locator("#until").fill("held > 2")
    expect(page.locator("[data-stop-place]")).to_be_visible()
    for selector in ("#until", "#stop-note", "#stops .jump"):
        inside(page, selector)
    page.locator("#until").fill("state:NOWHERE")
    expect(page.locator(".stop-problem")).to_be_visible()
    inside(page, "#stop-note")
    note, field = [page.locator(selector).bounding_box() for selector in ("#stop-note", "#until")]
    assert note is not None
    assert field is not None
    assert note["y"] + note["height"] <= field["y"]
    page.get_by_role("link", name="New", exact=True).click()
    expect(page.locator("#text")).to_be_visible()


def stopped(page: Page) -> None:
    """A recording with times that was run to a stop."""
    page.goto("/")
    page.locator("#text").fill(TIMED)
    page.locator("#setup [name=run]").click()
    expect(page.locator("[data-speed]")).to_be_visible()
    page.locator("#until").fill("gap > 300ms")
    page.locator("#until").press("Enter")
    expect(page.locator("[data-stop-place]")).not_to_be_empty()


@pytest.mark.parametrize("width", [768, 1100, 1150])
def test_the_speed_is_said_whole_and_the_flag_of_a_condition_stands_at_its_field(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    stopped(page)
    speed = page.locator("[data-speed]")
    taken = "one => one.getBoundingClientRect().width"
    now = speed.evaluate(taken)
    speed.evaluate("one => one.style.setProperty('inline-size', 'auto')")
    assert speed.evaluate(taken) == pytest.approx(now, abs=1)
    flag, field = page.locator("label[for=until] .icon").bounding_box(), page.locator("#until").bounding_box()
    assert flag is not None
    assert field is not None
    assert field["y"] <= flag["y"] <= flag["y"] + flag["height"] <= field["y"] + field["height"]
    assert 0 <= field["x"] - flag["x"] - flag["width"] <= 16


def test_after_a_stop_in_a_recording_keys_move_the_cursor(page: Page) -> None:
    stopped(page)
    focused, place, play = page.locator("#input [data-stop]:focus"), page.locator("#go-to"), page.locator("[data-play]")
    expect(focused).to_have_attribute("aria-label", "Chunk 5")
    for key, wanted in (("End", "end"), ("Home", "1"), ("ArrowRight", "2"), ("End", "end")):
        page.keyboard.press(key)
        expect(place).to_have_value(wanted)
        page.wait_for_function("() => document.activeElement.matches('[data-stop]')")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(play.first).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Space")
    expect(play.first).to_have_attribute("aria-pressed", "false")


def test_a_timed_recording_fits_beside_the_name_of_its_model(page: Page) -> None:
    stopped(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        apart(page, str(width))
        again = page.get_by_role("button", name="Run again").bounding_box()
        assert again
        assert again["x"] + again["width"] <= width


def test_without_script_the_strip_of_a_comparison_is_as_tall_as_it_needs(plain: Page) -> None:
    plain.goto("/example/two-calls-with-prose/compare?a_chunk=token&b_text=example:unknown-tool&at=21")
    hidden = plain.locator(".both-strip").evaluate_all("all => all.map(one => one.scrollHeight - one.clientHeight)")
    assert hidden
    assert max(hidden) <= 0


def test_labels_stand_apart_from_framed_choices(browser: Browser, watch: Any) -> None:
    page = watch.context(browser, forced_colors="active", viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/")
    script = """() => [...document.querySelectorAll("#setup > .setup > .field:not(.menu)")].map(field => {
      const [label, choice] = ["label", "select"].map(name => field.querySelector(name).getBoundingClientRect());
      return choice.left - label.right;
    })"""
    assert min(page.evaluate(script)) >= 4


def test_beside_a_long_output_the_names_of_parser_and_tokenizer_are_whole(page: Page) -> None:
    page.set_viewport_size({"width": 1600, "height": 900})
    page.goto("/")
    page.locator("#text").fill(f"Hi. {MARKUP}\n" * 70)
    page.locator("#text").press("Control+Enter")
    expect(page.locator(".case-note")).to_have_text("not shared")
    chips = "all => all.map(one => Math.round(one.getBoundingClientRect().width))"
    whole = page.locator("#setup > .setup > .field > select").evaluate_all(chips)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.locator("#setup > .setup > .field > select").evaluate_all(chips) == whole
    box = page.locator("#setup > .setup").bounding_box()
    assert box is not None
    assert box["height"] < 48


def test_a_broken_format_offers_nothing_to_open_first(page: Page) -> None:
    page.goto("/formats/edit?from=qwen")
    button = page.get_by_role("button", name="Open in the inspector")
    background = "one => getComputedStyle(one).backgroundColor"
    before = button.evaluate(background)
    page.locator("#format-text").fill("{broken")
    expect(page.locator("#editor")).to_have_attribute("data-broken", "")
    assert button.evaluate(background) != before


@pytest.mark.parametrize("condition", ["", "state:TOOL_CALL sent:args"])
def test_what_a_step_does_stands_whole_beside_the_controls_where_there_is_room(page: Page, condition: str) -> None:
    run(page, SECOND)
    if condition:
        page.locator("#until").fill(condition)
        page.locator("#until").press("Enter")
        expect(page.locator("[data-stop-place]")).not_to_be_empty()
    for width in (1366, 1440, 1700):
        page.set_viewport_size({"width": width, "height": 900})
        play, said = (page.locator(name).bounding_box() for name in ("#step-bar [data-play]", "#step-summary"))
        assert play
        assert said
        assert said["x"] >= play["x"] + play["width"]
        assert said["y"] < play["y"] + play["height"]
        assert page.locator("#step-summary").evaluate("said => said.scrollHeight - said.clientHeight") <= 0
    page.set_viewport_size({"width": 1280, "height": 900})
    first, said = (page.locator(name).bounding_box() for name in ("#step-bar .jump >> nth=0", "#step-summary"))
    assert first
    assert said
    assert abs(first["x"] - said["x"]) <= 1


@pytest.mark.parametrize("width", [1366, 1440])
def test_while_something_is_changed_and_not_run_the_other_chips_stay_readable(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    run(page, SECOND)
    page.locator("#parser").select_option("glm45_moe")
    expect(page.locator("#stale")).to_be_visible()
    cut = """() => [...document.querySelectorAll("#setup > .setup > .field > select:not(#parser)")].filter(select => {
      const pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(select);
      pen.font = style.font;
      const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return room < pen.measureText(select.selectedOptions[0].textContent.trim()).width - 1;
    }).map(select => select.id)"""
    assert page.evaluate(cut) == []
    words = page.locator("#stale").evaluate("one => one.scrollWidth - one.clientWidth")
    assert (words, sideways(page)) == (0, 0)


@pytest.mark.parametrize(("cuts", "words"), [([], "in one delta"), ([3], "cut at 3"), ([3, 9], "cut at 3 and 9")])
def test_the_chip_of_the_chunking_says_what_it_is(page: Page, cuts: list[int], words: str) -> None:
    data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi. How are you?"}}
    page.goto("/")
    page.locator("#text").fill(json.dumps(data | {"replay": [{"by": "cuts", "cuts": cuts}]}))
    page.locator("#setup [name=run]").click()
    expect(page.locator("#verdict")).to_be_visible()
    assert page.locator("#chunking").evaluate("select => select.selectedOptions[0].textContent.trim()") == words
    expect(page.locator("#stale")).to_be_hidden()
