"""The channels of a message: where each character of it comes from, and how much of it was sent by which step."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parsers.vocabulary.channels import CONTENT, REASONING, Channel, Channels, ChannelText
from parsers.vocabulary.events import CallArguments, ContentText, Event, Marker, Segment, TextEvent
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import StateView, Step, Trace
from parsers.vocabulary.types import Message, MessageDelta, Span, ToolCall, ToolCallDelta


def trace(text: str, message: Message, steps: Sequence[tuple[int, Sequence[Event], MessageDelta | None]] = ()) -> Trace:
    """A trace with steps (end of the text fed, events, delta)."""
    made, start = [], 0
    for index, (end, events, delta) in enumerate(steps, 1):
        view = StateView("CONTENT")
        made.append(Step(index, Span(start, end), (), "CONTENT", (), (), tuple(events), delta, view))
        start = end
    return Trace("demo", (), {}, "text", text, made, message)


def calling(text: str, *events: Event, calls: Sequence[ToolCall], cut: int = 1) -> Trace:
    """A trace whose events come one per step, the text fed up to where each ends."""
    steps = [(event.end, [event], None) for event in events]
    return trace(text, Message(tool_calls=list(calls)), [(cut, [], None), *steps])


def test_converted_and_synthetic_text_leads_to_where_its_source_begins() -> None:
    segments = (Segment('{"a": ', 3, 3, "synthetic"), Segment("12", 5, 9, "converted"), Segment("}", 9, 10))
    event = CallArguments(3, 10, '{"a": 12}', segments)
    made = calling("f: =a=12}", event, calls=[ToolCall(None, "", '{"a": 12}')])
    arguments = made.channels[Channel(0, "arguments")]
    assert [arguments.place(n) for n in (2, 7, 8, 99)] == [
        Place(3, 2, "synthetic"),
        Place(5, 2, "converted"),
        Place(9, 2, "copied"),
        Place(10, 2, "copied"),
    ]


@pytest.mark.parametrize(
    "event",
    [ContentText(0, 9, "Hi"), ContentText(0, 2, "Hi", ()), ContentText(0, 2, "Hi", (Segment("H", 0, 1),))],
)
def test_text_whose_source_is_not_told_has_a_step_and_no_offset(event: TextEvent) -> None:
    made = trace("Hi", Message(content="Hi"), [(1, [], None), (2, [event, Marker(2, 2)], None)])
    assert made.channels[CONTENT].place(1) == Place(None, 2)


def test_without_events_the_steps_come_from_the_deltas() -> None:
    deltas = [MessageDelta("Hm", "H"), None, MessageDelta(None, "i", [ToolCallDelta(0, "x", "f", '{"a": 1}')])]
    message = Message("Hm", "Hi", [ToolCall("x", "f", '{"a": 1}')])
    made = trace("Hi", message, [(n, [], delta) for n, delta in enumerate(deltas)])
    assert [(str(channel), text.place(1).step) for channel, text in made.channels.items()] == [
        ("reasoning", 1),
        ("content", 3),
        ("tool_calls[0].name", 3),
        ("tool_calls[0].id", 3),
        ("tool_calls[0].arguments", 3),
    ]


def test_a_channel_that_nobody_wrote_has_no_place() -> None:
    assert trace("", Message(content="Hi")).channels[CONTENT].place(0) == Place(None, None)
    assert ChannelText().place(3) == Place(None, None)


@pytest.mark.parametrize(("raw", "step"), [(0, 1), (2, 1), (3, 3), (5, 4), (6, 4), (99, 4)])
def test_a_character_belongs_to_the_step_that_was_fed_it(raw: int, step: int) -> None:
    made = trace("abcdef", Message(), [(end, [], None) for end in (3, 3, 5, 6)])
    assert made.step_at(raw) == step


def test_a_trace_without_steps_has_no_step() -> None:
    assert trace("", Message()).step_at(0) is None


@pytest.mark.parametrize(
    ("channel", "text", "words"),
    [
        (REASONING, "reasoning", "the reasoning"),
        (CONTENT, "content", "the content"),
        (Channel(0, "name"), "tool_calls[0].name", "the name of call 0 (`f`)"),
        (Channel(1, "arguments"), "tool_calls[1].arguments", "the arguments of call 1"),
        (Channel(0, "complete"), "tool_calls[0].complete", "the end of call 0 (`f`)"),
        (Channel(None, "calls"), "calls", "the number of calls"),
        (Channel(None, "finish_reason"), "finish_reason", "the finish reason"),
    ],
)
def test_a_channel_is_written_as_in_a_message_and_said_in_words(channel: Channel, text: str, words: str) -> None:
    assert (str(channel), channel.words([ToolCall(None, "f", "")])) == (text, words)


def test_a_channel_without_text_is_empty() -> None:
    found = Channels({Channel(2, "name"): ChannelText("f"), CONTENT: ChannelText("a"), Channel(0, "id"): ChannelText()})
    assert (found[REASONING], found.calls) == (ChannelText(), [0, 2])
    assert REASONING not in found
