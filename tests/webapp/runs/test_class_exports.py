"""The stand-alone test of a class of somebody's own calls it, and takes what it returns, as the worker does."""

from __future__ import annotations

import sys
import types
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.request_told import request_of
from parsers.cases.run import run_case
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking
from tests.parsers.cases.test_export_suites import case
from webapp.engines.workers.adapter_class import Class
from webapp.engines.workers.engine_worker import Printed, Worker
from webapp.engines.workers.token_table import TokenTable

GIVEN = case(
    "Hello you",
    expect={"content": ""},
    context={"model": "m", "prompt_tail": "<think>", "tool_choice": {"name": "f"}, "finish_reason": "length"},
)
CHUNKINGS = [Chunking(by="token"), Chunking(by="whole")]
FUNCTION = {"name": "f", "arguments": "{}"}


class Own:
    """It says all that it is told."""

    def begin(self, request: Any) -> None:
        self.request = request

    def feed(self, text: str, ids: list[int]) -> Any:
        said = {"reasoning": text, "content": f"{self.request} {ids}"}
        return {**said, "tool_calls": [{"index": 0, "id": "i", "function": FUNCTION}]} if "l" in text else None

    def finish(self, reason: str | None) -> Any:
        return {"content": str(reason)}

    def parse(self, request: Any, text: str) -> Any:
        return {"content": f"{request} {text}", "tool_calls": [{"index": 0, "function": FUNCTION}]}


class Detector:
    """It returns objects."""

    def parse_streaming_increment(self, text: str, tools: Any) -> Any:
        call = SimpleNamespace(tool_index=0, name=tools[0].function.name, parameters=text)
        return SimpleNamespace(normal_text=text, calls=[call])

    def detect_and_parse(self, text: str, tools: Any) -> Any:
        return self.parse_streaming_increment(f"whole {text}", tools)


class DictDetector(Detector):
    """It returns dicts, and has an end."""

    def parse_streaming_increment(self, text: str, tools: Any) -> Any:
        return {"normal_text": "", "calls": [{"tool_index": 1, "name": "", "parameters": text}]}

    def finish(self, tools: Any) -> Any:
        return {"normal_text": f"{tools[0].function.parameters}"}

    def has_tool_call(self, text: str) -> bool:
        return False


class Streaming:
    """It returns objects, with reasoning."""

    def __init__(self, tokenizer: Any) -> None:
        self.known = len(tokenizer.get_vocab())

    def extract_tool_calls_streaming(self, *given: Any) -> Any:
        request, function = given[6], SimpleNamespace(**FUNCTION)
        call = SimpleNamespace(index=0, id="i", function=function if given[2] else FUNCTION)
        said = f"{request.model} {request.prompt_tail} {request.tool_choice.function.name} {given[:6]}"
        return SimpleNamespace(content=said, reasoning=given[2], tool_calls=(call,))


class Extracting(Streaming):
    """It reads whole outputs by code of its own; `called` is what it says of them."""

    called: Any = True

    def extract_tool_calls(self, text: str, request: Any) -> Any:
        call = SimpleNamespace(function=SimpleNamespace(**FUNCTION))
        return SimpleNamespace(content=f"{request.model} {text}", tool_calls=[call], tools_called=self.called)


class ExtractsNone(Extracting):
    """It finds no call."""

    called = False


class United:
    """It reads reasoning and calls."""

    def __init__(self, tokenizer: Any, tools: Any) -> None:
        self.tools = tools

    def parse_delta(self, text: str, ids: Any, request: Any, prompt: Any, *, finished: bool) -> Any:
        return {"content": f"{text} {ids} {prompt} {finished}"}

    def parse(self, text: str, request: Any, enable_auto_tools: bool = False) -> Any:
        return text, f"{request.model} {enable_auto_tools}", [FUNCTION]


class TakesAll(United):
    """It is given the ids, too, and returns a dict."""

    def parse(self, text: str, request: Any, enable_auto_tools: bool = False, **more: Any) -> Any:
        return {"content": f"{text} {more}"}


class DictStreaming(Streaming):
    """It returns dicts, and nothing at the end."""

    def parse(self, request: Any, text: str) -> Any:
        return {"content": f"{request} {text}"}

    def extract_tool_calls_streaming(self, *given: Any) -> Any:
        return {"reasoning": given[1], "content": f"{given[3:6]}"} if given[2] else None


class Several(Own, Detector):
    """It has the methods of two shapes."""


def exported(kind: type, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the file of a class."""
    module = types.ModuleType("their_parsers")
    vars(module)["Theirs"] = kind
    monkeypatch.setitem(sys.modules, "their_parsers", module)
    tested = EngineParser("class", "Theirs", builtin_formats()["qwen"], "their_parsers:Theirs")
    names: dict[str, Any] = {"__name__": "exported"}
    text = pytest_file(GIVEN, run_case(GIVEN).pieces, chunkings=CHUNKINGS, tested=tested)
    exec(compile(text, "exported.py", "exec"), names)
    return names


def by_the_worker(kind: type, names: dict[str, Any], deltas: Any, path: str = "stream") -> list[Any]:
    """What the worker sends for these deltas, with the ids that its card asks for."""
    adapter = Class(kind)
    worker = Worker(adapter, Printed(sys.stderr), SimpleNamespace(on=False))
    told = deltas if adapter.hello()["wants"] == "ids" else [[text] for text, _ in deltas]
    asked = {"request": request_of(GIVEN.to_context()), "finish_reason": "length", "path": path, "replays": [told]}
    asked |= {"vocabulary": names["VOCABULARY"], "tokens": [*names["TOKENS"].items()]}
    (replay,) = worker.run(asked)["replays"]
    assert replay["raised"] is None
    return [one for one in replay["sent"] if one is not None]


@pytest.mark.replays
@pytest.mark.parametrize("kind", [Own, Detector, DictDetector, Streaming, DictStreaming, Several])
def test_a_class_is_called_and_heard_as_by_the_worker(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    names = exported(kind, monkeypatch)
    for deltas in names["CHUNKINGS"].values():
        parser = names["make_parser"]()
        sent = [one for text, ids in deltas for one in parser.feed(text, ids)] + parser.finish("length")
        assert sent == by_the_worker(kind, names, deltas)


@pytest.mark.parametrize(
    "kind", [Own, Detector, DictDetector, Extracting, ExtractsNone, DictStreaming, United, TakesAll, Several]
)
def test_a_class_reads_a_whole_output_as_in_the_worker(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    names = exported(kind, monkeypatch)
    deltas = names["CHUNKINGS"][names["WHOLE"]]
    assert Class(kind).hello()["whole"]
    said, told = (
        names["replay"](deltas, streams=False),
        names["accumulate"](by_the_worker(kind, names, deltas, "whole")),
    )
    assert said == told
    assert said != names["replay"](deltas)


def test_a_class_that_has_no_code_for_whole_outputs_is_fed_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = exported(Streaming, monkeypatch)
    deltas = names["CHUNKINGS"][names["WHOLE"]]
    assert names["replay"](deltas, streams=False) == names["replay"](deltas)


def test_a_tokenizer_of_the_file_knows_what_that_of_the_worker_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    names = exported(Streaming, monkeypatch)
    asked = {"vocabulary": names["VOCABULARY"], "tokens": [*names["TOKENS"].items()]}
    ours, theirs = names["Tokens"](), TokenTable(asked)
    for number in names["TOKENS"]:
        assert ours.decode([number]) == theirs.decode([number])
    for marker, number in names["VOCABULARY"].items():
        assert ours.convert_tokens_to_ids(marker) == theirs.convert_tokens_to_ids(marker) == number
