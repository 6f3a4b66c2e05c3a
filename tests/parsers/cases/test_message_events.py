"""What a message says in order, and what a case may expect of that."""

from __future__ import annotations

import re
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError, Compare, Expect
from parsers.cases.expect import differences, trace_differences
from parsers.cases.export.markdown import markdown
from parsers.cases.io import load_case, to_data
from parsers.cases.message_events import MessageEvent, counted, in_order
from parsers.cases.run import CaseRun, run_case
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Event,
    Marker,
    ReasoningText,
)
from parsers.vocabulary.types import Message, Piece

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TEXT = f"<think>Hm.</think>One.{CALL}Two.{CALL}"
FIRST: dict[str, Any] = {"kind": "tool_call", "name": "f", "arguments": {"a": 1}}
SAID = [{"kind": "reasoning", "text": "Hm."}, {"kind": "text", "text": "One."}, FIRST, {"kind": "text", "text": "Two."}]


def case(events: list[dict[str, Any]], **keys: Any) -> Case:
    """A case that expects these events."""
    given = {"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": TEXT}, "expect": {"events": events}}
    return load_case({**given, **keys})


def run(given: Case) -> CaseRun:
    """The case, replayed by characters."""
    return run_case(given, pieces=[Piece(char) for char in given.text()])


def fields(given: Case) -> list[tuple[str, str, str]]:
    """What is not as expected."""
    found = trace_differences(given.expect, run(given).trace, given.compare)
    return [(one.field, one.expected, one.actual) for one in found]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], []),
        ([ContentText(0, 1, "a"), Marker(1, 2), ContentText(2, 3, "b")], [("text", "ab", "")]),
        ([ContentText(0, 0, ""), ReasoningText(0, 1, "r")], [("reasoning", "r", "")]),
        (
            [CallStart(0, 0, 0), CallId(0, 0, "i", (), 0), CallName(0, 1, "f", None, 0), ContentText(1, 2, "x"),
             CallArguments(2, 3, "{", None, 0), CallArguments(3, 4, "}", None, 0), CallEnd(4, 4, 0)],
            [("tool_call", "{}", "f"), ("text", "x", "")],
        ),
        (
            [CallName(0, 1, "f", None, 0), CallName(1, 2, "g", None, 1), CallArguments(2, 3, "1", None, 0)],
            [("tool_call", "1", "f"), ("tool_call", "", "g")],
        ),
    ],
)  # fmt: skip
def test_parts_of_a_kind_are_one_and_a_call_stands_where_it_was_begun(
    events: list[Event], said: list[tuple[str, str, str]]
) -> None:
    assert [(one.kind, one.text, one.name) for one in in_order(events)] == said


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([*SAID, FIRST], []),
        ([*SAID, {"kind": "tool_call", "name": "f", "raw": '{"a": 1}'}], []),
        (
            [SAID[1], SAID[0], *SAID[2:], FIRST],
            [("events", "text, reasoning, tool_call, text, tool_call", "reasoning, text, tool_call, text, tool_call")],
        ),
        ([*SAID[:3], {"kind": "text", "text": "Too."}, FIRST], [("events[3]", "Too.", "Two.")]),
        ([*SAID, {**FIRST, "name": "g"}], [("events[4]", 'g {"a": 1}', 'f {"a": 1}')]),
        ([*SAID, {**FIRST, "arguments": {}}], [("events[4]", "f {}", 'f {"a": 1}')]),
    ],
)
@pytest.mark.replays
def test_a_case_says_in_which_order_the_parts_come(
    events: list[dict[str, Any]], found: list[tuple[str, str, str]]
) -> None:
    assert fields(case(events)) == found


def test_the_order_is_known_under_every_chunking() -> None:
    whole = run(case([*SAID, FIRST]))
    assert len(whole.compared) > 5
    for one in whole.compared:
        assert trace_differences(whole.case.expect, one.trace) == []


@pytest.mark.replays
def test_where_white_space_does_not_count_text_of_nothing_else_is_none() -> None:
    soft = {"compare": {"whitespace": "soft"}}
    blank = {"kind": "text", "text": "\n"}
    assert fields(case([*SAID, FIRST, blank]))
    assert not fields(case([SAID[0], {"kind": "text", "text": " One. "}, *SAID[2:], FIRST, blank], **soft))
    assert [one[0] for one in fields(case([SAID[0], {"kind": "text", "text": "1"}, *SAID[2:], FIRST], **soft))] == [
        "events[1]"
    ]


