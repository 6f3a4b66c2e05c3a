"""The writer: adjacent text of one kind is one event, and the events of a tentative call wait."""

from __future__ import annotations

import pytest

from parsers.machine.names import split_header
from parsers.machine.output import Writer
from parsers.vocabulary.drops import Cause
from parsers.vocabulary.events import CallArguments, CallStart, ContentText, Event, Marker, ReasoningText, Segment
from tests.parsers.parsing import trace_of


def test_adjacent_text_is_one_event() -> None:
    writer = Writer()
    writer.text(ContentText, "a", 0, 1)
    writer.text(ContentText, "b", 1, 2)
    assert writer.take() == [ContentText(0, 2, "ab")]
    assert writer.take() == []


def test_a_gap_another_kind_or_another_call_begins_a_new_event() -> None:
    writer = Writer()
    writer.text(ContentText, "a", 0, 1)
    writer.text(ContentText, "c", 2, 3)
    writer.reasoning("d", 3)
    writer.text(CallArguments, "e", 4, 5, call=0)
    writer.text(CallArguments, "f", 5, 6, call=1)
    kinds = [(type(event), event.start) for event in writer.take()]
    assert kinds == [(ContentText, 0), (ContentText, 2), (ReasoningText, 3), (CallArguments, 4), (CallArguments, 5)]


def test_segments_are_spelled_out_once_one_of_them_is_no_copy() -> None:
    writer = Writer()
    writer.text(CallArguments, "ab", 0, 2)
    writer.text(CallArguments, '"', 2, 2, (Segment('"', 2, 2, "synthetic"),))
    writer.text(CallArguments, "c", 2, 3)
    (event,) = writer.take()
    assert isinstance(event, CallArguments)
    assert event.segments == (Segment("ab", 0, 2), Segment('"', 2, 2, "synthetic"), Segment("c", 2, 3))


def test_structure_that_touches_is_one_marker_and_terminals_stay_apart() -> None:
    writer = Writer()
    for start, end, *terminal in ((0, 1), (1, 2), (2, 5, "OPEN"), (5, 6), (7, 8), (8, 8)):
        writer.marker(start, end, *terminal)
    assert writer.take() == [Marker(0, 2), Marker(2, 5, "OPEN"), Marker(5, 6), Marker(7, 8)]


def test_held_events_wait_until_they_are_released_or_forgotten() -> None:
    writer = Writer()
    writer.hold()
    writer.add(CallStart(0, 1))
    writer.text(CallArguments, "{}", 1, 3)
    writer.add(Marker(3, 4))
    assert writer.take() == []
    assert writer.held_arguments() == "{}"
    named: list[Event] = [Marker(0, 0, "NAME")]
    writer.after_start(named)
    held = writer.release()
    assert [event.kind for event in held] == ["CallStart", "Marker", "CallArguments", "Marker"]
    writer.extend(held)
    assert writer.take() == held
    writer.hold()
    writer.add(CallStart(4, 5))
    writer.release()
    assert writer.take() == []


@pytest.mark.parametrize(
    ("header", "declared", "name"),
    [
        ("functions.get_weather:0", (), "get_weather"),
        ("get_weather:0", (), "get_weather"),
        ("get_weather", (), "get_weather"),
        ("functions.my.tool:1", (), "my.tool"),
        ("functions.my.tool:1", ("my.tool", "tool"), "my.tool"),
        ("functions.my.tool:1", ("tool", "fool"), "tool"),
        ("functions.my.tool:1", ("ool", "a tool of a long name"), "my.tool"),
        ("functions.f:0", ("functions.f", "f"), "functions.f"),
        ("a.b.c:1", (), "a.b.c"),
        ("a:b:1", (), "a:b"),
        (":0", (), ":0"),
        ("functions.:0", (), "functions."),
    ],
)
def test_a_header_holds_the_name_between_its_prefix_and_the_last_colon(
    header: str, declared: tuple[str, ...], name: str
) -> None:
    start, end = split_header(header, declared)
    assert header[start:end] == name


@pytest.mark.parametrize(("header", "name"), [("functions.f:0", "f"), ("f", "f"), ("0", None), ("functions.a.0", None)])
def test_a_number_is_no_name(header: str, name: str | None) -> None:
    call = f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    trace = trace_of("kimik2", f"<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>")
    assert [found.name for found in trace.message.tool_calls] == ([] if name is None else [name])
    assert [found.reason.cause for found in trace.rejected_calls] == ([Cause.NUMBER_FOR_NAME] if name is None else [])
