"""A replay as the parts of an answer that begin, grow and end: what the event streams of other APIs are made of.

A run of reasoning or of content is a part and ends where anything else begins. A call is one from where its name is
known until the parser ends it; arguments that come before the name wait for it, for no such stream can begin a call
without one. A call that nobody ends, or names, does so with the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from parsers.vocabulary.events import CallArguments, CallEnd, CallId, CallName, ContentText, Event, ReasoningText
from parsers.vocabulary.trace import Trace

PartKind = Literal["reasoning", "content", "call"]


@dataclass(slots=True)
class Part:
    """A part of an answer; `index` is its place there. `id` and `name` are those of a call."""

    index: int
    kind: PartKind
    id: str = ""
    name: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All that was said of it so far."""
        return "".join(self.said)


class Move(Enum):
    """What happens to a part."""

    BEGINS = auto()
    GROWS = auto()
    ENDS = auto()


Moved = tuple[int, Move, Part, str]  # the step, and for GROWS the text


@dataclass(slots=True)
class _Call:
    id: str = ""
    waiting: str = ""
    part: Part | None = None


@dataclass(slots=True)
class _Walker:
    """Goes through the events of a replay. `text` is the part of text that is open, `calls` those that are not over."""

    count: int = 0
    text: Part | None = None
    calls: dict[int, _Call] = field(default_factory=dict)

    def take(self, step: int, event: Event) -> Iterator[Moved]:
        if isinstance(event, ReasoningText):
            yield from self._says(step, "reasoning", event.text)
        elif isinstance(event, ContentText):
            yield from self._says(step, "content", event.text)
        elif isinstance(event, CallId):
            self.calls.setdefault(event.call, _Call()).id = event.text
        elif isinstance(event, CallName):
            yield from self._named(step, event.call, event.text)
        elif isinstance(event, CallArguments):
            yield from self._argued(step, event.call, event.text)
        elif isinstance(event, CallEnd):
            yield from self._ended(step, event.call)

    def close(self, step: int) -> Iterator[Moved]:
        """The output is over."""
        yield from self._text_ends(step)
        for number in [*self.calls]:
            yield from self._ended(step, number)

    def _says(self, step: int, kind: PartKind, text: str) -> Iterator[Moved]:
        if not text:
            return
        if self.text is None or self.text.kind != kind:
            yield from self._text_ends(step)
            self.text = self._part(kind)
            yield step, Move.BEGINS, self.text, ""
        yield self._grown(step, self.text, text)

    def _text_ends(self, step: int) -> Iterator[Moved]:
        if self.text is not None:
            yield step, Move.ENDS, self.text, ""
        self.text = None

    def _named(self, step: int, number: int, name: str) -> Iterator[Moved]:
        call = self.calls.setdefault(number, _Call())
        if call.part is not None:
            return
        yield from self._text_ends(step)
        call.part = self._part("call", call.id or f"call_{number}", name)
        yield step, Move.BEGINS, call.part, ""
        if call.waiting:
            yield self._grown(step, call.part, call.waiting)

    def _argued(self, step: int, number: int, text: str) -> Iterator[Moved]:
        call = self.calls.setdefault(number, _Call())
        if call.part is None:
            call.waiting += text
        elif text:
            yield self._grown(step, call.part, text)

    def _ended(self, step: int, number: int) -> Iterator[Moved]:
        call = self.calls.get(number)
        if call is None:
            return
        if call.part is None:
            yield from self._named(step, number, "")
        del self.calls[number]
        if call.part is not None:
            yield step, Move.ENDS, call.part, ""

    def _part(self, kind: PartKind, given: str = "", name: str = "") -> Part:
        self.count += 1
        return Part(self.count - 1, kind, given, name)

    def _grown(self, step: int, part: Part, text: str) -> Moved:
        part.said.append(text)
        return step, Move.GROWS, part, text


def moves(trace: Trace) -> Iterator[Moved]:
    """What happens to the parts of an answer, in order. Linear in the output."""
    walker = _Walker()
    for step, event in trace.events():
        yield from walker.take(step, event)
    yield from walker.close(len(trace.columns.ends))
