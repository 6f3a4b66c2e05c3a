"""What a permalink is elsewhere: in a frame, beside its past, without its words; and forms that come from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from parsers.cases.io import load_case
from parsers.cases.outcome_words import WrittenOutcome, dumped
from parsers.cases.stored_outcome import Outcome, outcome_digest
from parsers.vocabulary.types import Message
from tests.browser.conftest import Watch, served
from tests.browser.test_access import on_each_screen, violations
from tests.browser.test_share import create
from tests.webapp.store.stale_cases import make_stale
from webapp.app import create_app
from webapp.runs.exports import exported
from webapp.runs.runner import Runner
from webapp.services import EXTENSION
from webapp.settings import Settings

pytestmark = pytest.mark.browser

TEXT = 'Dear Customer.\n<tool_call>\n{"name": "lookup", "arguments": {"city": "Bern"}}\n</tool_call>'


@dataclass
class Framed:
    """A server whose cases may be framed by a tracker, which shows `html`; with one case."""

    app: Flask
    address: str
    path: str
    tracker: str
    html: list[str]

    def elsewhere(self, page: Page, watch: Watch, html: str) -> None:
        """Show a page of the tracker."""
        watch.allowed += [f"foreign request: {address}" for address in (self.tracker, self.address)]
        self.html[:] = [f"<!doctype html><title>Tracker</title>{html}"]
        page.goto(self.tracker)


@pytest.fixture
def framed(tmp_path: Path) -> Iterator[Framed]:
    site, html = Flask("tracker"), [""]
    site.add_url_rule("/", "home", lambda: html[0])
    site.add_url_rule("/favicon.ico", "icon", lambda: ("", 204))
    with served(site) as tracker:
        app = create_app(Settings(data_dir=tmp_path, embed_origins=(tracker,)))
        case = {"schema": 1, "title": "A call", "parser": {"name": "qwen"}, "input": {"text": TEXT}}
        saved = app.test_client().post("/api/v1/cases", json=case).get_json()
        with served(app) as address:
            yield Framed(app, address, f"/c/{saved['id']}", tracker, html)


def stale(framed: Framed) -> None:
    """Make the case one whose result was another when it was shared."""
    store, case_id = framed.app.extensions[EXTENSION].store, framed.path.removeprefix("/c/")
    content, then = re.compile(r" c\d+\.\w{8}"), Message(content="Let me <see>")
    (said,) = content.findall(outcome_digest(Outcome(then, [], "stop", [])))
    digest = content.sub(said, store.get(case_id).outcome_digest)
    make_stale(store, case_id, outcome_digest=digest, message=dumped(WrittenOutcome(then)))


def test_a_case_stands_in_the_frame_of_a_site_that_may(plain: Page, watch: Watch, framed: Framed) -> None:
    source = f"{framed.address}{framed.path}/embed"
    framed.elsewhere(plain, watch, f'<iframe title="case" width="640" height="400" src="{source}"></iframe>')
    frame = plain.frame_locator("iframe")
    expect(frame.get_by_role("heading", level=1)).to_contain_text("checks hold")
    expect(frame.get_by_role("link", name="Open in Toolcall Inspector")).to_be_visible()


def test_no_other_page_stands_in_a_frame(plain: Page, watch: Watch, framed: Framed) -> None:
    watch.allowed += ["frame-ancestors", "ERR_BLOCKED_BY_RESPONSE"]
    framed.elsewhere(plain, watch, f'<iframe title="case" src="{framed.address}{framed.path}"></iframe>')
    expect(plain.frame_locator("iframe").locator("#verdict")).to_have_count(0)
    assert any("frame-ancestors" in problem for problem in watch.problems)


def test_a_frame_is_as_wide_as_it_is_given_and_everybody_can_use_it(page: Page, watch: Watch, framed: Framed) -> None:
    watch.origin = framed.address
    page.add_init_script("document.documentElement?.setAttribute('data-ready', '')")
    page.goto(f"{framed.address}{framed.path}/embed", wait_until="load")
    page.evaluate("document.documentElement.dataset.ready = ''")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
    for width in (300, 640, 900):
        page.set_viewport_size({"width": width, "height": 400})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_today_s_result_stands_beside_the_shared_one(page: Page, watch: Watch, framed: Framed) -> None:
    watch.origin = framed.address
    stale(framed)
    page.goto(framed.address + framed.path)
    box = page.locator(".drift")
    assert box.get_by_role("row", name="Content").locator("code").all_inner_texts()[0] == "Let·me·<see>"
    expect(box.get_by_role("row", name="Content").locator("code")).to_have_count(2)
    expect(box).to_contain_text("What differs: the content.")
    expect(box.get_by_role("row", name="Content")).to_contain_text("12 characters")
    expect(box.get_by_role("row", name="Content")).to_contain_text("15 characters")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen, ".drift")) == (screen, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    page.close()  # it searches, and the server ends before it does


def test_without_script_it_stands_there_too(plain: Page, watch: Watch, framed: Framed) -> None:
    watch.origin = framed.address
    stale(framed)
    plain.goto(framed.address + framed.path)
    expect(plain.locator(".drift")).to_contain_text("What differs: the content.")
    plain.goto(f"{framed.address}{framed.path}/embed")
    expect(plain.locator(".embed-drift")).to_contain_text("What differs: the content.")


def test_a_case_is_redacted_before_it_is_shared(page: Page) -> None:
    page.goto("/example/unknown-tool")
    page.locator("[data-share]").click()
    page.get_by_role("button", name="Redact first").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("words replaced")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen, "main")) == (screen, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    page.set_viewport_size({"width": 1440, "height": 900})
    before, after = (page.locator(".redact-text").nth(at).inner_text() for at in (0, 1))
    assert len(before) == len(after)
    assert before != after
    page.get_by_role("button", name="Share the redacted case").click()
    page.goto(create(page))
    text = page.locator("#text").input_value()
    assert not {*re.findall(r"[a-z]{5,}", before)} & {*re.findall(r"[a-z]{5,}", text)} - {
        "arguments",
        "parameters",
        "python",
    }


def test_without_script_a_run_is_redacted_and_opened(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill("A secret answer.")
    plain.locator("#setup [name=run]").click()
    plain.locator("[data-share]").click()
    plain.get_by_role("button", name="Redact first").click()
    plain.get_by_role("button", name="Open it").click()
    plain.locator("#source > summary").click()
    assert re.fullmatch(r"A [a-z]{6} [a-z]{6}\.", plain.locator("#text").input_value())
    assert "secret" not in plain.locator("#text").input_value()


def test_a_form_of_another_site_fills_ours_and_runs_nothing(plain: Page, watch: Watch, framed: Framed) -> None:
    before = framed.app.extensions[EXTENSION].store.count()
    fields = '<textarea name="text">Filled elsewhere.</textarea><input name="parser" value="mistral">'
    form = f'<form method="post" action="{framed.address}/new">{fields}<button>Send</button></form>'
    framed.elsewhere(plain, watch, form)
    plain.get_by_role("button", name="Send").click()
    assert plain.url == f"{framed.address}/new"
    expect(plain.locator("#text")).to_have_value("Filled elsewhere.")
    expect(plain.locator("#inspector")).to_have_count(0)
    assert framed.app.extensions[EXTENSION].store.count() == before
    plain.locator("#setup [name=run]").first.click()
    expect(plain.locator("#inspector")).to_have_count(1)


def test_a_report_opens_from_a_disk_and_asks_for_nothing(browser: Browser, watch: Watch, tmp_path: Path) -> None:
    case = load_case({"schema": 1, "title": "A call", "parser": {"name": "qwen"}, "input": {"text": TEXT}})
    run = Runner(Settings(data_dir=tmp_path), keep=False).run_checked(case)
    file = tmp_path / "report.html"
    file.write_text(exported(run, "html").text, "utf-8")
    watch.origin = "file:"
    context = watch.context(browser, viewport={"width": 1100, "height": 800}, java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("checks hold")
    assert page.locator(".lead").evaluate("box => getComputedStyle(box).borderInlineStartStyle") == "solid"
    context.close()
