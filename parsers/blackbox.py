"""A parser of which only the deltas are seen, behind the interface of the others.

`BlackBox` turns the deltas that a foreign parser sends into events without places: nobody knows which characters a
delta came from. Its state is unknown, it holds nothing it tells of, and it examines characters nobody counts. A call
counts as complete where its arguments are one JSON object at the end, since the deltas do not say.

Checks judge such a parser by what it sends (`Subject.black_box`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from parsers.events import CallArguments, CallEnd, CallId, CallName, CallStart, ContentText, Event, ReasoningText
from parsers.json_values import is_object
from parsers.trace import RejectedCall, StateView, Transition
from parsers.types import Context, Delta, MessageDelta, Mode, ToolCallDelta

UNKNOWN = StateView("UNKNOWN")


class ForeignParser(Protocol):
    """What a foreign parser must be able to do. It may raise; what it raises becomes a finding."""

    def begin(self, context: Context) -> None:
        """Start a new output."""

    def feed(self, delta: Delta) -> MessageDelta | None:
        """What is sent for one delta, or None."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        """The output is over; what is still sent, or None."""


class BlackBox:
    """A foreign parser as a StreamParser."""

    def __init__(self, name: str, foreign: ForeignParser) -> None:
        self.name = name
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self.examined = 0
        self._foreign = foreign
        self._at = 0
        self._arguments: dict[int, list[str]] = {}

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """See StreamParser."""
        self._at, self._arguments = 0, {}
        self._foreign.begin(context)

    def feed(self, delta: Delta) -> list[Event]:
        """See StreamParser."""
        sent = self._foreign.feed(delta)
        self._at += len(delta.text)
        return self._events(sent)

    def finish(self, reason: str | None = None) -> list[Event]:
        """See StreamParser."""
        events = self._events(self._foreign.finish(reason))
        for call, pieces in self._arguments.items():
            events.append(CallEnd(self._at, self._at, call, is_object("".join(pieces))))
        return events

    def view(self) -> StateView:
        """See StreamParser."""
        return UNKNOWN

    def _events(self, sent: MessageDelta | None) -> list[Event]:
        if sent is None:
            return []
        at, events = self._at, list[Event]()
        if sent.reasoning is not None:
            events.append(ReasoningText(at, at, sent.reasoning, ()))
        if sent.content is not None:
            events.append(ContentText(at, at, sent.content, ()))
        for part in sent.tool_calls:
            events += self._call(part)
        return events

    def _call(self, part: ToolCallDelta) -> list[Event]:
        at, call, events = self._at, part.index, list[Event]()
        if call not in self._arguments:
            self._arguments[call] = []
            events.append(CallStart(at, at, call))
        if part.id is not None:
            events.append(CallId(at, at, part.id, (), call))
        if part.name is not None:
            events.append(CallName(at, at, part.name, (), call))
        if part.arguments is not None:
            self._arguments[call].append(part.arguments)
            events.append(CallArguments(at, at, part.arguments, (), call))
        return events
