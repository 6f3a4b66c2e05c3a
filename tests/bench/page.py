"""A long output in the page: what it costs to open it, a window, its checks and its share, and what it takes in memory.

The application is asked in this process, without a server, so that processor time is all its own.
"""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from flask.testing import FlaskClient

from tests.bench.outputs import long_text
from tests.bench.serving import WINDOW, rss
from webapp.app import create_app
from webapp.children.collector import collect_seldom
from webapp.services import EXTENSION, Services
from webapp.settings import Settings

WINDOWS = 20
OTHERS = 3  # runs like the first one, in tabs of their own


class Cost(NamedTuple):
    """What an answer cost: processor seconds, and bytes on the wire (gzip)."""

    what: str
    seconds: float
    sent: int


class Memory(NamedTuple):
    """Memory while so many runs are held: bytes that the runner counts, and bytes the process has more than before."""

    runs: int
    counted: int
    grown: int


class Page(NamedTuple):
    """All figures of a page of so many steps."""

    steps: int
    costs: list[Cost]
    memory: list[Memory]


def opened(tokens: int) -> Page:
    """Open an output of so many tokens, look around in it, and open it three times more."""
    collect_seldom()  # as the processes do that answer for a server
    with TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        services: Services = app.extensions[EXTENSION]
        try:
            return _figures(_Reader(app.test_client()), services, long_text(tokens))
        finally:
            services.searches.close()
            services.store.close()


class _Reader:
    """Asks for pages and says what they cost."""

    def __init__(self, client: FlaskClient) -> None:
        self._client = client
        self.page = ""

    def ask(
        self, what: str, path: str, form: Mapping[str, str] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Cost:
        """The cost of an answer, which must be a good one; `page` is its text."""
        start = process_time()
        method, accepts = "GET" if form is None else "POST", {"Accept-Encoding": "gzip"}
        answer = self._client.open(path, method=method, data=form, headers={**accepts, **(headers or {})})
        sent = len(answer.get_data())
        spent = process_time() - start
        assert answer.status_code < 400, f"{path}: {answer.status}"
        return Cost(what, spent, sent)

    def plain(self, path: str) -> str:
        """The text of a page."""
        return self._client.get(path).text


def _figures(reader: _Reader, services: Services, text: str) -> Page:
    reader.ask("first page", "/")
    gc.collect()
    before = rss()
    form = {"text": text, "parser": "qwen3", "tokenizer": "embedded"}
    costs = [reader.ask("open", "/run", form)]
    memory = [Memory(1, services.runner.used, rss() - before)]
    address = next(f"/r/{token}" for token in services.held._kept)
    page = reader.plain(address)
    steps = int(re.findall(r'data-total="(\d+)"', page)[0])
    costs.append(reader.ask("open again", address))
    costs += _windows(reader, address, steps)
    case = unescape(re.findall(r'name="case" value="([^"]*)"', page)[0])
    costs.append(reader.ask("checks and report", f"{address}?report=1"))
    costs.append(reader.ask("share", "/cases", {"case": case, "held": address.removeprefix("/r/")}))
    for number in range(OTHERS):
        reader.ask("open", "/run", {**form, "text": f"{text} {number}"})
    gc.collect()
    memory.append(Memory(1 + OTHERS, services.runner.used, rss() - before))
    return Page(steps, costs, memory)


def _windows(reader: _Reader, address: str, steps: int) -> list[Cost]:
    """Windows at random places: the median, the dearest, and the largest."""
    places = random.Random(1).sample(range(1, steps), WINDOWS)
    asked = [f"{address}?step={place}" for place in places]
    found = [reader.ask("window", path, headers=WINDOW) for path in asked]
    sent = max([one.sent for one in found])
    return [
        Cost("window, median", median([one.seconds for one in found]), sent),
        Cost("window, dearest", max([one.seconds for one in found]), sent),
    ]
