"""People who use a server as a page and an API let them, each by a random seed of their own.

Whatever they send can be answered well, but for what is said to be over a limit: so an answer that is neither good nor
a refusal for want of room is a fault of the server.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPException
from threading import Lock
from urllib.parse import urlencode

from parsers.formats.model import builtin_formats, builtin_sources
from tests.bench.load import REPLAY, case
from tests.bench.outputs import WRITTEN, Output, kinds_of, long_text
from tests.bench.serving import FORM, JSON, PARTIAL, WINDOW, Answer, Server
from webapp.page.library.examples import examples

GOOD = {200, 201, 303, 304, 410, 429, 503}
TOO_LARGE = 413  # good where somebody means to be over a limit
PAUSE = 4.0  # seconds between two things that a person does, on average
QUICK_PAUSE = 1.0  # of somebody who steps through a long output
LONGEST = 250_000  # tokens

_PLACES = ("/", "/gallery", "/help", "/checks", "/formats", "/formats/language", "/tokenizers", "/healthz")
_LISTS = ("/api/v1/parsers", "/api/v1/tokenizers", "/api/v1/openapi.json")
_PARTS = ("", "?steps=none", "?steps=1-20", "?fields=message,findings", "?format=jsonl")
_EXPORTS = ("case", "markdown", "html", "jsonl", "sse", "pytest")
_SSE = 'data: {"choices": [{"index": 0, "delta": {"content": "Hi %s"}}]}\n\ndata: [DONE]\n'


@dataclass
class Ledger:
    """What people were answered: statuses and seconds by route, how often they hung up, and every fault."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: defaultdict[str, defaultdict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    faults: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def note(self, route: str, status: str, seconds: float, fault: str = "") -> None:
        """Write an answer down."""
        with self._lock:
            self.seconds[route].append(seconds)
            self.statuses[route][status] += 1
            if fault:
                self.faults.append(f"{route}: {status}: {fault}")