def test_a_message_alone_does_not_tell_an_order() -> None:
    expect = case(SAID).expect
    assert expect is not None
    assert differences(expect, Message("Hm.", "One.Two.")) == []
    assert trace_differences(None, run(case([])).trace) == []
    assert [one.field for one in differences(expect, Message(), None, Compare(), [MessageEvent("text", "a")])] == [
        "events"
    ]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"kind": "text"}, "have a 'text'"),
        ({"kind": "text", "text": ""}, "have a 'text'"),
        ({"kind": "reasoning", "text": "a", "name": "f"}, "have a 'text'"),
        ({"kind": "tool_call"}, "has a 'name'"),
        ({"kind": "tool_call", "name": "f", "text": "a"}, "has a 'name'"),
        ({"kind": "tool_call", "name": "f"}, "give 'arguments'"),
        ({"kind": "content", "text": "a"}, "reasoning"),
    ],
)
def test_an_event_that_says_too_little_or_too_much_is_an_error(event: dict[str, Any], words: str) -> None:
    with pytest.raises(CaseError, match=words) as caught:
        case([event])
    assert caught.value.pointer.startswith("/expect/events/0")


def test_events_survive_a_file_and_are_reported() -> None:
    given = case([*SAID[:3], {"kind": "text", "text": "Too."}, FIRST])
    assert load_case(to_data(given)) == given
    assert isinstance(given.expect, Expect)
    report = markdown(run(given))
    assert "| events ✓ |" in report
    assert "| events[3] ✗ | `Too.` | `Two.` |" in report


def test_of_parts_in_another_order_those_are_marked_that_stand_elsewhere() -> None:
    """The order alone is a difference; which of the parts stand where they should is told beside it."""
    report = markdown(run(case([SAID[0], SAID[1], FIRST, FIRST, SAID[3]])))
    marks = dict(re.findall(r"\| (events\S*) (.) \|", report))
    assert "".join(marks.values()) == "✗✓✓✓✗✗"


COUNTED: list[tuple[list[tuple[str, str]], bool, list[tuple[int, str]]]] = [
    ([("text", "a "), ("reasoning", "\n"), ("text", "b"), ("tool_call", "")], True, [(0, "a b"), (3, "")]),
    ([("text", "a "), ("reasoning", "\n"), ("text", "b")], False, [(0, "a "), (1, "\n"), (2, "b")]),
    ([("text", "a"), ("text", "b"), ("reasoning", "r"), ("reasoning", "s")], False, [(0, "ab"), (2, "rs")]),
    (
        [("text", "a"), ("tool_call", ""), ("tool_call", ""), ("text", "b")],
        True,
        [(0, "a"), (1, ""), (2, ""), (3, "b")],
    ),
    ([("text", " "), ("text", "a"), ("text", " ")], True, [(1, "a")]),
    ([("text", ""), ("text", "a")], False, [(1, "a")]),
]


@pytest.mark.parametrize(("parts", "soft", "told"), COUNTED)
def test_the_parts_that_count(parts: list[tuple[str, str]], soft: bool, told: list[tuple[int, str]]) -> None:
    assert counted(parts, soft=soft) == told


@pytest.mark.replays
def test_a_report_shows_the_parts_that_count() -> None:
    """Where white space does not count, a part of nothing else is none on either side."""
    parts = [SAID[0], {"kind": "text", "text": " "}, SAID[1], FIRST, SAID[3], FIRST]
    report = markdown(run(case([*parts[:4], {**SAID[3], "text": "Too."}, FIRST], compare={"whitespace": "soft"})))
    assert "| events ✓ |" in report
    assert "| events[3] ✗ | `Too.` | `Two.` |" in report
    assert fields(case(parts, compare={"whitespace": "soft"})) == []
    assert [one[0] for one in fields(case(parts))] == ["events[1]"]


def test_neighbouring_texts_that_are_expected_are_one() -> None:
    split = [SAID[0], {"kind": "text", "text": "On"}, {"kind": "text", "text": "e."}, FIRST, SAID[3], FIRST]
    assert fields(case(split)) == []
    report = markdown(run(case([*split[:4], {**SAID[3], "text": "Too."}, FIRST])))
    assert "| events[3] ✗ | `Too.` | `Two.` |" in report
