"""Stand-ins for the packages that exported tests of other projects' suites import, small ones with their names.

Behind them are our own parsers, so that an exported test passes where it is right, and `damage` makes them lose the
last call, so that it has something to find.
"""

from __future__ import annotations

import json
import sys
import types
import unittest
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.vocabulary.types import Delta, MessageDelta, Piece
from parsers.wire.assemble import Assembler


class OurParser:
    """One of our parsers, fed by text."""

    def __init__(self, case: Case, damage: bool = False) -> None:
        self.parser, self.assembler, self.damage = choose(case).make(), Assembler(), damage
        self.parser.begin(case.to_context(), mode="text")
        self.fed = 0

    def feed(self, text: str) -> MessageDelta | None:
        """A delta."""
        self.fed += 1
        return self._sent(self.parser.feed(Delta(self.fed, (Piece(text),))))

    def finish(self) -> MessageDelta | None:
        """The end."""
        return self._sent(self.parser.finish(None))

    def _sent(self, events: Any) -> MessageDelta | None:
        found = self.assembler.add(events)
        if found is not None and self.damage:
            found.tool_calls = [call for call in found.tool_calls if call.index == 0]
        return found


def use_vllm(monkeypatch: pytest.MonkeyPatch, case: Case, damage: bool = False) -> None:
    """vLLM's parser manager and the replay harness of its tests."""

    class Parser:
        def __init__(self, tokenizer: Any, tools: Any, chat_template_kwargs: Any) -> None:
            self.parser = OurParser(case, damage)

        def parse_delta(
            self, text: str, ids: Any, request: Any, prompt_token_ids: Any = None, *, finished: bool
        ) -> Any:
            assert isinstance(ids, list)
            fed = self.parser.feed(text)
            return Sent([fed, self.parser.finish()] if finished else [fed])

        def parse(self, text: str) -> Any:
            return [self.parser.feed(text), self.parser.finish()]

    def replay_streaming(
        parser: Any, tokens: Any, chunk_size: Any, tools: Any, prompt_token_ids: Any, finished_on_last: bool = False
    ) -> list[Any]:
        size = chunk_size or len(tokens)
        parts = [tokens[at : at + size] for at in range(0, len(tokens), size)]
        texts = ["".join([text for _, text in part]) for part in parts]
        return [
            parser.parse_delta(text, [*dict(part)], None, finished=finished_on_last and part is parts[-1])
            for text, part in zip(texts, parts, strict=True)
        ]

    def late(parser: Any, tokens: Any, text_delay: int, tools: Any, prompt_token_ids: Any) -> list[Any]:
        texts = [*[""] * text_delay, *[text for _, text in tokens]]
        texts = [*texts[: len(tokens) - 1], "".join(texts[len(tokens) - 1 :])]
        rows = zip(texts, tokens, strict=True)
        return [parser.parse_delta(text, [row[0]], None, finished=row is tokens[-1]) for text, row in rows]

    def compare(output: Any, sample: Any) -> None:
        for field in ("reasoning", "content"):
            assert getattr(sample, f"expected_{field}") in (None, getattr(output, field)), field
        if sample.expected_tool_calls is not None:
            assert [one["name"] for one in output.tool_calls] == [one["name"] for one in sample.expected_tool_calls]
            for one, wanted in zip(output.tool_calls, sample.expected_tool_calls, strict=True):
                assert "arguments" not in wanted or json.loads(one["arguments"]) == wanted["arguments"]

    harness = {
        "Sample": SimpleNamespace,
        "_test_request": lambda tools: Request(tools=tools),
        "assert_parse_output": compare,
        "collect_output": _message,
        "make_mock_tokenizer": lambda sample: dict(sample.tokens),
        "parse_non_streaming": lambda parser, sample, request: _message([parser.parse(_text(sample))]),
        "replay_streaming": replay_streaming,
        "replay_with_text_holdback": late,
    }
    manager = SimpleNamespace(get_parser=lambda **names: Parser)
    use_modules(monkeypatch, {"tests.parser.engine.replay_harness": harness, "vllm.parser": {"ParserManager": manager}})


def use_vllm_format(monkeypatch: pytest.MonkeyPatch, case: Case, damage: bool = False) -> None:
    """vLLM's manager of tool parsers, and what its tests of them share."""

    class Parser:
        def __init__(self, tokenizer: Any, tools: Any) -> None:
            self.parser = OurParser(case, damage)

        def extract_tool_calls(self, text: str, request: Any) -> Any:
            return _extracted([self.parser.feed(text), self.parser.finish()])

        def extract_tool_calls_streaming(self, text: str) -> Any:
            return self.parser.feed(text)

    def batched(parser: Any, texts: Any, ids: Any, lengths: Any, request: Any, **how: bool) -> Any:
        assert how == {"assert_one_tool_per_delta": False}
        assert len(texts) == len(ids) == sum(lengths)
        said, at = [], 0
        for length in lengths:
            said.append(parser.extract_tool_calls_streaming("".join(texts[at : at + length])))
            at += length
        found = _extracted(said)
        return SimpleNamespace(other_content=found.content, tool_calls=found.tool_calls)

    manager = SimpleNamespace(get_tool_parser=lambda name: Parser)
    use_modules(monkeypatch, {
        "tests.parser.engine.replay_harness": {"MockTokenizer": lambda vocab, tokens: (vocab, tokens)},
        "tests.tool_parsers.test_format_conformance": {"FormatFixture": SimpleNamespace},
        "tests.tool_parsers.utils": {"run_tool_extraction_streaming_batched": batched},
        "vllm.entrypoints.openai.chat_completion.protocol": {"ChatCompletionRequest": Request},
        "vllm.tool_parsers": {"ToolParserManager": manager},
    })  # fmt: skip


