"""A pasted log of a server without its raw output: played back, read as clients do, and laid beside a parser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import SCREENS, violations
from tests.corpus import case_data

pytestmark = pytest.mark.browser


def case(name: str) -> dict[str, Any]:
    return case_data(f"recorded/{name}")


def log(name: str) -> str:
    events = [f"data: {json.dumps(payload)}\n\n" for payload in case(name)["input"]["stream"]]
    return "".join([*events, "data: [DONE]\n\n"])


def shared(page: Page, base: str, name: str) -> str:
    answer = page.request.post(f"{base}/api/v1/cases", data=case(name))
    return str(f"/c/{answer.json()['id']}")


def clients(page: Page) -> Any:
    return page.get_by_role("region", name="What clients make of it")


@pytest.mark.parametrize("script", [True, False])
def test_a_log_is_played_and_shows_which_client_breaks(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto("/")
    tab.locator("#text").fill(log("no-index"))
    tab.locator("[name=run]").click()
    expect(tab.locator(".case-note")).to_have_text("not shared")
    expect(tab.locator("#findings")).to_contain_text("A part of a call has no index")
    if script:
        show_panel(tab, "wire")
    tab.get_by_role("button", name="Clients", exact=True).click()
    expect(clients(tab)).to_contain_text("breaks, gets 0 calls")
    expect(clients(tab)).to_contain_text("gets 1 call, as the message has")
    clients(tab).get_by_role("button", name="step 2").first.click()
    expect(tab.locator("#go-to")).to_have_value("2")


@pytest.mark.parametrize("script", [True, False])
def test_a_parser_stands_beside_the_servers_stream(page: Page, plain: Page, base: str, script: bool) -> None:
    tab = page if script else plain
    tab.goto(f"{shared(page, base, 'beside-the-output-departs')}?dock=wire")
    tab.get_by_role("link", name="Compare with the server's stream").click()
    expect(tab.locator(".compare-sentence")).to_contain_text("The calls differ.")
    expect(tab.locator("#step-b")).to_contain_text("recorded, as recorded")
    expect(tab.locator("#b_parser")).to_have_value("recorded")
    tab.get_by_role("link", name="go there").click()
    expect(tab.locator("#go-to")).not_to_have_value("0")


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_in_what_clients_make_of_it(browser: Browser, watch: Any, base: str, screen: str) -> None:
    context = watch.context(browser, **SCREENS[screen])
    page = context.new_page()
    address = shared(page, base, "no-index")
    for path in (f"{address}?dock=wire&wire=clients", f"{address}?step=2&dock=wire&wire=chunks"):
        page.goto(path)
        assert violations(page, screen) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    context.close()
