"""Events of what stands in the output. What the prompt prefix wrote (negative offsets) is no output and leaves none."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.machine.output import call_id
from parsers.vocabulary.drops import DropReason
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
    Failure,
    Marker,
    Raised,
    ReasoningText,
    Segment,
    Severity,
)
from parsers.vocabulary.types import Context
from webapp.engines.response_template.calls import Call, Part

STRUCTURE = "structure"


class Emitter:
    """Collects events; `take` hands over those since the last take. `calls` counts the calls begun."""

    def __init__(self, context: Context) -> None:
        self.calls = 0
        self._seed = context.id_seed
        self._events: list[Event] = []
        self._said: set[str] = set()

    def take(self) -> list[Event]:
        """The events since the last take."""
        taken, self._events = self._events, []
        return taken

    def text(self, kind: type[ReasoningText | ContentText], text: str, at: int) -> None:
        """Text of a channel, a plain copy of the output."""
        text, at = (text[-at:], 0) if at < 0 else (text, at)
        if text:
            self._events.append(kind(at, at + len(text), text))

    def inserted(self, kind: type[ReasoningText | ContentText], text: str, at: int) -> None:
        """Text of a channel that stands nowhere in the output."""
        at = max(at, 0)
        if text:
            self._events.append(kind(at, at, text, (Segment(text, at, at, "synthetic"),)))

    def marker(self, start: int, end: int, terminal: str = STRUCTURE) -> None:
        """Structure."""
        if end > max(start, 0):
            self._events.append(Marker(max(start, 0), end, terminal))

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """Leave out characters: they reach nobody."""
        if end > max(start, 0):
            self._events.append(Dropped(max(start, 0), end, reason))

    def add(self, event: Event) -> None:
        """An event that is ready."""
        self._events.append(event)

    def tell(self, code: str, start: int, end: int, message: str, severity: Severity = "warning") -> None:
        """A diagnostic."""
        self._events.append(Diagnostic(max(start, 0), max(end, 0), code, severity, message))

    def fail(self, start: int, end: int, failure: Failure) -> None:
        """What makes transformers raise; here the text is kept, and reading goes on."""
        self._events.append(Raised.at(max(start, 0), max(end, 0), failure))

    def tell_once(self, code: str, start: int, end: int, message: str, about: str = "") -> None:
        """A diagnostic that is said once of each thing."""
        if code + about not in self._said:
            self._said.add(code + about)
            self.tell(code, start, end, message)

    def begin_call(self, at: int, name: Part, given: Part | None) -> int:
        """A call whose name is known; the number of it."""
        call, at = self.calls, max(at, 0)
        self.calls += 1
        self._events.append(CallStart(at, at, call))
        made = call_id("format", "chatcmpl_tool", self._seed, call, name.text)
        part = given or Part(made, (Segment(made, at, at, "synthetic"),))
        for kind, one in ((CallId, part), (CallName, name)):
            self._events.append(kind(one.start, one.end, one.text, one.segments, call))
        return call

    def arguments(self, call: int, part: Part) -> None:
        """A piece of a call's arguments."""
        self._events.append(CallArguments(part.start, part.end, part.text, part.segments, call))

    def end_call(self, call: int, at: int, *, complete: bool) -> None:
        """A call is over."""
        self._events.append(CallEnd(max(at, 0), max(at, 0), call, complete))

    def whole_call(self, call: Call, start: int, end: int, *, complete: bool) -> None:
        """A call that was read at once."""
        number = self.begin_call(start, call.name, call.id)
        self.arguments(number, call.arguments)
        self.end_call(number, end, complete=complete)

    def rest(self, start: int, end: int, owned: Iterable[tuple[int, int]], terminal: str = STRUCTURE) -> None:
        """What of [start, end) nothing owns is structure."""
        at = start
        for first, last in sorted(owned):
            if last > at and first < end:
                self.marker(at, first, terminal)
                at = last
        self.marker(at, end, terminal)
