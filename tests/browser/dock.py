"""The dock of a run, as a person uses it: one of its panels is shown at a time."""

from __future__ import annotations

from playwright.sync_api import Page


def show_panel(page: Page, name: str) -> None:
    """Press the tab of a panel of the dock."""
    page.locator(f"#dock [data-tab={name}]").click()
