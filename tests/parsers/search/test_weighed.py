"""Findings weighed by cuts and contracts: parsers that are wrong under one grade only, or only beside a contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from parsers import find
from parsers.cases.case import CaseError
from parsers.cases.engines import ENGINES, Engine
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.replays.recorded import BlackBox
from parsers.replays.replay import parse
from parsers.search.found import Found
from parsers.selection.registry import build, get_format
from parsers.vocabulary.events import ContentText, Event, Severity
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, Piece, ToolCall, ToolCallDelta
from tests.parsers.search.faulty import engine, engines

TEXT = 'Let me look.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call> It is done.'
CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
TOOLS = [{"name": "f"}, {"name": "g"}]


def found_in(text: str, given: Mapping[str, Engine], **more: Any) -> Found:
    """What a search finds with tokens of a stand-in: words, blanks, signs."""
    case = load_case(
        {"schema": 1, "parser": {"name": "qwen", "engine": "faulty"}, "input": {"text": text}, "tools": TOOLS, **more}
    )
    pieces = [Piece(part) for part in re.findall(r"\w+|\s+|[^\w\s]", text)]
    search = CaseSearch(case, engines=given, pieces=pieces, max_replays=300)
    assert list(search.run())
    return search.result().found


def loses(pattern: str) -> Callable[[list[Event], str], list[Event]]:
    """Content is lost with a delta whose text matches."""

    def change(events: list[Event], text: str) -> list[Event]:
        return [event for event in events if not (isinstance(event, ContentText) and re.search(pattern, text))]

    return change


@pytest.mark.replays
@pytest.mark.parametrize(
    ("pattern", "kind", "severity", "words"),
    [
        (r"^ is", "chunk_boundary", "error", "when the output is cut after character 77, ` is done.` is lost"),
        (r"^is", "chunk_boundary", "warning", "The parser may depend on chunk boundaries: if "),
        (r"^s ", "all_hold", "pass", "All checks hold"),
    ],
)
def test_a_difference_counts_as_much_as_a_server_can_cut(pattern: str, kind: str, severity: str, words: str) -> None:
    found = found_in(TEXT, engines(loses(pattern)))
    said = found.verdict
    assert (said.kind, said.severity) == (kind, severity)
    assert words in said.headline
    worst: Severity = severity if severity != "pass" else "info"  # type: ignore[assignment]
    assert next(one.severity for one in found.findings if one.check == "chunking") == worst


@pytest.mark.replays
def test_what_only_other_cuts_show_is_not_seen_where_only_honest_chunkings_are_tried() -> None:
    compare = {"cuts": "honest"}
    assert found_in(TEXT, engines(loses(r"^is")), compare=compare).verdict.kind == "all_hold"
    found = found_in(TEXT, engines(loses(r"^ is")), compare=compare)
    assert found.verdict.kind == "chunk_boundary"
    assert {group.grade.value for group in found.groups} == {"honest"}


class Foreign:
    """A foreign parser that reads the whole output rightly at its end, and then does as its server likes."""

    def __init__(self, change: Callable[[Message], Message]) -> None:
        self._change = change

    def begin(self, context: Context) -> None:
        self._context, self._text = context, ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self._text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        machine = build(get_format("qwen"))
        said = self._change(parse(machine, [Delta(1, (Piece(self._text),))], self._context))
        calls = [ToolCallDelta(at, f"c{at}", one.name, one.arguments) for at, one in enumerate(said.tool_calls)]
        return MessageDelta(said.reasoning, said.content, calls)


def foreign(change: Callable[[Message], Message]) -> Mapping[str, Engine]:
    return {**ENGINES, "faulty": engine(lambda name: BlackBox(name, Foreign(change)), black_box=True)}


def only(count: int) -> Callable[[Message], Message]:
    return lambda said: replace(said, tool_calls=said.tool_calls[:count])


def shown(change: Callable[[str], str]) -> Callable[[Message], Message]:
    return lambda said: replace(said, content=change(said.content or ""))


def closed(said: Message) -> Message:
    *calls, last = said.tool_calls
    return replace(said, tool_calls=[*calls, ToolCall(last.id, last.name, '{"a": 1}')])


CUT = CALL % ("f", "{}") + '\n<tool_call>\n{"name": "g", "arguments": {"a": 1'
TWO = CALL % ("f", "{}") + "\n" + CALL % ("g", "{}")
BESIDE = [
    ("truncated_call", ["as_streamed", "drop"], CUT, only(1)),
    ("truncated_call", ["as_streamed", "close"], CUT, closed),
    ("unknown_tool", ["keep", "drop"], CALL % ("f", "{}") + CALL % ("h", "{}"), only(1)),
    ("missing_arguments", ["empty", "drop"], CALL % ("f", "{}") + '<tool_call>{"name": "g"}</tool_call>', only(1)),
    ("content_before_calls", ["drop_blank", "drop"], "Well then. " + TWO, shown(lambda _: "")),
    ("content_after_calls", ["drop_blank", "drop"], TWO + " Well then.", shown(lambda _: "")),
    ("content_start", ["keep", "strip"], "\n\nWell then.", shown(str.lstrip)),
]


@pytest.mark.replays
@pytest.mark.parametrize(("key", "values", "text", "change"), BESIDE)
def test_a_foreign_parser_that_differs_only_in_what_its_contract_allows_is_not_blamed(
    key: str, values: list[str], text: str, change: Callable[[Message], Message]
) -> None:
    found = found_in(text, foreign(change), contract={"name": "own", key: values})
    assert found.verdict.about != "parser", found.verdict.headline
    assert [one.message for one in found.findings if one.severity == "error"] == []
    if found.verdict.kind == "all_hold":
        assert f"the contract `own` allows that ({key}={'|'.join(values)})" in " ".join(found.verdict.sentences)
    else:
        assert found.verdict.kind in ("no_complete_call", "output_flawed")


@pytest.mark.replays
@pytest.mark.parametrize(("key", "values", "text", "change"), BESIDE[3:6])
def test_without_the_contract_it_is(
    key: str, values: list[str], text: str, change: Callable[[Message], Message]
) -> None:
    found = found_in(text, foreign(change), contract={"name": "own", key: values[:1]})
    assert found.verdict.about in ("parser", "output")
    assert found.verdict.severity in ("error", "warning")


def test_the_library_takes_a_contract_and_honest_chunkings_alone() -> None:
    found = find("Well then. It is.", "qwen", contract="vllm", honest_only=True)
    assert found.case.contract == "vllm"
    assert {group.grade.value for group in found.found.groups} == {"honest"}
    own = find(CALL % ("f", "{}"), "qwen", contract={"name": "own", "ids": "stable"})
    assert own.found.verdict.kind == "all_hold"
    with pytest.raises(CaseError, match="there is no contract 'mine'"):
        find("Hi.", "qwen", contract="mine")
