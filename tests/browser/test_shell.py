"""A run is an application: its panes, dock and lines answer."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"
PANELS = ["findings", "chunkings", "events", "robustness", "truncation", "lag", "wire"]
WIDE: ViewportSize = {"width": 1440, "height": 900}


def test_a_panel_of_the_dock_fits_and_stays_while_stepping(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=20")
    for step, name in enumerate(PANELS, 21):
        show_panel(page, name)
        page.get_by_role("link", name="Next step").click()
        expect(page).to_have_url(f"{page.url.split('?')[0]}?step={step}&dock={name}")
        expect(page.locator(f"#{name}")).to_be_visible()
        assert [other for other in PANELS if page.locator(f"#{other}").is_visible()] == [name]
        box = page.locator(f"#{name}").bounding_box()
        assert box
        assert box["y"] + box["height"] <= WIDE["height"]
        assert (name, violations(page, part=f"#{name}")) == (name, [])
    page.reload()
    expect(page.locator(f"#{PANELS[-1]}")).to_be_visible()


def test_without_script_every_panel_stands_under_its_name(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=20")
    assert plain.locator("#dock").is_hidden()
    tops = []
    for name in PANELS:
        expect(plain.locator(f"#{name} h2").first).to_be_visible()
        box = plain.locator(f"#{name}").bounding_box()
        assert box
        tops.append((box["y"], box["y"] + box["height"]))
    assert all(low >= high - 1 for (_, high), (low, _) in zip(sorted(tops), sorted(tops)[1:], strict=False))


def test_a_line_between_panes_is_moved_and_kept(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, viewport=WIDE)
    page = context.new_page()
    page.goto(f"{EXAMPLE}?step=20")
    line, pane = page.get_by_role("separator", name="Width of the output"), page.locator("#input")
    before = pane.bounding_box()
    line.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(line).to_have_attribute("aria-valuenow", "43")
    after = pane.bounding_box()
    assert before
    assert after
    assert after["width"] == pytest.approx(before["width"] + 0.1 * WIDE["width"], abs=3)
    expect(page.locator("#go-to")).to_have_value("20")  # the arrows were for the line
    page.reload()
    kept = pane.bounding_box()
    assert kept
    assert kept["width"] == pytest.approx(after["width"], abs=2)
    height = page.locator("#dock").bounding_box()
    assert height
    page.mouse.move(700, height["y"] + 1)
    page.mouse.down()
    page.mouse.move(700, height["y"] - 60)
    page.mouse.up()
    moved = page.locator("#dock").bounding_box()
    assert moved
    assert moved["y"] == pytest.approx(height["y"] - 60, abs=6)
    context.close()


PANES = ("input", "step", "result", "machine", "dock")
LEAST_SHARE = 15  # percent of the width that a pane keeps


def panes_in_line(page: Page) -> list[str]:
    """The panes, where each ends where the next begins, both rows part at one line, and none is less than the least."""
    page.evaluate("new Promise(requestAnimationFrame)")
    box = page.evaluate(
        "names => Object.fromEntries(names.map(name => [name, document.getElementById(name).getBoundingClientRect()]))",
        PANES,
    )
    right = page.evaluate("innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == right
    ends = [(box["input"]["right"], box["step"]["left"]), (box["step"]["right"], box["result"]["left"]),
            (box["machine"]["right"], box["dock"]["left"]), (box["input"]["right"], box["machine"]["right"]),
            (box["result"]["right"], right)]  # fmt: skip
    assert [(one, next_one) for one, next_one in ends if abs(one - next_one) > 2] == []
    return [name for name in PANES if box[name]["width"] < LEAST_SHARE / 100 * right - 4]


def test_lines_between_panes_go_no_further_than_leaves_every_pane_its_least_width(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=20")
    output = page.get_by_role("separator", name="Width of the output")
    step = page.get_by_role("separator", name="Width of the step")
    for line, keys, now, most in [
        (output, ["ArrowRight"] * 5, "43", "70"), (output, ["End"], "70", "70"), (step, ["ArrowRight"], "15", "15"),
        (output, ["Enter", "Enter"], "70", "70"), (output, ["Home", *["ArrowRight"] * 9], "33", "70"),
        (step, ["End"], "52", "52"), (output, ["ArrowRight"], "35", "70"),
    ]:  # fmt: skip
        line.focus()
        for key in keys:
            page.keyboard.press(key)
        assert panes_in_line(page) == []
        expect(line).to_have_attribute("aria-valuenow", now)
        expect(line).to_have_attribute("aria-valuemax", most)


def test_remembered_lines_between_panes_leave_every_pane_its_least_width(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=20")
    page.evaluate("() => { localStorage['share-input'] = '70'; localStorage['share-step'] = '70'; }")
    page.reload()
    for width in (1440, 1101, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert panes_in_line(page) == []


def lines(page: Page) -> list[int]:
    """Where the lines say they are, as they were found."""
    found = page.locator("[data-splitter]").evaluate_all("all => all.map(one => Number(one.ariaValueNow))")
    return [int(one) for one in found]


def test_a_dock_that_was_high_in_a_high_window_leaves_the_panes_of_a_low_one_their_room(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1100})
    page.goto(f"{EXAMPLE}?step=1")
    page.evaluate("() => { localStorage['share-dock'] = '70'; }")
    page.reload()
    for height in (1100, 760, 1100):
        page.set_viewport_size({"width": 1101, "height": height})
        line = page.locator("[data-splitter=dock]")
        page.wait_for_function(
            "line => Number(line.ariaValueNow) <= Number(line.ariaValueMax)", arg=line.element_handle()
        )
        pane = page.locator("#input").bounding_box()
        assert pane is not None
        assert pane["height"] >= 13 * 16 - 1
    assert lines(page)[2] > 50


def test_lines_say_where_they_are_before_somebody_comes_to_them(page: Page) -> None:
    page.set_viewport_size(WIDE)
    page.goto(f"{EXAMPLE}?step=1")
    page.wait_for_function("() => document.querySelector('[data-splitter=input]').ariaValueNow === '33'")
    input_at, step_at, dock_at = lines(page)
    assert (input_at, step_at) == (33, 32)
    assert 15 < dock_at < 70


def test_what_was_folded_gets_the_size_back_that_was_set_before(page: Page) -> None:
    page.set_viewport_size(WIDE)
    page.goto(f"{EXAMPLE}?step=1")
    line = page.locator("[data-splitter=step]")
    line.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(line).to_have_attribute("aria-valuenow", "36")
    page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-valuenow", "15")
    page.reload()
    line.focus()
    page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-valuenow", "36")


@pytest.mark.parametrize("panel", ["wire", "wire&wire=clients"])
def test_a_folded_panel_leaves_the_page_as_high_as_the_window(page: Page, panel: str) -> None:
    page.set_viewport_size(WIDE)
    page.goto(f"{EXAMPLE}?dock={panel}")
    line = page.locator("[data-splitter=dock]")
    before = int(line.get_attribute("aria-valuenow") or "0")
    line.press("Enter")
    page.wait_for_function("before => document.querySelector('[data-splitter=dock]').ariaValueNow < before", arg=before)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_an_arrow_of_the_diagram_leads_to_its_steps(page: Page) -> None:
    page.goto("/example/marker-split-across-tokens?step=1")
    edge = page.locator(".when-diagram .edge:has(text)[data-edge='CONTENT TOOL_CALL']")
    expect(edge.locator("text")).to_have_text("<tool_call> × 1")
    edge.locator("text").click()
    expect(page.locator("#go-to")).to_have_value("11")
    expect(page.locator(".when-diagram .state.current text")).to_have_text("TOOL_CALL")
    expect(edge).to_have_class("edge last")
    expect(page.locator(".when-diagram .edge.never")).to_have_count(0)
    page.get_by_role("link", name="All rows").click()
    expect(page.locator(".when-all .edge.never text").first).to_be_visible()
    page.get_by_role("link", name="Table", exact=True).click()
    page.locator("#machine [data-rule=r7] button").click()
    expect(page.locator("#go-to")).not_to_have_value("11")


def test_the_diagram_is_as_large_as_somebody_wants(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, viewport=WIDE)
    page = context.new_page()
    page.goto("/example/marker-split-across-tokens?step=1")
    drawing = page.locator(".when-diagram svg")
    fitting = drawing.bounding_box()
    page.get_by_role("button", name="Larger").click()
    page.get_by_role("button", name="Larger").click()
    larger = drawing.bounding_box()
    assert fitting
    assert larger
    assert larger["width"] > 1.4 * fitting["width"]
    page.get_by_role("button", name="Fit").click()
    again = drawing.bounding_box()
    assert again
    assert again["width"] == pytest.approx(fitting["width"], abs=1)
    context.close()


def test_after_a_run_and_after_going_to_a_step_keys_are_for_the_cursor(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    page.locator("#text").fill('Hi. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>')
    page.locator("#text").press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("End of output")
    page.keyboard.press("g")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.locator("#go-to")).to_have_value("3")
    expect(page.locator("#strip [data-token]:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value("4")


def test_the_output_is_edited_over_the_run(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, viewport=WIDE)
    page = context.new_page()
    page.goto(EXAMPLE)
    before = page.locator("#verdict").bounding_box()
    page.locator("#source > summary").click()
    expect(page.locator("#text")).to_be_visible()
    assert page.locator("#verdict").bounding_box() == before
    page.locator("#text").fill("Nothing but words.")
    page.locator("#setup [name=run]").click()
    expect(page.locator("#result")).to_contain_text("Nothing·but·words.")
    expect(page.locator("#source > summary")).to_contain_text("18 characters")
    context.close()


def test_the_dock_shows_several_kinds_of_chunkings_without_scrolling(page: Page) -> None:
    page.goto("/example/two-calls-with-prose")
    expect(page.locator("#findings")).to_have_attribute("data-checked", "search")
    show_panel(page, "chunkings")
    pane = page.locator("#chunkings .pane-body").bounding_box()
    assert pane is not None
    rows = [row.bounding_box() for row in page.locator("#chunkings .matrix tbody tr").all()]
    assert sum(row is not None and row["y"] + row["height"] <= pane["y"] + pane["height"] + 1 for row in rows) >= 4
    button = page.locator("#chunkings .heat-go").bounding_box()
    assert button is not None
    assert button["y"] + button["height"] <= pane["y"] + pane["height"] + 1


def test_characters_that_are_a_token_each_fill_the_pane_of_the_output(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill(f'<tool_call>{{"name": "f", "arguments": {{"x": "{"a" * 3000}"}}}}</tool_call>')
    page.locator("#setup [name=run]").click()
    strip, body = page.locator("#strip"), page.locator("#input > .pane-body")
    expect(strip).to_be_visible()
    room, taken = body.bounding_box(), strip.bounding_box()
    assert room is not None
    assert taken is not None
    assert taken["height"] >= 0.6 * room["height"]
