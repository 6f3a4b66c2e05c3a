"""From the first page to a real failure in one click, and the gallery filtered, with and without script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from webapp.page.library.gallery import SHOWN

pytestmark = pytest.mark.browser

FIRST = "A value that ends with < takes in its closing tag"


def tiles(page: Page) -> Locator:
    return page.locator(".gallery-page .tiles > li")


@pytest.mark.parametrize("script", [True, False])
def test_one_click_from_the_first_page_shows_what_is_wrong_and_what_ended_it(
    page: Page, plain: Page, script: bool
) -> None:
    tab = page if script else plain
    tab.goto("/")
    tab.get_by_role("link", name=FIRST).click()
    about = tab.get_by_role("region", name="About this failure")
    expect(tab.get_by_role("region", name="What came, and what is right")).to_contain_text("glm47_moe reads")
    expect(about).to_contain_text("Two < in a row are no beginning of the tag")
    expect(about).to_contain_text("Pull request 24147")
    expect(about.get_by_role("link", name="sgl-project/sglang #24147")).to_be_visible()
    expect(tab.locator("#headline")).to_have_attribute("data-severity", "error")
    tab.locator(".case-bar").get_by_role("link", name="Compare").click()
    expect(tab.locator(".compare-sentence")).to_contain_text("The calls differ.")
    expect(tab.locator("#step-a")).to_contain_text("recorded")


@pytest.mark.parametrize("script", [True, False])
def test_filters_narrow_the_gallery_and_are_an_address(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto("/gallery")
    total = int(tab.locator("[data-shown]").get_attribute("data-shown") or 0)
    for facet, choice in (("Engine", "SGLang"), ("Failure", "index or id")):
        tab.locator(".facets summary").filter(has_text=facet).click()
        tab.locator(".facets details[open]").get_by_role("link", name=choice).click()
        expect(tab.locator(".facets summary.chosen").filter(has_text=facet)).to_contain_text(choice)
    assert 0 < tiles(tab).count() < total
    assert {"engine=SGLang", "failure=index_or_id"} <= set(tab.url.partition("#")[0].partition("?")[2].split("&"))
    tab.get_by_role("link", name="Show all").click()
    expect(tab.locator("[data-shown]")).to_have_attribute("data-shown", str(total))
    tab.get_by_role("link", name=re.compile("^Show .* more")).click()
    expect(tiles(tab)).to_have_count(2 * SHOWN)
    tab.get_by_role("link", name=f"Show all {total}").click()
    expect(tiles(tab)).to_have_count(total)


def test_a_reported_failure_without_an_answer_is_not_red(page: Page) -> None:
    page.goto("/gallery?engine=oMLX")
    expect(tiles(page).first).to_contain_text("As reported")
    assert tiles(page).locator(".severity-error, .role-lost").count() == 0
    tiles(page).first.get_by_role("link").first.click()
    expect(page.get_by_role("region", name="About this failure")).to_contain_text("As reported")


@pytest.mark.parametrize("path", ["/", "/gallery", "/example/sglang-24147-value-ends-like-a-tag"])
def test_nothing_of_the_banner_is_cut_off(page: Page, path: str) -> None:
    page.goto(path)
    for width in (320, 390, 701, 720, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        end = page.locator(".banner").evaluate("it => it.getBoundingClientRect().bottom")
        boxes = page.locator(".banner .button:visible").evaluate_all("all => all.map(it => it.getBoundingClientRect())")
        assert min(box["left"] for box in boxes) >= 0
        assert max(box["right"] for box in boxes) <= width
        assert max(box["bottom"] for box in boxes) <= end


def test_a_filter_opens_inside_a_narrow_screen(browser: Browser, watch: Any) -> None:
    context = watch.context(browser, viewport={"width": 390, "height": 700}, java_script_enabled=False)
    page = context.new_page()
    page.goto("/gallery")
    for summary in page.locator(".facets summary").all():
        summary.click()
        box = page.locator(".facets details[open] .menu-body").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
        summary.click()
    context.close()
