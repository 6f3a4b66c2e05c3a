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
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    WebError,
    expect,
    sync_playwright,
)
from waitress.server import create_server

from webapp.app import create_app
from webapp.settings import Settings

REQUIRED = "TOOLCALL_INSPECTOR_REQUIRE_BROWSER"
WIDE: ViewportSize = {"width": 1440, "height": 900}

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
        """A watched browser context of its own."""
        context = opened(browser, self.origin, **options)
        self.follow(context)
        return context

    def follow(self, context: BrowserContext) -> None:
        context.on("weberror", self._error)
        context.on("console", self._console)
        context.on("request", self._request)

    def leave(self, context: BrowserContext) -> None:
        context.remove_listener("weberror", self._error)
        context.remove_listener("console", self._console)
        context.remove_listener("request", self._request)

    def _error(self, error: WebError) -> None:
        self.problems.append(f"uncaught: {error.error}")

    def _console(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.problems.append(f"console: {said.text}")

    def _request(self, sent: Request) -> None:
        if not sent.url.startswith((self.origin, "data:", "blob:", "about:")):
            self.problems.append(f"foreign request: {sent.url}")

    def left(self) -> list[str]:
        """The problems nobody allowed."""
        return [found for found in self.problems if not any(part in found for part in self.allowed)]


def opened(browser: Browser, origin: str, **options: object) -> BrowserContext:
    """A browser context. With script, what a test does on a page waits until its modules have started."""
    context = browser.new_context(base_url=origin, **options)  # type: ignore[arg-type]
    if options.get("java_script_enabled", True):
        context.on("page", _wait_until_ready)
    return context


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


@dataclass
class Screens:
    """The screens that the tests of a server share: what each page loads besides itself is fetched once."""

    browser: Browser
    origin: str = ""
    shared: dict[bool, BrowserContext] = field(default_factory=dict)

    def of(self, origin: str, *, script: bool) -> BrowserContext:
        """A wide, light screen for this server; those of the server before are closed."""
        if origin != self.origin:
            self.close()
            self.origin = origin
        if script not in self.shared:
            made = opened(self.browser, origin, viewport=WIDE, color_scheme="light", java_script_enabled=script)
            made.set_default_timeout(20_000)
            self.shared[script] = made
        return self.shared[script]

    @contextmanager
    def unused(self, watch: Watch, *, script: bool) -> Iterator[Page]:
        """An empty page of such a screen, with no cookie, text or right that another test left."""
        context = self.of(watch.origin, script=script)
        watch.follow(context)
        page = context.new_page()
        forget_all(context, page, watch.origin)
        yield page
        for left in context.pages:
            left.close()
        watch.leave(context)

    def close(self) -> None:
        for context in self.shared.values():
            context.close()
        self.shared.clear()


def forget_all(context: BrowserContext, page: Page, origin: str) -> None:
    context.clear_cookies()
    context.clear_permissions()
    session = context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    session.detach()


@pytest.fixture(scope="session")
def screens(browser: Browser) -> Iterator[Screens]:
    made = Screens(browser)
    yield made
    made.close()


@pytest.fixture
def page(screens: Screens, watch: Watch) -> Iterator[Page]:
    """A page with script."""
    with screens.unused(watch, script=True) as page:
        yield page


@pytest.fixture
def context(page: Page) -> BrowserContext:
    """The context of the page."""
    return page.context


@pytest.fixture
def plain(screens: Screens, watch: Watch) -> Iterator[Page]:
    """A page without script."""
    with screens.unused(watch, script=False) as page:
        yield page
