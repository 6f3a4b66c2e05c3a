"""What clients of a server were told, so that it can be held to it: acknowledged cases, and all its other answers."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from threading import Lock
from typing import Any

from tests.bench.load import REPLAY, case
from tests.bench.serving import JSON, Answer, Server

WRITERS = 8
PATIENCE = 240.0  # seconds: on a machine that others use as well
PAUSE = 0.1  # seconds after an answer that is none
REFUSALS = {"503", "507", "429"}  # in words
NO_LIMITS: dict[str, Any] = {"client_cases": 0, "client_bytes": 0, "replay_processes": 1}  # settings
STORED = (200, 201)
_CASES = "/api/v1/cases"


@dataclass(slots=True)
class Book:
    """Texts by the id under which they were acknowledged, and how often every other answer came."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)

    def write(self, server: Server, words: str = "") -> str:
        """Store a case that nobody else stores; what the server said: a status, or why there is none."""
        with self._lock:
            text = f"This is case {next(self._numbers)} {words}<tool_call>"
        answer = answered(server, "POST", _CASES, case(text))
        said = answer if isinstance(answer, str) else str(answer.status)
        with self._lock:
            self.answers[said] += 1
            if isinstance(answer, Answer) and answer.status in STORED:
                self.acknowledged[str(json.loads(answer.body)["id"])] = text
        return said

    def read(self, server: Server, name: str) -> None:
        """Ask for a case; how that was answered is written down."""
        answer = answered(server, "GET", f"/c/{name}.json")
        with self._lock:
            self.answers[answer if isinstance(answer, str) else str(answer.status)] += 1

    def lost(self, server: Server) -> int:
        """How many acknowledged cases are not as they were stored."""
        return sum([_text_of(server, name) != text for name, text in self.acknowledged.items()])

    def unexpected(self, *expected: str) -> list[str]:
        """Answers that are neither good, nor a refusal, nor expected while a server is away."""
        known = {*map(str, STORED), *REFUSALS, *expected}
        return [f"{times} × {said}" for said, times in sorted(self.answers.items()) if said not in known]


def _text_of(server: Server, name: str) -> str | None:
    answer = answered(server, "GET", f"/c/{name}.json")
    if not isinstance(answer, Answer) or answer.status != 200:
        return None
    return "".join(json.loads(answer.body)["input"]["text"])


def answered(server: Server, method: str, path: str, body: str | None = None) -> Answer | str:
    """The answer to a request, or the kind of error where there is none."""
    try:
        return server.ask(method, path, body, **JSON)
    except (OSError, HTTPException) as error:
        return type(error).__name__


def replays(server: Server, text: str = "Hello") -> str:
    """The status of a replay, which needs no database."""
    answer = answered(server, "POST", f"{REPLAY}?steps=none", case(text))
    return answer if isinstance(answer, str) else str(answer.status)


@contextmanager
def writing(server: Server, book: Book, words: str = "", writers: int = WRITERS) -> Iterator[None]:
    """Clients that store one case after the other while the block lasts."""
    with again_and_again([lambda: book.write(server, words)] * writers):
        yield


@contextmanager
def again_and_again(doing: list[Callable[[], str]]) -> Iterator[None]:
    """Each is done in a thread of its own while the block lasts; after one that says no status there is a pause."""
    ended = threading.Event()

    def work(one: Callable[[], str]) -> None:
        while not ended.is_set():
            if not one().isdigit():
                time.sleep(PAUSE)

    threads = [threading.Thread(target=work, args=(one,)) for one in doing]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def until(true: Callable[[], object], what: str) -> float:
    """Wait; the seconds that it took. Raises TimeoutError that says what was waited for."""
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > PATIENCE:
            raise TimeoutError(f"{what}: not in {PATIENCE:.0f} seconds")
        time.sleep(PAUSE)
    return time.monotonic() - start
