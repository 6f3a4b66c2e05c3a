"""A real server, a real browser, and the rule that nothing may go wrong unseen.

Every page of every test is watched: an uncaught error, an error in the console (a CSP violation is one) or a request
to another origin fails the test, whatever else it asserts.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright
from waitress.server import create_server

from webapp.app import create_app
from webapp.settings import Settings

REQUIRED = "TOOLCALL_INSPECTOR_REQUIRE_BROWSER"

expect.set_options(timeout=20_000)  # as long as an action may take: machines that run the tests are busy


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for the session: Debian's or the system's Chromium, else the one Playwright fetched for itself.

    Without any the tests are skipped on a developer's machine, and fail where a browser is required.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=found)
        except Error as error:
            if os.environ.get(REQUIRED) == "1" or os.environ.get("CI"):
                pytest.fail(f"no Chromium: install chromium-headless-shell ({error.message})", pytrace=False)
            pytest.skip("no Chromium: install chromium-headless-shell")
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of its own, on a free port, with an empty store."""
    folder: Path = tmp_path_factory.mktemp("data")
    with served(create_app(Settings(data_dir=folder))) as address:
        yield address


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of an application that is served on a free port meanwhile."""
    server, ended = create_server(app, host="127.0.0.1", port=0, threads=8), threading.Event()
    thread = threading.Thread(target=_serve, args=(server, ended))
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    ended.set()
    thread.join()


def _serve(server: Any, ended: threading.Event) -> None:
    """Answer until told to stop, then close what is still open."""
    while not ended.is_set():
        server.asyncore.loop(timeout=0.1, map=server._map, count=1)
    server.task_dispatcher.shutdown()
    server.asyncore.close_all(server._map)


@dataclass
class Watch:
    """What went wrong on the pages of a test. `allowed` are parts of console messages the test brings about itself."""

    origin: str
    problems: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def context(self, browser: Browser, **options: object) -> BrowserContext:
        """A watched browser context. With script, what a test does on a page waits until its modules have started."""
        context = browser.new_context(base_url=self.origin, **options)  # type: ignore[arg-type]
        if options.get("java_script_enabled", True):
            context.on("page", _wait_until_ready)
        context.on("weberror", lambda error: self.problems.append(f"uncaught: {error.error}"))
        context.on("console", self._console)
        context.on("request", lambda sent: self._origin(sent.url))
        return context

    def _console(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.problems.append(f"console: {said.text}")

    def _origin(self, url: str) -> None:
        if not url.startswith((self.origin, "data:", "blob:", "about:")):
            self.problems.append(f"foreign request: {url}")

    def left(self) -> list[str]:
        """The problems nobody allowed."""
        return [found for found in self.problems if not any(part in found for part in self.allowed)]


def _wait_until_ready(page: Page) -> None:
    """A new document is there before its modules run: what is clicked or pressed in between is the browser's own."""
    page.add_locator_handler(
        page.locator("html:not([data-ready])"), lambda: page.wait_for_selector("html[data-ready]"), no_wait_after=True
    )


@pytest.fixture(autouse=True)
def watch(base: str) -> Iterator[Watch]:
    """Fails the test for whatever went wrong on its pages."""
    watching = Watch(base)
    yield watching
    assert watching.left() == []


@pytest.fixture
def allowed(watch: Watch) -> list[str]:
    """Parts of console messages that the test brings about itself, such as the status of an error it asks for."""
    return watch.allowed


@pytest.fixture
def context(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """A fresh context of a wide, light screen."""
    opened = watch.context(browser, viewport={"width": 1440, "height": 900}, color_scheme="light")
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page with script."""
    return context.new_page()


@pytest.fixture
def plain(browser: Browser, watch: Watch) -> Iterator[Page]:
    """A page without script."""
    opened = watch.context(browser, viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    opened.set_default_timeout(20_000)
    yield opened.new_page()
    opened.close()
