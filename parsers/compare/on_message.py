"""A replay put onto the message that it sends, for a comparison with one that reads no output, as a recording.

The text of such a trace is what was sent, in the order in which it was sent: reasoning, content, names and arguments,
each character with its owner. Ids are no part of it, since every server makes up its own. The steps are those of the
replay: one that sent nothing has no text. O(n).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from parsers.replays.partition import Claim, Partition
from parsers.vocabulary.events import CallId, Dropped, Event, Marker, TextEvent
from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import Span


def on_message(trace: Trace) -> Trace:
    """`trace` as one of the text that it sends. What is held, and what reaches nobody, has no place in that."""
    steps = [*_steps(trace)]
    text = "".join(
        [
            event.text
            for step in steps
            for event in step.events
            if isinstance(event, TextEvent) and event.end > event.start
        ]
    )
    claims = [claim for step in steps for event in step.events for claim in _claims(event)]
    return replace(
        trace,
        text=text,
        steps=steps,
        partition=Partition(lambda: claims, len(text)) if text else [],
        rejected_calls=[],
        observed=None,
    )


def _has_place(event: Event) -> bool:
    return isinstance(event, TextEvent) and not isinstance(event, CallId)


def _steps(trace: Trace) -> Iterator[Step]:
    at = 0
    for step in trace.steps:
        start, events = at, list[Event]()
        for event in step.events:
            if isinstance(event, Marker | Dropped):
                continue
            size = len(event.text) if isinstance(event, TextEvent) and _has_place(event) else 0
            events.append(_at(event, at, size))
            at += size
        moves = tuple([structs.replace(move, start=start, end=start) for move in step.transitions])
        view = structs.replace(step.view, holds=())
        yield structs.replace(step, span=Span(start, at), holds=(), view=view, transitions=moves, events=tuple(events))


def _at(event: Event, at: int, size: int) -> Event:
    """An event at its place in what is sent, of which it is a copy; of an id nobody says where it is from."""
    moved = structs.replace(event, start=at, end=at + size)
    if isinstance(moved, TextEvent):
        moved.segments = None if size else ()
    return moved


def _claims(event: Event) -> Iterator[Claim]:
    if event.owner is not None and event.end > event.start:
        yield event.start, event.end, event.owner, None
