"""What a run says first where all of it stands below another: on paper, and without script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

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