class Visitor:
    """One person."""

    def __init__(self, server: Server, ledger: Ledger, seed: int) -> None:
        self._server = server
        self._ledger = ledger
        self._random = random.Random(seed)

    def live(self, until: float) -> None:
        """Do one thing after the other until that moment of the monotonic clock."""
        ways: list[tuple[Callable[[], None], int]] = [
            *((self._look_around, 4), (self._open_example, 4), (self._run, 6), (self._replay, 4)),
            *((self._search, 2), (self._share, 2), (self._edit_format, 3), (self._compare, 3)),
            *((self._hang_up, 2), (self._send_too_much, 1), (self._paste_log, 2)),
        ]
        doing, often = zip(*ways, strict=True)
        while time.monotonic() < until:
            self._random.choices(doing, often)[0]()
            self._rest(PAUSE)

    def read_a_long_output(self, until: float) -> None:
        """Step through a run of 250,000 tokens, here and there, and open it again where it is held no more."""
        text = long_text(LONGEST)
        while time.monotonic() < until:
            token, steps, _ = self._post_run(f"{text}\n{self._random.random()}", "qwen3")
            at, held = 1, bool(token)
            while held and time.monotonic() < until:
                at = self._random.choice([1, steps, self._random.randint(1, steps), at + 250, at + 500, at + 750])
                at = min(max(at, 1), steps)
                held = self._ask("GET", "/r/TOKEN window", f"/r/{token}?step={at}", headers=WINDOW).status != 410
                self._rest(QUICK_PAUSE)
            self._rest(PAUSE)

    def _rest(self, seconds: float) -> None:
        time.sleep(min(self._random.expovariate(1 / seconds), 4 * seconds))

    def _ask(
        self,
        method: str,
        route: str,
        path: str,
        body: str | None = None,
        *,
        headers: dict[str, str] | None = None,
        over: bool = False,
    ) -> Answer:
        """The answer to a request, written down by its route. `over`: it is meant to be over a limit."""
        start, route = time.monotonic(), f"{method} {route}"
        try:
            answer = self._server.ask(method, path, body, **(headers or {}))
        except (OSError, HTTPException) as error:
            self._ledger.note(route, type(error).__name__, time.monotonic() - start, f"{error} for {path[:200]}")
            return Answer(0, {}, b"", 0)
        good = answer.status in GOOD or (over and answer.status == TOO_LARGE)
        fault = "" if good else f"{_line(answer)} for {path[:200]} {(body or '')[:2_000]!r}"
        self._ledger.note(route, str(answer.status), answer.seconds, fault)
        return answer

    def _form(self, route: str, fields: dict[str, str], **options: bool) -> Answer:
        partial = PARTIAL if self._random.random() < 0.5 else {}
        return self._ask("POST", route, route, urlencode(fields), headers={**FORM, **partial}, **options)

    def _output(self, most: int = 2_000) -> tuple[str, str]:
        """An output and its parser. Some are cut off."""
        grammar = self._random.choice(list(WRITTEN))
        kind = self._random.choice(kinds_of(WRITTEN[grammar]))
        output = Output(grammar, kind, self._random.randint(20, most))
        text = output.dialect.write(output.said) + f" {self._random.random()}"
        if self._random.random() < 0.3:
            text = text[: self._random.randint(1, len(text))]
        return text, output.dialect.parser

    def _look_around(self) -> None:
        path = self._random.choice([*_PLACES, *_LISTS])
        answer = self._ask("GET", path, path)
        for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.body.decode())[:3]:
            found = self._ask("GET", "/static/", unescape(asset))
            known = {"If-None-Match": found.headers.get("ETag", "")}
            self._ask("GET", "/static/", unescape(asset), headers=known)

    def _open_example(self) -> None:
        name = self._random.choice(list(examples()))
        steps = _total(self._ask("GET", "/example/NAME", f"/example/{name}"))
        for _ in range(self._random.randint(1, 4)):
            path = f"/example/{name}?step={self._random.randint(1, steps)}"
            self._ask("GET", "/example/NAME window", path, headers=WINDOW)
        target = self._random.choice(_EXPORTS)
        self._ask("GET", "/example/NAME/export/TARGET", f"/example/{name}/export/{target}")

    def _post_run(self, text: str, parser: str) -> tuple[str, int, str]:
        """The token of a posted run, its steps, and the case that its page carries."""
        answer = self._form("/run", {"text": text, "parser": parser, "tokenizer": "embedded"})
        page = answer.body.decode()
        found = re.search(r'data-held="/r/([0-9a-f]{32})"', page)
        carried = re.search(r'name="case" value="([^"]*)"', page)
        return (found[1] if found else ""), _total(answer), unescape(carried[1]) if carried else ""

    def _run(self) -> None:
        token, steps, carried = self._post_run(*self._output())
        for _ in range(self._random.randint(2, 8)):
            step = self._random.randint(1, steps)
            if token and self._random.random() < 0.7:
                self._ask("GET", "/r/TOKEN window", f"/r/{token}?step={step}", headers=WINDOW)
            elif carried:
                self._form("/run", {"case": carried, "held": token, "go": f"step={step}"})
            self._rest(QUICK_PAUSE)
        if token and self._random.random() < 0.3:
            self._ask("GET", "/r/TOKEN?report", f"/r/{token}?report=1", headers={**PARTIAL, "HX-Target": "#inspector"})

    def _replay(self) -> None:
        self._ask("POST", REPLAY, REPLAY + self._random.choice(_PARTS), case(*self._output()), headers=JSON)

    def _search(self) -> None:
        if self._random.random() < 0.5:
            self._ask("POST", "/api/v1/find", "/api/v1/find", case(*self._output(200)), headers=JSON)
            return
        name = self._random.choice(list(examples()))
        for _ in range(4):
            self._ask("GET", "/example/NAME/find", f"/example/{name}/find", headers=PARTIAL)
            self._rest(QUICK_PAUSE)

    def _share(self) -> None:
        answer = self._form("/cases", {"case": case(*self._output(500)), "title": "A case", "note": "Look."})
        path = answer.headers.get("Location", "").partition("?")[0]
        key = re.search(r'id="delete-key" value="([^"]+)"', answer.body.decode())
        if not path.startswith("/c/"):
            return
        for tail in ("", ".json", ".txt", "/edit", "/compare"):
            self._ask("GET", f"/c/ID{tail}", path + tail)
        if key:
            self._ask("POST", "/c/ID/delete", f"{path}/delete", urlencode({"key": key[1]}), headers=FORM)
            self._ask("GET", "/c/ID", path)

    def _edit_format(self) -> None:
        name = self._random.choice(list(builtin_formats()))
        source = self._random.choice([f"from={name}", f"source=example:{next(iter(examples()))}", ""])
        self._ask("GET", "/formats/edit", f"/formats/edit?{source}")
        text = json.dumps(builtin_sources()[name], indent=2)
        for _ in range(3):
            do = self._random.choice(["check", "tidy", "expand", "add"])
            fields = {"format": text, "do": do, "sample": "1", "output.1": builtin_formats()[name].example}
            self._form("/formats/edit", fields)
            at = self._random.randint(0, len(text))
            text = text[:at] + self._random.choice(['"', "}", "x", " "]) + text[at + 1 :]
            self._rest(QUICK_PAUSE)

    def _compare(self) -> None:
        name = self._random.choice(list(examples()))
        chunk = self._random.choice(["whole", "char", "token:3", "random:5"])
        self._ask("GET", "/example/NAME/compare", f"/example/{name}/compare?{urlencode({'b_chunk': chunk})}")
        self._form("/compare", {"case": case(*self._output(500)), "b_parser": "qwen"})

    def _hang_up(self) -> None:
        """Ask for what takes a while and leave in the middle."""
        connection, start = self._server.connection(), time.monotonic()
        text, parser = self._output(20_000)
        try:
            connection.request("POST", "/run", urlencode({"text": text, "parser": parser}), FORM)
            self._rest(0.2)
        except OSError:  # it had enough first
            pass
        finally:
            connection.close()
            self._ledger.note("POST /run, hung up", "–", time.monotonic() - start)

    def _send_too_much(self) -> None:
        size = self._random.choice([1_100_000, 900_000])  # of words that are no words: over the bytes, or the tokens
        text = "".join(self._random.choices("{}[]<>|/\\\"'`~^", k=size))
        if self._random.random() < 0.5:
            self._ask("POST", REPLAY, REPLAY, case(text), headers=JSON, over=True)
        else:
            self._form("/run", {"text": text, "parser": "qwen"}, over=True)

    def _paste_log(self) -> None:
        log = _SSE % self._random.random()
        self._ask("POST", "/api/v1/intake", "/api/v1/intake", log, headers={"Content-Type": "text/plain"})
        self._form("/intake", {"text": log})


def _total(answer: Answer) -> int:
    """How many steps the run on a page has."""
    found = re.search(rb'data-total="(\d+)"', answer.body)
    return int(found[1]) if found else 1


def _line(answer: Answer) -> str:
    """The first line of an answer that says something."""
    text = re.sub(r"<style.*?</style>|<script.*?</script>|<[^>]+>", " ", answer.body.decode(errors="replace"))
    return " ".join(text.split())[:300]
