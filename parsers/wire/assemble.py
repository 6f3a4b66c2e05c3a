"""Events to message deltas, and to the whole message.

A call's first delta carries its id, its name and the arguments so far (at least ''); later ones only arguments.
Pieces of one call in one batch of events become one entry, so that a client sees every index at most once in a delta.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    ContentText,
    Event,
    ReasoningText,
)
from parsers.vocabulary.types import Message, MessageDelta, ToolCall, ToolCallDelta

# reasoning, content, and of each call its index, id, name, arguments and whether it is complete
Said = tuple[str, str, tuple[tuple[int, str | None, str, str, bool], ...]]


class _Call:
    __slots__ = ("arguments", "complete", "id", "name")

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []
        self.complete = True


class Assembler:
    """Adds batches of events; each gives at most one delta, and all together the message."""

    def __init__(self) -> None:
        self._reasoning: list[str] = []
        self._content: list[str] = []
        self._calls: defaultdict[int, _Call] = defaultdict(_Call)

    @property
    def calls(self) -> int:
        """Number of calls so far."""
        return len(self._calls)

    def add(self, events: Sequence[Event]) -> MessageDelta | None:
        """Take these events in. Returns the delta they send, or None."""
        self.absorb(events)
        return delta_of(events)

    def absorb(self, events: Iterable[Event]) -> None:
        """Take these events in where only the message counts."""
        event: Any
        for event in events:
            kind = type(event)  # no event is subclassed, and this is asked of every token
            if kind is ContentText:
                self._content.append(event.text)
            elif kind is ReasoningText:
                self._reasoning.append(event.text)
            elif kind is CallArguments:
                self._calls[event.call].arguments.append(event.text)
            elif kind is CallEnd:
                self._calls[event.call].complete = event.complete
            elif kind is CallId:
                self._calls[event.call].id = event.text
            elif kind is CallName:
                self._calls[event.call].name = event.text

    def absorb_of_call(self, event: CallId | CallName | CallArguments | CallEnd, number: int, text: str) -> None:
        """Take in an event as one of the call of this number, with this text."""
        call = self._calls[number]
        if isinstance(event, CallArguments):
            call.arguments.append(text)
        elif isinstance(event, CallEnd):
            call.complete = event.complete
        elif isinstance(event, CallId):
            call.id = text
        else:
            call.name = text

    def absorb_text(self, event: ContentText | ReasoningText, text: str) -> None:
        """Take in an event as one with this text."""
        (self._content if isinstance(event, ContentText) else self._reasoning).append(text)

    def said(self) -> Said:
        """All that was added, in the order in which the calls were begun."""
        calls = [(n, c.id, c.name, "".join(c.arguments), c.complete) for n, c in self._calls.items()]
        return "".join(self._reasoning), "".join(self._content), tuple(calls)

    def take(self, said: Said) -> None:
        """Add what another assembler was given after all that is here."""
        reasoning, content, calls = said
        self._reasoning.append(reasoning)
        self._content.append(content)
        for index, given, name, arguments, complete in calls:
            call = self._calls[index]
            call.id, call.name = call.id if given is None else given, name or call.name
            call.arguments.append(arguments)
            call.complete = call.complete and complete

    def message(self) -> Message:
        """The whole message so far."""
        indices = sorted(self._calls)
        found = [self._calls[index] for index in indices]
        calls = [ToolCall(c.id, c.name, "".join(c.arguments), c.complete) for c in found]
        begun = () if indices == list(self._calls) else tuple([indices.index(index) for index in self._calls])
        return Message("".join(self._reasoning) or None, "".join(self._content) or None, calls, begun)


def delta_of(events: Iterable[Event]) -> MessageDelta | None:
    """The delta that a step with these events sends, or None."""
    reasoning: list[str] = []
    content: list[str] = []
    calls: dict[int, ToolCallDelta] = {}
    for event in events:
        if isinstance(event, ContentText):
            content.append(event.text)
        elif isinstance(event, ReasoningText):
            reasoning.append(event.text)
        elif isinstance(event, (CallId, CallName, CallArguments)):
            _write(calls.setdefault(event.call, ToolCallDelta(event.call)), event)
    if not (reasoning or content or calls):
        return None
    return MessageDelta("".join(reasoning) or None, "".join(content) or None, list(calls.values()))


def _write(delta: ToolCallDelta, event: CallId | CallName | CallArguments) -> None:
    if isinstance(event, CallId):
        delta.id = event.text
    elif isinstance(event, CallName):
        delta.name = event.text
        delta.arguments = delta.arguments or ""
    else:
        delta.arguments = (delta.arguments or "") + event.text
