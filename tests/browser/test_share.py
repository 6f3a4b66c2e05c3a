"""Sharing: what the reader sees is what is shared, and the run stays where it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

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
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("[data-share]")).to_be_focused()
    assert page.url.endswith(f"{EXAMPLE}?step=19")


def test_a_case_that_is_known_has_its_link_without_a_key(page: Page) -> None:
    page.goto(EXAMPLE)
    page.locator("[data-share]").click()
    first = create(page)
    page.reload()
    page.locator("[data-share]").click()
    page.get_by_label("Title").press("Enter")
    expect(page.get_by_label("Permalink")).to_have_value(first)
    expect(page.get_by_label("Delete key")).to_have_count(0)


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
