"""One action of a page is the next one and looks like it, whatever else is offered beside it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_layout import OUTPUT

pytestmark = pytest.mark.browser

PRIMARY = """() => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "var(--accent)";
  const accent = getComputedStyle(probe).color;
  probe.remove();
  return [...document.querySelectorAll(".button")].filter(button => button.checkVisibility()
    && button.getBoundingClientRect().width && getComputedStyle(button).backgroundColor === accent)
    .map(button => button.textContent.trim().split(/\\s+/).slice(0, 3).join(" "));
}"""
TORN = OUTPUT[: OUTPUT.index(", quoted")]


def primaries(page: Page) -> list[str]:
    found: list[str] = page.evaluate(PRIMARY)
    return found


def run(page: Page, text: str = OUTPUT) -> None:
    page.goto("/")
    assert primaries(page) == ["Run Ctrl ⏎"]
    page.locator("#text").fill(text)
    page.locator("#setup [name=run]").click()
    expect(page.locator("#findings")).to_have_attribute("data-checked", "search")


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("unfinished-json", "Edit the output"),
        ("sglang-24147-value-ends-like-a-tag", "Compare"),
        ("vllm-22975-call-left-in-content", "Replay what leaked"),
    ],
)
def test_a_run_has_one_next_action(page: Page, name: str, action: str) -> None:
    page.goto(f"/example/{name}")
    expect(page.locator("#findings")).to_have_attribute("data-checked", "search")
    assert primaries(page) == [action]


def test_what_is_changed_and_not_run_comes_before_what_the_verdict_offers(page: Page) -> None:
    run(page)
    assert primaries(page) == ["Keep as a"]
    page.locator("#parser").select_option("passthrough")
    assert primaries(page) == ["Run again Ctrl"]
    page.locator("#parser").select_option("auto")
    assert primaries(page) == ["Keep as a"]


def test_while_the_text_is_edited_it_is_run_again_and_its_verdict_says_that_it_is_quick(page: Page) -> None:
    run(page)
    page.keyboard.press("e")
    page.keyboard.press("Control+End")
    page.keyboard.type(" x x x x x")
    badge = page.locator("#said .badge")
    expect(badge).to_have_text("quick verdict")
    assert primaries(page) == ["Run again Ctrl"]
    grounds, said = page.locator("#said .grounds").bounding_box(), badge.bounding_box()
    assert grounds is not None
    assert said is not None
    assert said["x"] + said["width"] <= grounds["x"] + grounds["width"]  # none of it is cut off


def test_a_torn_output_is_edited_where_it_ends(page: Page) -> None:
    run(page, TORN)
    assert primaries(page) == ["Edit the output"]
    page.get_by_role("button", name="Edit the output").click()
    expect(page.locator("#live-text")).to_be_focused()
    page.keyboard.type(OUTPUT.removeprefix(TORN))
    expect(page.locator("#live-text")).to_have_value(OUTPUT)
    expect(page.locator("#headline")).to_contain_text("checks hold")
    expect(page.get_by_role("button", name="Edit the output")).to_be_hidden()
    assert primaries(page) == ["Run again Ctrl"]
    page.keyboard.press("Escape")
    assert primaries(page) == ["Edit the output"]


def test_what_folds_is_shown_before_it_is_acted_on_unless_nothing_is_wrong(page: Page) -> None:
    run(page)
    page.locator("#verdict").evaluate("verdict => { verdict.dataset.folded = ''; }")
    assert primaries(page) == ["Keep as a"]
    page.locator("#verdict").evaluate("verdict => verdict.classList.remove('holds')")
    assert primaries(page) == ["Show why"]
