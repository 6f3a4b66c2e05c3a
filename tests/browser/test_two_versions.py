"""Two versions of one parser beside each other: chosen, the first step where they part, the state of both there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import served
from tests.browser.test_access import violations
from tests.webapp.engines.entering import own
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.settings import Settings, get_settings

pytestmark = pytest.mark.browser

TEXT = "Hello <b>you</b>,\nit is sunny <i>and warm</i>."


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two versions of a parser entered."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("versions"))
    for name, version in (("base", "Old"), ("head", "Open")):
        write_entry(settings, name, own(version, **{"class": f"paired_parsers:{version}"}))
    app = create_app(settings)
    for name in ("base", "head"):
        entered(settings).card(name)
    with served(app) as address:
        yield address
    use_engines(get_settings())


def compared(page: Page, text: str = TEXT) -> None:
    """A run of the one, with the other put beside it."""
    page.goto("/")
    page.locator("#parser").select_option("base:Old")
    page.locator("#text").fill(text)
    page.locator("#setup [name=run]").click()
    page.get_by_role("button", name="Compare").or_(page.get_by_role("link", name="Compare")).first.click()
    page.locator("#side-b > summary").click()
    page.locator("#b_parser").select_option("head:Open")
    page.locator("#b_chunk").fill("token")
    page.locator("#side-b").get_by_role("button", name="Compare").click()
    expect(page.locator("#messages")).to_contain_text("head:Open")


def test_versions_that_agree_are_said_to(page: Page) -> None:
    compared(page)
    expect(page.locator(".compare-sentence")).to_contain_text("The same message on both sides.")


def test_the_first_step_where_they_part_is_reached_with_the_state_of_both(page: Page) -> None:
    compared(page, TEXT + " And <b")
    said = page.locator(".first-sends")
    expect(said).to_contain_text("First step where they part: step")
    said.get_by_role("link").or_(said.get_by_role("button")).click()
    for side in "ab":
        expect(page.locator(f"#step-{side} .side-step:not([hidden]) h2")).to_contain_text("End of output")
        expect(page.locator(f"#step-{side}")).to_contain_text("State")
    expect(page.locator("#step-b .side-step:not([hidden])")).to_contain_text("?")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#step-a .side-step:not([hidden])")).to_contain_text("unchanged")
    assert violations(page) == []


def test_it_works_without_script(plain: Page) -> None:
    compared(plain, TEXT + " And <b")
    expect(plain.locator(".first-sends")).to_contain_text("First step where they part")


def found(page: Page, *, by_hand: bool = False) -> None:
    """Where they differ, searched for from the comparison; `by_hand`: without scripts a person looks again."""
    compared(page, TEXT + " And <b")
    page.get_by_role("button", name="Find where they differ").click()
    again = page.get_by_role("button", name="Look again")
    for _ in range(200 if by_hand else 0):
        if page.locator("#differ-small").count() or not again.count():
            break
        again.click()
    expect(page.locator("#differ-small")).to_contain_text("The smallest output found", timeout=60_000)


def test_an_output_on_which_they_differ_is_found_and_opened(page: Page) -> None:
    found(page)
    assert violations(page) == []
    page.get_by_role("button", name="Compare both on it").click()
    expect(page.locator(".compare-sentence")).not_to_contain_text("The same message on both sides.")


def test_it_is_found_without_script(plain: Page) -> None:
    found(plain, by_hand=True)
    expect(plain.get_by_role("button", name="Compare both on it")).to_be_visible()
