"""Sharing: what the reader sees is what is shared, and the run stays where it is."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.test_access import violations
from tests.browser.test_live import EXAMPLE, edit

pytestmark = pytest.mark.browser


def create(page: Page) -> str:
    """Create a permalink in the dialog that is open, and return it."""
    page.get_by_role("button", name="Create a permalink").click()
    expect(page.get_by_label("Permalink")).to_be_focused()
    return page.get_by_label("Permalink").input_value()


def test_the_first_share_stays_on_the_run_with_the_link_in_the_dialog(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.locator("[data-share]").click()
    link = create(page)
    assert "/c/" in link
    assert link.endswith("?step=19")  # where its sharer stands
    expect(page.get_by_label("Delete key")).to_be_visible()
    assert violations(page, part="#share-dialog") == []
    page.keyboard.press("Escape")
    expect(page.locator("[data-share]")).to_be_focused()
    assert page.url.endswith(f"{EXAMPLE}?step=19")


def test_a_link_leads_to_pins_stops_and_the_panel_that_its_sharer_sees_now(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=9&pins=7&until=sent:args&dock=watch")
    page.locator("[data-share]").click()
    assert create(page).endswith("?step=9&dock=watch&until=sent:args&pins=7")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("m")
    page.locator("[data-share]").click()  # the link that is there already leads to the new place
    link = page.get_by_label("Permalink").input_value()
    assert page.locator("#share-dialog").get_by_role("link", name="Open it").get_attribute("href") == link
    page.goto(link)
    expect(page.locator("#go-to")).to_have_value("10")
    expect(page.locator("#until")).to_have_value("sent:args")
    expect(page.locator("#watch")).to_be_visible()
    there = unquote(page.url.split("?")[1]).split("&")
    assert {*there} == {"step=10", "dock=watch", "until=sent:args", "pins=7,10"}


def test_a_run_that_was_shared_says_so_on_top(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("An answer.")
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    page.locator("[data-share]").click()
    page.get_by_label("Title").fill("An answer, no more")
    create(page)
    expect(page.locator(".case-name")).to_have_text("An answer, no more")
    expect(page.locator(".case-note")).to_have_text("shared")
    assert page.locator("#share-dialog .shared").evaluate("box => parseFloat(getComputedStyle(box).paddingLeft)") >= 12


def test_a_run_that_was_shared_says_so_after_a_reload_and_undo_until_it_is_deleted(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("An answer, kept.")
    page.locator("#setup [name=run]").click()
    page.locator("[data-share]").click()
    link, key = create(page), page.get_by_label("Delete key").input_value()
    name = page.locator(".case-name").inner_text()
    run = page.url
    page.reload()
    expect(page.locator(".case-note")).to_have_text("shared")
    expect(page.locator(".case-name")).to_have_text(name)
    page.locator("[data-share]").click()
    assert (page.get_by_role("link", name="open its permalink").get_attribute("href") or "none") in link
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.locator("#live-text").fill("Another answer.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".case-note")).to_have_text("edited, not shared")
    page.locator("[data-undo]").click()
    expect(page.locator(".case-note")).to_have_text("shared")
    page.goto(link.replace("?", "/delete?"))
    page.get_by_role("textbox", name="Delete key").fill(key)
    page.get_by_role("button", name="Delete").click()
    page.goto(run)
    expect(page.locator(".case-note")).to_have_text("not shared")


def test_a_case_that_is_known_has_its_link_and_a_key_of_its_own(page: Page) -> None:
    page.goto(EXAMPLE)
    page.locator("[data-share]").click()
    first = create(page)
    key = page.get_by_label("Delete key").input_value()
    page.reload()
    page.locator("[data-share]").click()
    page.get_by_label("Title").press("Enter")
    expect(page.get_by_label("Permalink")).to_have_value(first)
    expect(page.get_by_label("Delete key")).not_to_have_value(key)


def test_what_is_shared_while_a_text_is_edited_is_the_edited_text(page: Page) -> None:
    page.goto(EXAMPLE)
    edit(page, " Shared words.")
    page.locator("[data-share]").click()
    expect(page.locator("#share-dialog")).to_be_visible()
    page.goto(create(page))
    assert page.locator("#text").input_value().endswith(" Shared words.")


def test_what_is_copied_while_a_text_is_edited_is_the_edited_text(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(EXAMPLE)
    edit(page, " Copied words.")
    page.get_by_role("button", name="Copy the edited output").click()
    expect(page.locator("#live-edit [data-done]")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith(" Copied words.")


def test_a_kept_edit_is_called_so_and_compares_with_the_run_before(page: Page) -> None:
    page.goto(EXAMPLE)
    edit(page, " Kept words.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#fork > summary")).to_contain_text("Edited text")
    expect(page.locator(".case-note")).to_have_text("edited, not shared")
    edit(page, " Again.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#source > summary")).to_contain_text("336 characters")
    page.locator("#fork > summary").click()
    expect(page.locator("#fork ins")).to_have_text("·Again.")
    page.get_by_role("button", name="Compare with the run before").click()
    expect(page.locator("#picker, main").first).to_contain_text("text 1")
    assert violations(page) == []


def test_without_script_a_kept_edit_is_called_so_too(plain: Page) -> None:
    plain.goto(EXAMPLE)
    plain.locator("#source > summary").click()
    plain.locator("#text").fill("Other words.")
    plain.get_by_role("button", name="Run again").click()
    expect(plain.locator("#fork > summary")).to_contain_text("Edited text")


def test_a_comparison_is_shared_where_its_cursor_stands(page: Page) -> None:
    page.goto(f"{EXAMPLE}/compare?a_chunk=token&b_chunk=token:5")
    page.keyboard.press("End")
    at = page.locator("#go-to").input_value()
    page.locator("[data-share]").click()
    assert violations(page) == []
    link = create(page)
    assert "/compare?a_chunk=token&b_chunk=token:5" in link
    page.goto(link)
    expect(page.locator("#go-to")).to_have_value(at)


def test_a_private_link_of_a_comparison_holds_every_side(page: Page) -> None:
    page.goto(f"{EXAMPLE}/compare?a_chunk=token&b_chunk=token:5")
    page.get_by_label("Another output").fill("Quite another text.")
    page.get_by_role("button", name="Put beside", exact=True).click()
    expect(page.locator("#compare")).to_have_class("compare sides-3 of-texts as-info")
    page.locator("[data-share]").click()
    page.get_by_role("button", name="Copy a private link").click()
    expect(page.locator("[data-private-result][data-link]")).to_contain_text("op")
    link = page.locator("[data-private-result]").get_attribute("data-link") or ""
    page.goto("/gallery")
    page.goto(link)
    expect(page.locator("#compare")).to_have_class("compare sides-3 of-texts as-info")
    expect(page.get_by_text("Quite").first).to_be_visible()


def test_a_comparison_is_exported_by_its_menu(page: Page) -> None:
    page.goto(f"{EXAMPLE}/compare?a_chunk=token&b_chunk=token:5")
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as report:
        page.get_by_role("button", name="Markdown report").click()
    assert report.value.suggested_filename.endswith("compared.md")
    with page.expect_download() as case:
        page.get_by_role("button", name="Case file of B").click()
    assert case.value.suggested_filename.endswith(".case.json")


def test_without_script_a_comparison_is_shared_by_a_page(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}/compare?a_chunk=token&b_chunk=token:5")
    plain.get_by_role("button", name="Share").click()
    plain.get_by_role("button", name="Create a permalink").click()
    assert "/compare?" in plain.url or "/compare?" in plain.get_by_label("Permalink").input_value()


def test_a_share_over_the_quota_is_refused_in_the_dialog(page: Page, watch: Watch) -> None:
    watch.allowed.append("429 (Too Many Requests)")
    page.goto(f"{EXAMPLE}?step=19")
    answer = '<form id="share-form"><div role="alert">Nothing was stored.</div></form>'
    page.route("**/cases", lambda route: route.fulfill(status=429, content_type="text/html", body=answer))
    page.locator("[data-share]").click()
    page.get_by_role("button", name="Create a permalink").click()
    expect(page.locator("#share-dialog").get_by_role("alert")).to_have_text("Nothing was stored.")
    expect(page.locator("#connection")).to_be_hidden()
