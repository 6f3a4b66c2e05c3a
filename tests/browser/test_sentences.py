"""Sentences are read whole on every width: none is cut by an ellipsis where a finger cannot get at the rest."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

COMPARED = "/example/two-calls-with-prose/compare?a_chunk=token&b_chunk=token&b_parser=passthrough"
PATHS = (
    "/example/two-calls-with-prose?step=20",
    "/example/unfinished-json?step=3",
    "/example/sglang-24147-value-ends-like-a-tag",
    COMPARED,
    f"{COMPARED}&c_text=example:unknown-tool&d_chunk=char&matrix=near",
    "/gallery",
    "/library",
)
# What is cut and opens: a chip says it in its menu, a folded verdict unfolds, a name is the heading of the page, and
# what the head of a panel counts stands in the panel.
OPENS = ".side-words, [data-folded] .grounds, [data-cut] .grounds, .case-name, select, .panel .pane-note"
CUT = """opens => [...document.querySelectorAll("body *")].filter(one => {
  const { textOverflow, webkitLineClamp: lines } = getComputedStyle(one);
  if (textOverflow !== "ellipsis" && (!lines || lines === "none") || one.closest(opens)) return false;
  if (!one.checkVisibility({ visibilityProperty: true })) return false;
  return one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 2;
}).map(one => one.textContent.replace(/\\s+/g, " ").trim()).filter(words => words.split(" ").length > 3)"""


@pytest.mark.parametrize("path", PATHS)
def test_no_sentence_is_cut(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("html[data-ready]")).to_be_attached()
    for width, height in ((1440, 900), (1100, 800), (768, 1024), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for tab in ("", "#step", "#result", "#dock", "#at-steps", "#at-places"):
            page.evaluate("tab => { location.hash = tab; }", tab)
            assert (width, tab, page.evaluate(CUT, OPENS)) == (width, tab, [])


def test_a_chip_of_a_side_says_it_whole_when_it_is_open(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{COMPARED}&c_text=example:unknown-tool")
    page.locator("#side-c > summary").click()
    expect(page.locator("#side-c .side-said")).to_be_visible()
    expect(page.locator("#side-c .side-said")).to_have_text(
        "example, A tool nobody declared: llama, token by token, markers by text"
    )


def test_the_verdict_of_a_listed_run_is_read_whole(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/example/unfinished-json?step=3")
    words = " ".join(page.locator("#headline").inner_text().split())
    page.goto("/")
    listed = page.locator("section [data-history] .history-verdict")
    expect(listed).to_have_text(words)
    assert listed.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
