"""One event as one line: its name, what it says, and where it stands in the output."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    TextEvent,
)
from parsers.vocabulary.trace import Step
from webapp.page.index import TraceIndex
from webapp.page.roles import DRAWN

CALL_EVENTS = (CallStart, CallId, CallName, CallArguments, CallEnd)
EMITS = {
    "ReasoningText": "reasoning", "ContentText": "content", "CallStart": "tool", "CallId": "tool id",
    "CallName": "tool name", "CallArguments": "tool arguments", "CallEnd": "tool",
}  # fmt: skip


@dataclass(slots=True)
class EventLine:
    """`role` and `text` are what is drawn; `terms` is what the filter searches."""

    step: int
    kind: str
    role: str
    text: str
    detail: str
    start: int
    end: int
    terms: str
    severity: str = ""

    @property
    def span(self) -> str:
        """The place in words."""
        return f"{self.start:,}–{self.end:,}" if self.end > self.start else f"{self.start:,}"


def event_line(index: TraceIndex, step: Step, event: Event) -> EventLine:
    """`event` of `step` as a line."""
    role = DRAWN.get(event.owner or "", event.owner or "")
    line = EventLine(step.index, event.kind, role, _text(index, event), _detail(event), event.start, event.end, "")
    if isinstance(event, Diagnostic):
        line.severity = event.severity
    line.terms = _terms(step, event, line)
    return line


def held_line(index: TraceIndex, step: Step) -> EventLine:
    """The line of a step that only held text back."""
    hold = step.holds[0]
    start, end = min(h.start for h in step.holds), max(h.end for h in step.holds)
    terms = f"held state:{step.state} step:{step.index} {hold.kind} {index.trace.text[start : start + 200]}".lower()
    return EventLine(step.index, "held", "held", index.trace.held_text(step), hold.reason, start, end, terms)


def _text(index: TraceIndex, event: Event) -> str:
    if isinstance(event, TextEvent):
        return event.text
    if isinstance(event, Marker | Dropped):
        return index.trace.text[event.start : event.end]
    return ""


def _detail(event: Event) -> str:
    if isinstance(event, Diagnostic):
        return f"{event.code}: {event.message}"
    if isinstance(event, Dropped):
        return event.reason.words
    if isinstance(event, Marker):
        return event.terminal
    if isinstance(event, CallEnd):
        return f"call {event.call}" + ("" if event.complete else ", cut off")
    words = f"call {event.call}" if isinstance(event, CALL_EVENTS) else ""
    return ", ".join(word for word in (words, _made(event)) if word)


def _made(event: Event) -> str:
    """How a text event's text came from the output, where it is not a plain copy."""
    kinds = {part.kind for part in event.parts()} if isinstance(event, TextEvent) else set()
    return " and ".join(sorted(kinds - {"copied"}))


def _terms(step: Step, event: Event, line: EventLine) -> str:
    words = [f"state:{step.state}", f"step:{step.index}", event.kind]
    if event.kind in EMITS:
        words += [f"emit:{word}" for word in EMITS[event.kind].split()]
    if isinstance(event, CALL_EVENTS):
        words.append(f"call:{event.call}")
    if isinstance(event, Diagnostic):
        words.append(f"err: {event.severity}")
    return " ".join([*words, line.detail, line.text[:200]]).lower()
