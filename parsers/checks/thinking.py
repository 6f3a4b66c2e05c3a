"""Checks on the boundary between reasoning and answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.checks.alignment import align
from parsers.checks.base import Subject, any_of, check, span_of
from parsers.compare import Channel
from parsers.events import Marker, ReasoningEnd, ReasoningText, TextEvent
from parsers.trace import Finding
from parsers.types import Span


@check(
    "answer_only_in_reasoning",
    "R2",
    "An output that ends by itself has an answer outside its reasoning.",
    severity="warning",
    about="output",
    needs=("finished",),
)
def answer_only_in_reasoning(subject: Subject) -> list[Finding]:
    """At most one finding: a warning where the model is known to have stopped, else a note."""
    message, said = subject.trace.message, subject.context.finish_reason
    answered = (message.content or "").strip() or message.tool_calls
    if answered or not (message.reasoning or "").strip() or said not in (None, "stop"):
        return []
    closed = any_of(subject.closers).search(subject.trace.text) if subject.closers else None
    why = "it is closed, and nothing follows" if closed else "it is never closed"
    why = why if subject.raw else "whether it was closed is not known"
    place = subject.channels["reasoning"].place(0)
    return [
        answer_only_in_reasoning.finding(
            f"All of the output is reasoning: {why}.",
            severity="warning" if said == "stop" else "info",
            about="output" if closed else "request",
            step=place.step,
            span=span_of(place),
            actual=message.reasoning,
        )
    ]


@check(
    "reasoning_boundary",
    "R3",
    "After the marker that ends reasoning nothing is reasoning, until a marker opens it again.",
    needs=("reasoning_markers", "raw"),
)
def reasoning_boundary(subject: Subject) -> list[Finding]:
    """At most one finding: the first reasoning after the end marker, or the first that goes on after a call."""
    return list(_unclosed(subject) if subject.black_box else _beyond(subject))[:1]


def _beyond(subject: Subject) -> Iterator[Finding]:
    """Reasoning by its places: where it stands after a closing marker, with no opening one between."""
    trace, closed = subject.trace, None
    openers, marker = frozenset(subject.openers), ""
    for step, event in trace.events():
        raw = trace.text[event.start : event.end]
        if isinstance(event, Marker):
            marker, closed = raw, None if raw in openers else closed
        elif isinstance(event, ReasoningEnd):
            closed = marker
        elif isinstance(event, ReasoningText) and closed is not None and raw.strip():
            yield _after(event, step.index, closed)


def _after(event: TextEvent, step: int, closer: str) -> Finding:
    span = Span(event.start, event.end)
    message = f"Text after `{closer}` is sent as reasoning."
    return reasoning_boundary.finding(message, step=step, span=span, actual=event.text)


def _unclosed(subject: Subject) -> Iterator[Finding]:
    """The reasoning of a black box, laid over the output up to its first closing marker, if no other opens again."""
    trace, sent = subject.trace, subject.streamed.get("reasoning", Channel(""))
    closer = any_of(subject.closers).search(trace.text)
    agreed = subject.reference is not None and subject.reference.message.reasoning == trace.message.reasoning
    if closer is None or not sent.text or agreed or _opens(subject, closer) or trace.mode == "ids":
        return
    found = align(trace, sent)
    for stretch, end in zip(sent.stretches, found.ends, strict=False):
        if end > closer.end() and stretch.text.strip():
            span = Span(closer.start(), closer.end())
            message = f"Text after `{closer.group()}` is sent as reasoning."
            yield reasoning_boundary.finding(message, step=stretch.step, span=span, actual=stretch.text)


def _opens(subject: Subject, closer: re.Match[str]) -> bool:
    """Whether reasoning may be opened behind the first closing marker, or another format's markers decide."""
    return any_of(subject.openers).search(subject.trace.text, closer.end()) is not None
