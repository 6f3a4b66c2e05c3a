"""Held events say the same however they were cut, and then they are the same."""

from __future__ import annotations

from parsers.machine.held_events import HeldEvents, joined
from parsers.vocabulary.drops import CUT
from parsers.vocabulary.events import (
    CallArguments,
    CallStart,
    ContentText,
    Dropped,
    Event,
    Marker,
    ReasoningText,
    Segment,
)

ESCAPED = Segment("\\n", 4, 5, "converted")


def test_text_that_goes_on_is_one_event() -> None:
    events: list[Event] = [
        CallStart(0, 1),
        CallArguments(1, 3, "ab"),
        CallArguments(3, 4, "c"),
        CallArguments(4, 5, "\\n", (ESCAPED,)),
        CallArguments(5, 6, "d"),
        CallArguments(6, 7, "e", call=1),
        ContentText(7, 8, "f"),
        ContentText(8, 9, "g"),
        ContentText(10, 11, "h"),
        ReasoningText(11, 12, "i"),
    ]
    copied = (Segment("abc", 1, 4), ESCAPED, Segment("d", 5, 6))
    assert joined(events) == [
        CallStart(0, 1),
        CallArguments(1, 6, "abc\\nd", copied),
        CallArguments(6, 7, "e", call=1),
        ContentText(7, 9, "fg"),
        ContentText(10, 11, "h"),
        ReasoningText(11, 12, "i"),
    ]
    assert joined([]) == []


def test_structure_that_goes_on_is_one_event_and_nothing_else_is() -> None:
    events = [
        Marker(0, 1),
        Marker(1, 3),
        Marker(3, 4, "END"),
        Marker(4, 5, "END"),
        Dropped(5, 6, CUT),
        Dropped(6, 7, CUT),
    ]
    assert joined(events) == [Marker(0, 3), *events[2:]]


def test_held_events_are_equal_where_they_say_the_same() -> None:
    plain = HeldEvents((CallStart(0, 1), CallArguments(1, 3, "ab")))
    cut = HeldEvents(
        (CallStart(0, 1), CallArguments(1, 3, "ab", (Segment("a", 1, 2), Segment("b", 2, 3, "converted"))))
    )
    assert plain == cut
    assert plain != HeldEvents((CallStart(0, 1), CallArguments(1, 3, "xb")))
    assert plain != "plain"
    assert HeldEvents(plain.events * 40).weight > HeldEvents(()).weight
