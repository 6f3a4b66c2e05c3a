"""llama.cpp's own expectations of what its parsers make of an output, read from the tables of its tests/test-chat.cpp.

Read are chains `tst.test(TEXT).tools({...}).expect(MESSAGE).run()` behind `peg_tester(TEMPLATE)`: the template's name
is the model id that chooses our format. Not read, and set aside: outputs that are not whole, grammars other than
tools, prompts that are continued, reasoning that is kept as text, and messages built by code. Whether a template's
prompt leaves reasoning open stands in the template, so a message counts as right if it is read so with either; white
space at the ends of a text is not compared. (ggml-org/llama.cpp, as vendored in llama-cpp-python 0.3.36.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from parsers.selection.registry import Evidence, get_format, select
from parsers.vocabulary.types import Context, Message, Tool
from tests.truth.cxx import Call, Name, UnreadError, Value
from tests.truth.cxx import Reader as CxxReader
from tests.truth.known import Outcome
from tests.truth.served import Reader, Run

_PLACE = re.compile(r'peg_tester\(\s*"(?P<template>[^"]+)"|\btst2?\.test\(|peg_tester\(\w')
_TOOL = re.compile(r"static common_chat_tool (\w+)\s*(?=\{)")
_MESSAGE = re.compile(r"const common_chat_msg (\w+)\s*=\s*")
_ASIDE = frozenset(
    ("is_partial", "json_schema", "tool_choice", "add_generation_prompt", "continue_final_message", "messages")
)
_NONE = (Tool("no tool"),)  # a request without tools: each one is unknown
_KEPT = "COMMON_REASONING_FORMAT_NONE"

# Which argument of a helper is what (the file's own definitions).
_HELPERS: Mapping[str, tuple[str, ...]] = {
    "simple_assist_msg": ("content", "reasoning", "name", "arguments", "id"),
    "message_with_tool_calls": ("name", "arguments"),
    "message_with_tool_calls_and_reasoning": ("name", "arguments", "reasoning"),
    "message_with_reasoning_content_and_multiple_tool_calls": ("reasoning", "content", "calls"),
    "message_with_content_and_tool_call": ("content", "name", "arguments"),
    "message_with_reasoning_and_tool_call": ("reasoning", "name", "arguments"),
}


@dataclass(frozen=True, slots=True)
class _Tables:
    tools: Mapping[str, Tool]
    messages: Mapping[str, Value]


@dataclass(slots=True)
class _Expected:
    content: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)


def llamacpp_outcomes(tree: Path, run: Run) -> Iterator[Outcome]:
    """The outcome of each test of the file in a source tree."""
    found = sorted(tree.rglob("tests/test-chat.cpp"))
    if not found:
        raise SystemExit(f"there is no tests/test-chat.cpp in {tree}")
    yield from outcomes_of(found[0].read_text("utf-8"), run)


def outcomes_of(source: str, run: Run) -> Iterator[Outcome]:
    """The outcome of each test of such a source. A test is named by its template and its number behind it."""
    messages = {match[1]: _read_value(source, match.end()) for match in _MESSAGE.finditer(source)}
    tables = _Tables(dict(_tools(source)), messages)
    template, number = "", 0
    for match in _PLACE.finditer(source):
        if not match[0].startswith("tst"):
            template, number = Path(match["template"] or "?").stem, 0
            continue
        number += 1
        if run.has(test := f"{template} {number}"):
            yield _outcome(test, template, CxxReader(source, match.start() + match[0].index(".")), tables, run)


def _outcome(test: str, template: str, reader: CxxReader, tables: _Tables, run: Run) -> Outcome:
    try:
        calls = list(reader.chain())
        text, expected = _text(calls[0].arguments[0]), _expected(calls, tables.messages)
        named = [one for call in calls if call.name == "tools" for one in _names(call.arguments[0])]
        declared = tuple([tables.tools[one] for one in named])
    except (UnreadError, KeyError, IndexError):
        return Outcome(test, None, "not read")
    fmt = get_format(select(Evidence(model_id=template, text=text, tools=[tool.name for tool in declared])).name)
    if fmt.name == "passthrough" or not _is_asked(calls):
        return Outcome(test, None, "no format" if fmt.name == "passthrough" else "not about a whole output")
    formats = [call.arguments for call in calls if call.name == "reasoning_format"] or [(Name(_KEPT),)]
    if formats[-1] == (Name(_KEPT),) and "think" in text.casefold() and not expected.reasoning:
        return Outcome(test, None, "reasoning is kept as text")
    return _compared(test, text, Reader(fmt, Context(tools=declared or _NONE), run.contract(test), run.mode), expected)


def _compared(test: str, text: str, reader: Reader, expected: _Expected) -> Outcome:
    wrong = ""
    for reasoning_open in (False, True):
        opened = replace(reader, context=replace(reader.context, reasoning_open=reasoning_open))
        try:
            difference = _difference(opened.message(text), expected)
        except AssertionError as error:
            return Outcome(test, False, str(error))
        if difference is None:
            return Outcome(test, True)
        wrong = wrong or f"{reader.fmt.name}: {difference}"
    return Outcome(test, False, wrong)


def _difference(message: Message, expected: _Expected) -> str | None:
    calls = [(call.name, _loaded(call.arguments)) for call in message.tool_calls]
    wanted = [(name, _loaded(arguments)) for name, arguments in expected.calls]
    reasoning = (message.reasoning or "").strip()
    for what, found, asked in (
        ("content", (message.content or "").strip(), expected.content.strip()),
        ("reasoning", reasoning, _of_the_model(expected.reasoning.strip(), reasoning)),
        ("calls", calls, wanted),
    ):
        if found != asked:
            return f"{what} {found!r:.80} for {asked!r:.80}"
    return None


def _of_the_model(asked: str, found: str) -> str:
    """The reasoning that was asked for without the words with which the prompt opens it (Apriel's)."""
    opened, _, rest = asked.partition("\n")
    return rest if found and opened == "Here are my reasoning steps:" else asked


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def _expected(calls: list[Call], messages: Mapping[str, Value]) -> _Expected:
    expected = _Expected()
    for call in calls:
        match call.name:
            case "expect":
                expected = _message(call.arguments[0], messages)
            case "expect_content":
                expected.content = _text(call.arguments[0])
            case "expect_reasoning":
                expected.reasoning = _text(call.arguments[0])
            case "expect_tool_calls":
                expected.calls = _calls(call.arguments[0])
    return expected


def _message(value: Value, messages: Mapping[str, Value]) -> _Expected:
    if isinstance(value, Name):
        return _message(messages[value.text], messages)
    if not isinstance(value, Call):
        raise UnreadError("message")
    said = dict(zip(_HELPERS[value.name], value.arguments, strict=False))
    calls = _calls(said["calls"]) if "calls" in said else []
    if "name" in said:
        calls = [(_text(said["name"]), _text(said.get("arguments", "")))]
    return _Expected(_text(said.get("content", "")), _text(said.get("reasoning", "")), calls)


def _calls(value: Value) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        raise UnreadError("calls")
    parts = [one if isinstance(one, list) else [] for one in value]
    return [(_text(one[0]), _text(one[1])) for one in parts]


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise UnreadError("text")
    return value


def _names(value: Value) -> list[str]:
    if not isinstance(value, list):
        raise UnreadError("tools")
    return [one.text for one in value if isinstance(one, Name)]


def _is_asked(calls: list[Call]) -> bool:
    asked = [call for call in calls if call.name in _ASIDE and call.arguments != (Name("false"),)]
    return calls[-1].name == "run" and not asked


def _read_value(source: str, start: int) -> Value:
    try:
        return CxxReader(source, start).value()
    except UnreadError:
        return []


def _tools(source: str) -> Iterator[tuple[str, Tool]]:
    for match in _TOOL.finditer(source):
        value = _read_value(source, match.end())
        if isinstance(value, list) and len(value) > 2 and isinstance(value[0], str) and isinstance(value[2], str):
            yield match[1], Tool(value[0], parameters=json.loads(value[2] or "{}"))
