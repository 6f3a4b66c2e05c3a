"""The right reading of an output, part by part: what its grammar's own machine makes of it, and where it stands.

Which reading is right: the one of the built-in parser of the format. What another parser makes of the same output is
held against it, and what a contract lets pass is told from the places: which characters are a call, which blanks stand
around it, what markup was no call. All is taken from the events of that parser, once, in linear time.

`Said` is a message whose text still has its places. A stretch that is not shown is white space that the reading leaves
out beside calls or reasoning; it is there because a server may show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import (
    END_TOKEN,
    CallEnd,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningEnd,
    ReasoningText,
)
from parsers.vocabulary.types import Message, ToolCall

DROPPED = "dropped"  # what is said of a call some of whose characters reach nobody
_BLANKS = frozenset({Cause.BLANK_AT_CALL, Cause.SEPARATOR_AT_CALL, Cause.REASONING_TAIL})


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a channel's text and the characters of the output that it stands for."""

    text: str
    start: int
    end: int
    shown: bool = True


@dataclass(slots=True, eq=False)
class CallPlace:
    """Where a call stands, from its marker to its end, and where its name begins. `said`: what was said of it while it
    was open, by code and place. `in_reasoning`: reasoning ended where it began."""

    start: int
    end: int = 0
    named: int = 0
    in_reasoning: bool = False
    said: list[tuple[str, int]] = field(default_factory=list)

    def places(self, code: str) -> list[int]:
        """Where something was said of it."""
        return [at for one, at in self.said if one == code]


@dataclass(frozen=True, slots=True)
class Said:
    """A message as parts of the output: `calls` with the places where they stand, by their order."""

    reasoning: str
    content: tuple[Stretch, ...]
    calls: tuple[tuple[CallPlace, ToolCall], ...]

    @property
    def text(self) -> str:
        """Its content."""
        return "".join([part.text for part in self.content if part.shown])

    @property
    def message(self) -> Message:
        """It without the places."""
        return Message(self.reasoning, self.text, [call for _, call in self.calls])


@dataclass(slots=True)
class RightReading:
    """What the events say: `calls` by number; `markers`, `dropped` and `said` stand outside of calls, in the order of
    the output. `reasoning` holds stretches too; `reasoned` is where the output goes on after reasoning, `stops` where
    it ends but for tokens that end the turn."""

    content: list[Stretch] = field(default_factory=list)
    reasoning: list[Stretch] = field(default_factory=list)
    calls: list[CallPlace] = field(default_factory=list)
    markers: list[tuple[int, int]] = field(default_factory=list)
    dropped: list[tuple[int, int, DropReason]] = field(default_factory=list)
    said: list[tuple[str, int, int]] = field(default_factory=list)
    reasoned: int = 0
    stops: int = 0

    def message(self, right: Message) -> Said | None:
        """The message with its places; None where the events are those of another one."""
        if len(self.calls) != len(right.tool_calls):
            return None
        calls = tuple(zip(self.calls, right.tool_calls, strict=True))
        found = Said(right.reasoning or "", tuple(self.content), calls)
        return found if found.text == (right.content or "") else None


def read_events(events: Iterable[Event], text: str) -> RightReading:
    """The reading that a parser's events tell, of the output `text`."""
    reader = _Reader(text)
    for event in events:
        reader.take(event)
    return reader.whole()


class _Reader:
    """Takes events in their order."""

    def __init__(self, text: str) -> None:
        self.found = RightReading()
        self._text = text
        self._open: CallPlace | None = None
        self._marker = (0, 0)  # the last one
        self._reasoning_end = -1
        self._blank_markers: list[Stretch] = []
        self._ends: list[tuple[int, int]] = []  # tokens that end the turn

    def whole(self) -> RightReading:
        """All of it, in the order of the output: what waited comes after what it waited for. White space that is
        structure stands at the beginning of reasoning, or behind it."""
        found = self.found
        first = min([part.start for part in found.reasoning if part.shown], default=-1)
        found.reasoning += [blank for blank in self._blank_markers if blank.end == first]
        found.content += [blank for blank in self._blank_markers if blank.start == found.reasoned > 0]
        for parts in (found.content, found.reasoning):
            parts.sort(key=lambda part: part.start)
        found.markers.sort()
        found.stops = len(self._text)
        for start, end in reversed(self._ends):
            found.stops = start if end == found.stops else found.stops
        return found

    def take(self, event: Event) -> None:
        """One event more."""
        found, here = self.found, self._open
        match event:
            case ContentText():
                self._add_content(event)
            case ReasoningText():
                found.reasoning.append(Stretch(event.text, event.start, event.end))
                found.reasoned = event.end
            case ReasoningEnd():
                self._end_reasoning(event)
            case CallStart():
                self._open = CallPlace(event.start, in_reasoning=event.start == self._reasoning_end)
                found.calls.append(self._open)
            case CallName() if here is not None:
                here.named = event.start
            case CallEnd() if here is not None:
                here.end, self._open = event.end, None
            case Diagnostic():
                self._say(event)
            case Marker() | Dropped():
                self._leave_out(event)

    def _add_content(self, event: ContentText) -> None:
        """Text that is longer than its place says white space before it, too."""
        content = self.found.content
        if len(event.text) > event.end - event.start and content and content[-1].end == event.start:
            content[-1:] = [part for part in content[-1:] if part.shown]
        content.append(Stretch(event.text, event.start, event.end))

    def _end_reasoning(self, event: ReasoningEnd) -> None:
        """Reasoning ends with its marker, or where a call begins."""
        self._reasoning_end = event.start
        if self._marker == (event.start, event.end):
            self.found.reasoned = event.end

    def _say(self, event: Diagnostic) -> None:
        if self._open is not None:
            self._open.said.append((event.code, event.start))
        self.found.said.append((event.code, event.start, event.end))

    def _leave_out(self, event: Marker | Dropped) -> None:
        """Markers and what reaches nobody; white space at calls and around reasoning may be shown by another parser."""
        found, text = self.found, self._text[event.start : event.end]
        blank = Stretch(text, event.start, event.end, shown=False) if text.isspace() else None
        if isinstance(event, Dropped):
            cause = event.reason.cause
            if self._open is not None and event.reason.policy is None:
                self._open.said.append((DROPPED, event.start))
            if cause is Cause.UNKNOWN_SPECIAL:
                self._ends.append((event.start, event.end))
            if blank is None or cause not in _BLANKS:
                found.dropped.append((event.start, event.end, event.reason))
            else:
                (found.reasoning if cause is Cause.REASONING_TAIL else found.content).append(blank)
            return
        self._marker = (event.start, event.end)
        if event.terminal == END_TOKEN:
            self._ends.append(self._marker)
        if self._open is None and blank is None:
            found.markers.append(self._marker)
        elif self._open is None and blank is not None:
            self._blank_markers.append(blank)


def groups(said: Said) -> list[list[Stretch]]:
    """The content before the first call, between each two, and after the last one."""
    found: list[list[Stretch]] = [[] for _ in range(len(said.calls) + 1)]
    number = 0
    for part in said.content:
        while number < len(said.calls) and said.calls[number][0].start <= part.start:
            number += 1
        found[number].append(part)
    return found
