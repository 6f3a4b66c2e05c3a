"""The inspector at a path of a host: what scripts ask for stands below it too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import served
from webapp.app import create_app
from webapp.settings import Settings

pytestmark = pytest.mark.browser

TEXT = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@pytest.fixture
def below(tmp_path: Path) -> Iterator[str]:
    with served(create_app(Settings(data_dir=tmp_path, public_url="http://127.0.0.1/team"))) as address:
        yield f"{address}/team"


@pytest.fixture
def base(below: str) -> str:
    """Requests to anywhere else are faults."""
    return below


def test_a_run_is_stepped_and_sent_as_a_private_link(page: Page, below: str) -> None:
    page.goto(f"{below}/")
    page.locator("#text").fill(TEXT)
    page.locator("#text").press("Control+Enter")
    expect(page.locator("#headline")).to_contain_text("1 complete call")
    page.locator("#strip [tabindex='0']").focus()
    page.keyboard.press("End")
    expect(page.locator("#message")).to_contain_text('"a"')
    page.locator("[data-share]").click()
    page.get_by_role("button", name="Copy a private link").click()
    result = page.locator("[data-private-result][data-link]")
    expect(result).to_contain_text("op")
    link = result.get_attribute("data-link") or ""
    assert link.startswith(f"{below}/?")
    page.goto(f"{below}/gallery")
    page.goto(link)
    expect(page.locator("#headline")).to_contain_text("1 complete call")
