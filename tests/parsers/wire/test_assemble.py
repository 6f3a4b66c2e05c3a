"""Events to deltas to a message."""

from __future__ import annotations

import pytest

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
from parsers.vocabulary.types import Message, MessageDelta, ToolCall, ToolCallDelta
from parsers.wire.assemble import Assembler

BEGUN: list[Event] = [CallStart(0, 0), CallId(0, 0, "id-0"), CallName(0, 1, "f")]


def test_a_batch_gives_one_delta() -> None:
    delta = Assembler().add([ReasoningText(0, 1, "a"), ContentText(1, 2, "b"), ReasoningText(2, 3, "c")])
    assert delta == MessageDelta("ac", "b")


@pytest.mark.parametrize("events", [[], [Marker(0, 1)], [CallStart(0, 0)], [CallEnd(0, 0)]])
def test_what_the_client_does_not_see_gives_no_delta(events: list[Event]) -> None:
    assert Assembler().add(events) is None


def test_a_call_begins_with_id_name_and_arguments_and_goes_on_with_arguments_alone() -> None:
    assembler = Assembler()
    assert assembler.add(BEGUN) == MessageDelta(tool_calls=[ToolCallDelta(0, "id-0", "f", "")])
    assert assembler.add([CallArguments(1, 2, "{")]) == MessageDelta(tool_calls=[ToolCallDelta(0, arguments="{")])


def test_arguments_in_the_batch_of_the_name_are_part_of_its_entry() -> None:
    events = [*BEGUN, CallArguments(1, 2, "{"), CallArguments(2, 3, "}")]
    assert Assembler().add(events) == MessageDelta(tool_calls=[ToolCallDelta(0, "id-0", "f", "{}")])


def test_two_calls_in_one_batch_are_two_entries() -> None:
    second: list[Event] = [CallId(3, 3, "id-1", call=1), CallName(3, 4, "g", call=1)]
    delta = Assembler().add([*BEGUN, *second])
    assert delta is not None
    assert [(call.index, call.name) for call in delta.tool_calls] == [(0, "f"), (1, "g")]


def test_the_message_is_what_the_batches_say_together() -> None:
    assembler = Assembler()
    assert assembler.message() == Message()
    assembler.add([ReasoningText(0, 1, "r"), ContentText(1, 2, "c"), *BEGUN])
    assembler.add([CallArguments(2, 3, "{"), ContentText(3, 4, "d")])
    assembler.add([CallEnd(4, 4, complete=False)])
    assert assembler.message() == Message("r", "cd", [ToolCall("id-0", "f", "{", complete=False)])
    assert assembler.calls == 1