def _extracted(sent: list[Any]) -> Any:
    found = _message([sent])
    calls = [SimpleNamespace(function=SimpleNamespace(**call)) for call in found.tool_calls]
    return SimpleNamespace(content=found.content, tool_calls=calls)


class Request(SimpleNamespace):
    """A request as pydantic has one."""

    def model_dump(self, exclude_unset: bool) -> dict[str, Any]:
        """Its fields."""
        return vars(self)


def use_sglang(monkeypatch: pytest.MonkeyPatch, case: Case, damage: bool = False) -> None:
    """SGLang's detectors and reasoning parsers, and what its tests register."""
    context = case.context.model_copy(
        update={"reasoning_open": False, "prompt_tail": None}
    )  # its reasoning parser reads that
    closed = case.model_copy(update={"context": context})

    class Detector:
        prev_tool_call_arr: tuple[Any, ...] = ()
        streamed_args_for_tool: tuple[str, ...] = ()

        def __init__(self, **how: Any) -> None:
            self.parser = OurParser(closed, damage)

        def parse_streaming_increment(self, chunk: str, tools: Any) -> Any:
            return _result(self.parser.feed(chunk))

        def finish(self, tools: Any) -> Any:
            return _result(self.parser.finish())

        def detect_and_parse(self, text: str, tools: Any) -> Any:
            first, last = _result(self.parser.feed(text)), _result(self.parser.finish())
            return SimpleNamespace(normal_text=first.normal_text + last.normal_text, calls=first.calls + last.calls)

    class Reasoning:
        def __init__(self, model_type: str, force_reasoning: bool) -> None:
            self.open, self.held = force_reasoning, ""

        def parse_stream_chunk(self, chunk: str) -> tuple[str, str]:
            self.held += chunk
            before, marker, after = self.held.partition("</think>")
            if not self.open or not marker:
                return ("", chunk) if not self.open else ("", "")
            self.open = False
            return before, after

        def parse_non_stream(self, text: str) -> tuple[str, str]:
            before, _, after = text.partition("</think>")
            return before, after

    names = SimpleNamespace(ToolCallParserEnum=dict.fromkeys(("qwen", "hermes", "qwen25"), Detector))
    tool = {"Tool": lambda **told: SimpleNamespace(**told)}
    use_modules(monkeypatch, {
        "sglang.srt.entrypoints.openai.protocol": tool,
        "sglang.srt.function_call.function_call_parser": {"FunctionCallParser": names},
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": Reasoning},
        "sglang.test.ci.ci_register": {"register_cpu_ci": lambda seconds, suite: None},
        "sglang.test.test_utils": {"CustomTestCase": unittest.TestCase},
    })  # fmt: skip


def use_modules(monkeypatch: pytest.MonkeyPatch, given: dict[str, dict[str, Any]]) -> None:
    """Modules with these contents, where none of their names is there."""
    for name, content in given.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            part = ".".join(parts[:end])
            if part not in sys.modules:
                monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
        vars(sys.modules[name]).update(content)


class Sent(list[Any]):
    """What was sent at a step, as one delta of vLLM has it."""

    reasoning = property(lambda self: "".join([one.reasoning or "" for one in self if one]))
    content = property(lambda self: "".join([one.content or "" for one in self if one]))
    tool_calls = property(lambda self: [_call(call) for one in self if one for call in one.tool_calls])


def _call(call: Any) -> Any:
    function = SimpleNamespace(name=call.name, arguments=call.arguments or "")
    return SimpleNamespace(index=call.index, function=function)


def _text(sample: Any) -> str:
    return "".join([text for _, text in sample.tokens])


def _message(sent: list[Any]) -> Any:
    deltas = [delta for row in sent for delta in row if delta is not None]
    calls: dict[int, dict[str, str]] = {}
    for call in [call for delta in deltas for call in delta.tool_calls]:
        if call.name or call.index in calls:  # vLLM's harness leaves out what comes before a name
            known = calls.setdefault(call.index, {"name": call.name, "arguments": ""})
            known["arguments"] += call.arguments or ""
    reasoning, content = ("".join([getattr(one, name) or "" for one in deltas]) for name in ("reasoning", "content"))
    return SimpleNamespace(reasoning=reasoning, content=content, tool_calls=[*calls.values()])


def _result(delta: MessageDelta | None) -> Any:
    if delta is None:
        return SimpleNamespace(normal_text="", calls=[])
    calls = [
        SimpleNamespace(tool_index=call.index, name=call.name, parameters=call.arguments) for call in delta.tool_calls
    ]
    return SimpleNamespace(normal_text=delta.content or "", calls=calls)
