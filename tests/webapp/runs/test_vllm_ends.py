"""Exported tests of vLLM's parsers end an output as its worker does: with the last delta, or in a call of its own."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.case import Expect
from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.run import run_case
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking
from tests.parsers.cases.suite_standins import use_modules, use_vllm
from tests.parsers.cases.test_export_suites import case, subject
from webapp.engines.workers.engine_worker import Printed, Worker

Call = tuple[str, bool]  # a text, and whether it is told to be the last
CHUNKINGS = [
    Chunking(by="token"),
    Chunking(by="token", size=2),
    Chunking(by="token", size=3),
    Chunking(by="token", text_delay=1),
    Chunking(by="cuts", cuts=(1,)),
    Chunking(by="cuts", cuts=(1, 10)),
    Chunking(by="whole"),
]
REASONS = ["stop", "length", None]


class Log:
    """A parser that notes how it is called, by the worker and by vLLM's names."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.calls: list[Call] = []
        LOGS.append(self.calls)

    def feed(self, text: str, ids: list[int]) -> None:
        self.calls.append((text, False))

    def last(self, text: str, ids: list[int], reason: str | None) -> None:
        self.calls.append((text, True))

    def finish(self, reason: str | None) -> None:
        self.calls += [("", True)] * (not any(ends for _, ends in self.calls))

    def parse_delta(self, text: str, ids: Any, request: Any, prompt_token_ids: Any = None, *, finished: bool) -> None:
        self.calls.append((text, finished))


class InSuite(Log):
    """The same, as the stand-in for the harness adds up what it sends."""

    def parse_delta(self, *given: Any, **named: Any) -> Any:
        super().parse_delta(*given, **named)
        return []


LOGS: list[list[Call]] = []


def by_the_worker(deltas: Any, reason: str | None) -> list[Call]:
    """How the worker feeds them."""
    adapter: Any = SimpleNamespace(replay=Log)
    worker = Worker(adapter, Printed(sys.stderr), SimpleNamespace(on=False))
    worker.run({"replays": [deltas], "finish_reason": reason})
    return LOGS[-1]


@pytest.mark.replays
@pytest.mark.parametrize("reason", REASONS)
def test_the_file_that_stands_alone_ends_as_the_worker(reason: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case("Hello there", context={"finish_reason": reason}, expect={"content": ""})
    run, tested = run_case(given), EngineParser("vllm", "hermes", builtin_formats()["qwen"])
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(pytest_file(given, run.pieces, chunkings=CHUNKINGS, tested=tested), "exported.py", "exec"), names)
    monkeypatch.setitem(names, "make_parser", lambda: names["VllmParser"](Log(), None, None))
    for deltas in names["CHUNKINGS"].values():
        names["replay"](deltas)
        assert LOGS[-1] == by_the_worker(deltas, reason)


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_the_test_of_its_suite_ends_as_the_worker(
    chunking: Chunking, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = case("Hello there", context={"finish_reason": reason}, expect={"content": "Hello there"})
    found = replace(subject(given.model_copy(update={"replay": (chunking,)})), expect=Expect())
    names: dict[str, Any] = {"__name__": "emitted"}
    use_vllm(monkeypatch, given)
    use_modules(monkeypatch, {"vllm.parser": {"ParserManager": SimpleNamespace(get_parser=lambda **_: InSuite)}})
    exec(compile(suite_file(SUITES["vllm"], found).text, "emitted.py", "exec"), names)
    (test,) = [one for name, one in names.items() if name.startswith("test_")]
    marks = [mark.args for mark in getattr(test, "pytestmark", ())]
    test(**{name: values[0] for name, values in marks})
    assert found.chunking == chunking
    assert LOGS[-1] == by_the_worker([[text, [*ids]] for text, ids in found.tokens.deltas], reason)
