"""Searches that do what the output of their case says, as the program of children."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping

from parsers.cases.case import Case, CaseError
from parsers.cases.find import CaseFound
from parsers.cases.io import load_case
from parsers.search.found import Found, Progress, Verdict
from parsers.vocabulary.types import FormatError, UsageError
from webapp.children.worker import Task
from webapp.engines.entered import entered
from webapp.jobs import search_program
from webapp.security import TooLarge
from webapp.settings import Settings

MEGABYTES_50 = 50_000_000


def case_of(text: str) -> Case:
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}})


def found_for(case: Case, replays: int, complete: bool) -> CaseFound:
    verdict = Verdict("all_hold", "pass", None, "Everything holds.")
    return CaseFound(case, Found(case.text(), [], [], [], [], [], [], verdict, None, replays, complete))


class Scripted:
    """`run` follows the first word of the output."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.word = case.text().split(" ")[0]
        self.replays = 0
        self.complete = False

    def run(self) -> Iterator[Progress]:
        yield self.progress()
        yield from getattr(self, self.word)()
        self.complete = True

    def result(self) -> CaseFound:
        return found_for(self.case, self.replays, self.complete)

    def progress(self) -> Progress:
        return Progress("sweep", self.replays, 100, self.replays)

    def replayed(self) -> Progress:
        self.replays += 1
        return self.progress()

    def quick(self) -> Iterator[Progress]:
        yield self.replayed()

    def endless(self) -> Iterator[Progress]:
        while True:
            time.sleep(0.01)
            yield self.replayed()

    def asking(self) -> Iterator[Progress]:
        """Ask an engine after the first replay."""
        yield self.replayed()
        entered().known("e")

    def busy(self) -> Iterator[Progress]:
        while True:
            sum(range(100_000))
            yield self.replayed()

    def sticking(self) -> Iterator[Progress]:
        """A second replay that never ends and swallows every exception."""
        yield self.replayed()
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                self.replays += 1000

    def grinding(self) -> Iterator[Progress]:
        """A second replay that works without end."""
        yield self.replayed()
        while True:
            sum(range(1_000))

    def stuck(self) -> Iterator[Progress]:
        while True:
            time.sleep(0.01)
        yield self.replayed()

    def exits(self) -> Iterator[Progress]:
        yield self.replayed()
        os._exit(3)

    def killed(self) -> Iterator[Progress]:
        yield self.replayed()
        os.kill(os.getpid(), signal.SIGKILL)

    def greedy(self) -> Iterator[Progress]:
        taken = []
        while True:
            taken.append(bytearray(MEGABYTES_50))
            yield self.replayed()

    def long(self) -> Iterator[Progress]:
        self.case = case_of(os.urandom(500_000).hex())
        yield self.replayed()

    def buggy(self) -> Iterator[Progress]:
        yield self.replayed()
        raise RuntimeError("secret of the code")


def scripted(case: Case, _settings: Settings) -> Scripted:
    """The search of a case; some cannot begin."""
    errors: dict[str, Exception] = {
        "case": CaseError("no such tokens", "/input"),
        "usage": UsageError("this cannot be done"),
        "format": FormatError("no such state", "/states"),
        "tokens": TooLarge("The output", 6, 5, "max_tokens"),
        "memory": MemoryError(),
    }
    if case.text() in errors:
        raise errors[case.text()]
    return Scripted(case)


def tasks() -> Mapping[str, Task]:
    """What a child does."""
    return search_program.tasks(scripted)
