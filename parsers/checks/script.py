"""Traces written by hand, for examples: a step is a list of (kind, raw text[, other text]) entries.

Kinds content, reasoning, name, id and arguments write text; with a third item the text written is that one
(converted, or synthetic where the raw text is empty). marker and dropped (third item: the reason, or its words) write
nothing; end and cut close the call; diagnostic has its code as third item. A name without an id gets one made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parsers.vocabulary.drops import UNSAID, DropReason, stated
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningText,
    Segment,
    TextEvent,
)
from parsers.vocabulary.trace import Hold, Ownership, StateView, Step, Trace
from parsers.vocabulary.types import Message, MessageDelta, Span, ToolCall, ToolCallDelta

Entry = tuple[str, ...] | tuple[str, str, DropReason]

_TEXTS: dict[str, type[TextEvent]] = {"content": ContentText, "reasoning": ReasoningText}
_CALL_TEXTS: dict[str, type[CallName] | type[CallId] | type[CallArguments]] = {
    "name": CallName,
    "id": CallId,
    "arguments": CallArguments,
}


class _Writer:
    """Turns entries into events, keeping the place in the text and the open call."""

    def __init__(self, make_ids: bool) -> None:
        self.text = ""
        self._call = -1
        self._closed = True
        self._make_ids = make_ids

    def events(self, entry: Entry) -> list[Event]:
        kind, raw = entry[0], entry[1] if len(entry) > 1 else ""
        start, end = len(self.text), len(self.text) + len(raw)
        self.text += raw
        out = entry[2] if len(entry) > 2 else raw
        if isinstance(out, DropReason):
            return [Dropped(start, end, out)]
        segments = (Segment(out, start, end, "converted" if raw else "synthetic"),) if len(entry) > 2 else None
        if kind in _TEXTS:
            return [_TEXTS[kind](start, end, out, segments)]
        if kind in _CALL_TEXTS:
            begun = self._begin(kind, start) if kind != "arguments" and self._closed else []
            return [*begun, _CALL_TEXTS[kind](start, end, out, segments, call=self._call)]
        return self._other(kind, start, end, out)

    def _begin(self, kind: str, start: int) -> list[Event]:
        self._call, self._closed = self._call + 1, False
        made = f"id-{self._call}"
        ids = [CallId(start, start, made, (Segment(made, start, start, "synthetic"),), call=self._call)]
        return [CallStart(start, start, call=self._call), *(ids if kind == "name" and self._make_ids else [])]

    def _other(self, kind: str, start: int, end: int, out: str) -> list[Event]:
        if kind == "marker":
            return [Marker(start, end, "marker")]
        if kind == "dropped":
            return [Dropped(start, end, stated(out) if out else UNSAID)]
        if kind == "diagnostic":
            return [Diagnostic(start, end, out, "error", "it broke")]
        self._closed = True
        return [CallEnd(start, end, call=self._call, complete=kind == "end")]


def scripted(
    *steps: Sequence[Entry],
    deltas: Mapping[int, MessageDelta | None] | None = None,
    holds: Mapping[int, Sequence[Hold]] | None = None,
    make_ids: bool = True,
    blind: bool = False,
    ended: bool = True,
    **fields: Any,
) -> Trace:
    """A trace of these steps and a last one for the end. `deltas` and `holds` (by step) and `fields` overrule.

    `blind` leaves the deltas only, as from a parser that says nothing about itself.
    """
    writer, made, everything = _Writer(make_ids), list[Step](), list[Event]()
    for index, entries in enumerate([*steps, *([[]] if ended else [])], 1):
        start = len(writer.text)
        events = [event for entry in entries for event in writer.events(entry)]
        everything += events
        delta = _delta(events) if deltas is None or index not in deltas else deltas[index]
        held = tuple((holds or {}).get(index, ()))
        shown = () if blind else tuple(events)
        span, view = Span(start, len(writer.text)), StateView("CONTENT", held)
        made.append(Step(index, span, (), "CONTENT", held, (), shown, delta, view, end=ended and index > len(steps)))
    message = _message(everything)
    trace = Trace("demo", (), {"by": "token"}, "text", writer.text, made, message)
    trace.finish_reason = "tool_calls" if message.tool_calls else "stop"
    trace.partition = [] if blind else _partition(everything)
    for name, value in fields.items():
        setattr(trace, name, value)
    return trace


def _delta(events: Iterable[Event]) -> MessageDelta | None:
    """What a server would send for these events."""
    delta, calls = MessageDelta(), dict[int, ToolCallDelta]()
    for event in events:
        if isinstance(event, ContentText):
            delta.content = (delta.content or "") + event.text
        elif isinstance(event, ReasoningText):
            delta.reasoning = (delta.reasoning or "") + event.text
        elif isinstance(event, (CallName, CallId, CallArguments)):
            call = calls.setdefault(event.call, ToolCallDelta(event.call))
            setattr(call, str(event.owner), (getattr(call, str(event.owner)) or "") + event.text)
    delta.tool_calls = list(calls.values())
    return None if delta == MessageDelta() else delta


def _message(events: Sequence[Event]) -> Message:
    """The message that these events spell."""
    whole = _delta(events) or MessageDelta()
    ends = {event.call: event.complete for event in events if isinstance(event, CallEnd)}
    calls = [ToolCall(c.id, c.name or "", c.arguments or "", ends.get(c.index, False)) for c in whole.tool_calls]
    return Message(whole.reasoning, whole.content, calls)


def _partition(events: Iterable[Event]) -> list[Ownership]:
    return [
        Ownership(event.start, event.end, event.owner, event.reason if isinstance(event, Dropped) else None)
        for event in events
        if event.owner is not None and event.end > event.start
    ]
