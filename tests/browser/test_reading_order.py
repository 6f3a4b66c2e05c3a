"""What a run says first where all of it stands below another: on paper, and without script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_layout import TABLET, WIDE, boxes

pytestmark = pytest.mark.browser

RUN = "/example/unfinished-json?step=3"
REST = ("input", "step", "result", "machine", "chunkings", "robustness", "truncation", "lag", "events", "wire")


def follows_the_verdict(page: Page) -> None:
    """The verdict, the findings, and everything else below them."""
    found = boxes(page, ("verdict", "findings", *REST))
    assert found["verdict"]["bottom"] <= found["findings"]["top"] + 1
    before = [part for part in REST if part in found and found[part]["top"] < found["findings"]["bottom"] - 1]
    assert (before, len(found)) == ([], 2 + len(REST))


@pytest.mark.parametrize("width", [390, 718, 1440])
def test_on_paper_findings_follow_the_verdict(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(RUN)
    page.emulate_media(media="print")
    follows_the_verdict(page)


@pytest.mark.parametrize(("width", "height"), [WIDE, (1100, 900), TABLET])
def test_without_script_findings_follow_the_verdict(plain: Page, width: int, height: int) -> None:
    plain.set_viewport_size({"width": width, "height": height})
    plain.goto(RUN)
    follows_the_verdict(plain)


def test_without_script_a_phone_has_findings_first_below_the_verdict(plain: Page) -> None:
    plain.set_viewport_size({"width": 390, "height": 844})
    plain.goto(RUN)
    found = boxes(plain, ("verdict", "findings", "chunkings", "events"))
    assert sorted(found, key=lambda part: found[part]["top"]) == ["verdict", "findings", "chunkings", "events"]


SCREENS = ("input", "step", "result", "verdict")
NEXT = "[data-jump=step][data-direction=next]"


@pytest.mark.parametrize("posted", [False, True])
def test_on_a_narrow_screen_without_script_what_is_pressed_leads_back_to_where_one_was(
    plain: Page, posted: bool
) -> None:
    plain.set_viewport_size({"width": 390, "height": 844})
    plain.goto("/" if posted else "/example/two-calls-with-prose?step=1")
    if posted:
        plain.locator("#text").fill("Hello there, you.")
        plain.locator("#setup [name=run]:visible").first.click()
    for screen, pressed in (
        ("input", NEXT),
        ("step", NEXT),
        ("result", "[data-tab=final]"),
        ("result", NEXT),
        ("verdict", NEXT),
    ):
        plain.locator(f".screens.unscripted [data-screen={screen}]").click()
        plain.locator(f"{pressed}:visible").click()
        for one in SCREENS:
            expect(plain.locator(f"#{one}")).to_be_visible(visible=one == screen)
        expect(plain.locator(f".screens.unscripted [data-screen={screen}]")).to_have_css("border-bottom-width", "2px")
