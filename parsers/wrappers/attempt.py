"""Events of one reading of a buffer: the calls among them, and what can be done to events as a whole."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallName,
    CallStart,
    ContentText,
    Dropped,
    Event,
    Marker,
    Segment,
    TextEvent,
)
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Delta, Piece


@dataclass(slots=True)
class Call:
    """One call among events: events[first] is its start, events[last] its end; `good`: named, with an object."""

    name: str
    arguments: str
    complete: bool
    first: int
    last: int

    @property
    def value(self) -> dict[str, Any] | None:
        """The arguments as an object, where they are one."""
        return as_object(self.arguments)

    @property
    def good(self) -> bool:
        """Return whether the call has a name and arguments that are one object."""
        return bool(self.name) and self.value is not None


def as_object(text: str) -> dict[str, Any] | None:
    """The JSON object that text is; a JSON string that holds one counts as it. None for anything else."""
    value: Any = text
    for _ in range(2):
        try:
            value = json.loads(value, parse_int=float) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def calls_of(events: Sequence[Event]) -> list[Call]:
    """The calls that were begun, in order; one that was never ended is incomplete."""
    calls: list[Call] = []
    parts: list[str] = []
    for index, event in enumerate(events):
        if isinstance(event, CallStart):
            calls.append(Call("", "", False, index, index))
            parts = []
        elif isinstance(event, CallName):
            calls[-1].name = event.text
        elif isinstance(event, CallArguments):
            parts.append(event.text)
        elif isinstance(event, CallEnd):
            calls[-1].last, calls[-1].complete, calls[-1].arguments = index, event.complete, "".join(parts)
    return calls


def shift_events(events: Iterable[Event], by: int) -> list[Event]:
    """The events of a reading that began at raw offset `by`, in offsets of the whole output."""
    moved = [replace(event, start=event.start + by, end=event.end + by) for event in events] if by else list(events)
    for event in moved if by else ():
        if isinstance(event, TextEvent) and event.segments is not None:
            event.segments = tuple([replace(one, start=one.start + by, end=one.end + by) for one in event.segments])
    return moved


def read_whole(make: Callable[[], StreamParser], context: Context, text: str, at: int) -> list[Event]:
    """The events of a text that stands at raw offset `at`, read whole."""
    parser = make()
    parser.transitions = None
    parser.begin(context)
    events = parser.feed(Delta(1, (Piece(text),))) + parser.finish(context.finish_reason)
    return shift_events(events, at)


def owned_spans(event: Event) -> list[tuple[int, int]]:
    """The raw spans that an event owns."""
    if isinstance(event, TextEvent):
        return [(part.start, part.end) for part in event.parts() if part.end > part.start]
    return [(event.start, event.end)] if isinstance(event, Marker | Dropped) and event.end > event.start else []


def calls_as_text(events: Sequence[Event], text: str, at: int) -> list[Event]:
    """The events with every call turned back into the text it was made of. `text` stands at raw offset `at`."""
    blocks: list[tuple[Call, list[Event]]] = []
    for call in calls_of(events):
        owned = [span for event in events[call.first : call.last + 1] for span in owned_spans(event)]
        start, end = min(owned)[0], max([end for _, end in owned])
        blocks.append((call, [ContentText(start, end, text[start - at : end - at])]))
    return replace_calls(events, blocks)


def without_spans(events: Iterable[Event], taken: Sequence[tuple[int, int]]) -> list[Event]:
    """The events without what content, markers and dropped text own of some raw spans, in order and apart."""
    out: list[Event] = []
    for event in events:
        index = bisect_right(taken, event.start, key=lambda span: span[1])
        if not isinstance(event, ContentText | Dropped | Marker) or index == len(taken):
            out.append(event)
            continue
        at = event.start
        while index < len(taken) and taken[index][0] < event.end:
            out += _part(event, at, taken[index][0])
            at = taken[index][1]
            index += 1
        out += _part(event, at, event.end)
    return out


def with_end_marker(events: list[Event], marker: Marker) -> list[Event]:
    """The events with the end marker that closed them as structure, where it was read as text."""
    if not any(isinstance(event, ContentText) and event.end == marker.end for event in events):
        return events
    return [*without_spans(events, [(marker.start, marker.end)]), marker]


def _part(event: Event, start: int, end: int) -> list[Event]:
    text = {"text": event.text[start - event.start : end - event.start]} if isinstance(event, ContentText) else {}
    return [replace(event, start=start, end=end, **text)] if start < end else []


def replace_calls(events: Sequence[Event], blocks: Iterable[tuple[Call, Sequence[Event]]]) -> list[Event]:
    """The events with those of some calls, in order, replaced."""
    out: list[Event] = []
    done = 0
    for call, block in blocks:
        out += events[done : call.first]
        out += block
        done = call.last + 1
    return [*out, *events[done:]]


def rewrite_arguments(
    events: Sequence[Event], call: Call, segments: Sequence[Segment], more: Sequence[Event]
) -> list[Event]:
    """The events of one call with other arguments, followed by `more` before its end."""
    own = events[call.first : call.last + 1]
    number = next(event.call for event in own if isinstance(event, CallStart))
    place = min([part.start for part in segments]), max([part.end for part in segments])
    arguments = CallArguments(*place, "".join([part.text for part in segments]), tuple(segments), number)
    head = [event for event in own[:-1] if not isinstance(event, CallArguments)]
    return [*head, arguments, *more, own[-1]]


def segments_of(events: Sequence[Event], call: Call) -> list[Segment]:
    """The segments of a call's arguments."""
    own = events[call.first : call.last + 1]
    return [part for event in own if isinstance(event, CallArguments) for part in event.parts()]
