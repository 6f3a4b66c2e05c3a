"""What clients were told is held against a server: a case that is not as it was stored is lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import cast

import pytest

from tests.bench.document import Document
from tests.bench.serving import Answer, Server
from tests.faults.__main__ import FAULTS, TEMPLATE, told, tried
from tests.faults.book import Book
from tests.faults.outcome import Outcome, UntriedError


class Forgetful:
    """A server that acknowledges everything, and after that has only some of it."""

    def __init__(self, *, keeps: bool = True, status: int = 201) -> None:
        self.keeps, self.status = keeps, status
        self.stored: dict[str, str] = {}

    def ask(self, method: str, path: str, body: str | None = None, **_headers: str) -> Answer:
        if not self.status:
            raise ConnectionResetError
        if method == "POST":
            name = f"{len(self.stored):016}"
            self.stored[name] = json.loads(body or "")["input"]["text"]
            return Answer(self.status, {}, json.dumps({"id": name}).encode(), 0.1)
        text = self.stored[path.split("/")[2].partition(".")[0]] if self.keeps else "other words"
        return Answer(200, {}, json.dumps({"input": {"text": [text]}}).encode(), 0.1)


@pytest.mark.parametrize(("keeps", "lost"), [(True, 0), (False, 3)])
def test_a_case_that_does_not_come_back_as_it_was_stored_is_lost(keeps: bool, lost: int) -> None:
    book, server = Book(), cast(Server, Forgetful(keeps=keeps))
    assert [book.write(server) for _ in range(3)] == ["201"] * 3
    assert book.lost(server) == lost


@pytest.mark.parametrize(
    ("status", "said", "unexpected"),
    [(503, "503", []), (507, "507", []), (500, "500", ["1 × 500"]), (0, "ConnectionResetError", [])],
)
def test_what_is_no_refusal_in_words_is_wrong(status: int, said: str, unexpected: list[str]) -> None:
    book = Book()
    assert book.write(cast(Server, Forgetful(status=status))) == said
    assert book.acknowledged == {}
    assert book.unexpected("ConnectionResetError") == unexpected


def missing(_writes: int) -> Outcome:
    raise UntriedError("no such thing")


def endless(_writes: int) -> Outcome:
    raise TimeoutError("writes: not in 240 seconds")


def test_what_cannot_be_tried_is_said_and_is_no_fault_of_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(missing, 1).cells()[:2] == ["Missing", "not tried: no such thing"]
    assert tried(missing, 1).is_good
    assert not tried(endless, 1).is_good
    capsys.readouterr()


def test_the_section_counts_what_was_acknowledged_and_lost(capsys: pytest.CaptureFixture[str]) -> None:
    book = Book({"a": "b"}, Counter({"201": 1, "503": 2}))
    document = Document(TEMPLATE)
    told(document, [Outcome("Locked database", "14 seconds", book, 1, 0.5, ["1 × 500"])])
    assert "Of 1 acknowledged cases 1 were lost." in document._text()
    assert "| Locked database | 14 seconds | 1 | 2 × 503 | 1 | 0.5 | 1 × 500 |" in document._text()
    capsys.readouterr()


def test_every_fault_of_the_issue_is_made() -> None:
    assert {*FAULTS} >= {"killed", "full", "locked", "damaged", "restarted", "children_killed", "clock_moved"}
