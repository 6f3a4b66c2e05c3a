"""The checks of what stands beside an output, where the outcome depends on more than their examples show."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.vocabulary.types import Message, ToolCall
from tests.parsers.checks.subjects import X, findings, levels, message, variant


@pytest.mark.parametrize(
    ("facts", "black_box", "expected"),
    [
        ({"bare": False}, True, [("error", None)]),
        ({"bare": True}, True, [("warning", None)]),
        ({"bare": False, "policy": "recovery=fail"}, False, [("info", "recovery=fail")]),
    ],
)
def test_a_neighbour_that_changes_the_first_call(
    facts: dict[str, Any], black_box: bool, expected: list[tuple[str, str | None]]
) -> None:
    made = variant("neighbour", message(), X, **facts)
    assert levels(findings("neighbours", made, black_box=black_box)) == expected


@pytest.mark.parametrize(
    ("before", "after", "kept", "expected"),
    [
        ("Hm.", "Hm. That is all.", True, []),
        ("Hm.", "Hm.That is\nall.", True, []),
        ("That is all.", "That is all.\n\nThat is all.", True, []),
        ("Hm.", "Hm. That is all.That is all.", False, [("error", None)]),
        ("Hm.", "Hm. That is", True, [("warning", None)]),
        ("That is all.", "That is all.", True, [("warning", None)]),
        ("Hm.", "Hm.", False, []),  # the format itself, or its policy, makes no content of it
    ],
)
def test_prose_beside_the_output_is_sent_once(
    before: str, after: str, kept: bool, expected: list[tuple[str, str | None]]
) -> None:
    base, said = (Message(None, text, X.tool_calls) for text in (before, after))
    made = variant("neighbour", said, base, bare=False, prose="That is all.", kept=kept)
    assert levels(findings("neighbours", made, black_box=True)) == expected


def test_a_first_call_that_is_cut_off_may_change() -> None:
    base = Message(None, None, [ToolCall(None, "f", '{"a', complete=False)])
    assert findings("neighbours", variant("neighbour", message(), base, bare=False)) == []


@pytest.mark.parametrize(
    ("now", "channel", "found"),
    [(message(content="Hello"), "content", 0), (message(reasoning="Hello"), "content", 1), (message(), "reasoning", 1)],
)
def test_a_plain_word_shows_where_the_parser_begins(now: Message, channel: str, found: int) -> None:
    assert len(findings("start_state", variant("start_state", now, X, expected=channel, probe="Hello"))) == found


def test_two_starts_that_give_the_same_leave_no_doubt() -> None:
    assert findings("start_state", variant("start_state", X, X, open=True, doubt="</think>")) == []
    [found] = findings("start_state", variant("start_state", message(reasoning="x"), X, open=True, doubt="</think>"))
    assert (found.severity, found.about) == ("info", "request")
    assert (found.expected, found.actual) == ("reasoning 'x'", 'calls \'f({"a": "x"})\'')
    [empty] = findings("start_state", variant("start_state", message(), X, open=False, doubt="</think>"))
    assert empty.expected == "nothing"


@pytest.mark.parametrize(
    ("typed", "plain", "found"),
    [
        ('{"a": 1, "b": 2}', '{"a": "1", "b": 2}', 1),
        ('{"a": true}', '{"a": 1}', 1),
        ('{"a": 1}', '{"b": 1}', 0),
        ('{"a": 1}', "[1]", 0),
        ("[1]", '{"a": 1}', 0),
    ],
)
def test_only_arguments_that_the_schema_changes_are_noted(typed: str, plain: str, found: int) -> None:
    notes = findings("schema_changes", variant("no_tools", message(plain), message(typed)))
    assert [one.severity for one in notes] == ["info"] * found


def test_text_that_is_lost_with_tool_choice_none_is_found() -> None:
    [found] = findings("tool_choice", variant("no_calls", message(), X))
    assert found.message == "Read changed, the output gives no text at all."
    assert findings("tool_choice", variant("no_calls", message(content="text"), X)) == []


def test_a_call_that_is_lost_without_tools_is_found() -> None:
    kept = variant("no_calls", message(content="text"), X)
    [found] = findings("tool_choice", kept, variant("no_tools", message(content="text"), X))
    assert found.message == "Read changed, the output does not give call 0 (`f`)."
    assert findings("tool_choice", kept, variant("no_tools", X, X)) == []
