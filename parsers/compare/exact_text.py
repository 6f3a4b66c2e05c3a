"""A replay of decoded tokens put onto the exact text, which every token spells.

A character of a decoded text stands where its token has it. What never came out is dropped there, by the decode policy,
so that it can be seen where it was lost. O(n).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import Event, Segment, TextEvent
from parsers.vocabulary.trace import Hold, Ownership, RejectedCall, Step, Trace, Transition
from parsers.vocabulary.types import Piece, Span

LEFT_OUT = DropReason(Cause.NOT_DECODED)
Placed = TypeVar("Placed", Hold, Transition, RejectedCall, Event)


def on_exact_text(trace: Trace, pieces: Sequence[Piece], exact: Sequence[Piece]) -> Trace:
    """`trace`, made of `pieces`, as one of the text of `exact`: the same tokens, all of their text."""
    places = _Places(pieces, exact)
    return replace(
        trace,
        text="".join([piece.text for piece in exact]),
        steps=list(_steps(trace.steps, places)),
        partition=list(_partition(trace.partition, places)) if trace.partition or not trace.text else [],
        rejected_calls=[_at(call, places) for call in trace.rejected_calls],
    )


class _Places:
    """Says where the characters of a decoded text stand in the exact one; `total` is where that ends."""

    __slots__ = ("_places", "total")

    def __init__(self, pieces: Sequence[Piece], exact: Sequence[Piece]) -> None:
        self._places: list[int] = []
        self.total = 0
        for piece, whole in zip(pieces, exact, strict=True):
            size = len(whole.text)
            self._places += [self.total + min(at, max(size - 1, 0)) for at in range(len(piece.text))]
            self.total += size

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters [start, end)."""
        first = self._places[start] if start < len(self._places) else self.total
        return first, self.end(end) if end > start else first

    def end(self, end: int) -> int:
        """The end of the characters before `end`."""
        return min(self._places[end - 1] + 1, self.total) if end else 0

    def stretches(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The characters [start, end) as runs that touch: first and end in the exact text, first in the decoded one."""
        first = start
        for at in range(start, end):
            if at + 1 == end or self._places[at + 1] != self._places[at] + 1:
                yield self._places[first], min(self._places[at] + 1, self.total), first
                first = at + 1


def _steps(steps: Sequence[Step], places: _Places) -> Iterator[Step]:
    """The steps tile the text: what was left out is fed with the text after it."""
    at = 0
    for number, step in enumerate(steps, 1):
        end = places.end(step.span.end) if step.span.end > step.span.start else at
        span = Span(at, places.total if number == len(steps) else max(at, end))
        holds = tuple([_at(hold, places) for hold in step.holds])
        yield structs.replace(
            step,
            span=span,
            holds=holds,
            view=structs.replace(step.view, holds=tuple([_at(hold, places) for hold in step.view.holds])),
            transitions=tuple([_at(item, places) for item in step.transitions]),
            events=tuple([_event(event, places) for event in step.events]),
        )
        at = span.end


def _at(item: Placed, places: _Places) -> Placed:
    start, end = places.span(item.start, item.end)
    return structs.replace(item, start=start, end=end)


def _event(event: Event, places: _Places) -> Event:
    moved = _at(event, places)
    if isinstance(moved, TextEvent) and isinstance(event, TextEvent):
        moved.segments = tuple([part for segment in event.parts() for part in _segments(segment, places)])
    return moved


def _segments(segment: Segment, places: _Places) -> Iterator[Segment]:
    """A copied segment in as many as it takes, now that characters between its own are there again."""
    if segment.kind != "copied" or len(segment.text) != segment.end - segment.start or not segment.text:
        start, end = places.span(segment.start, segment.end)
        yield structs.replace(segment, start=start, end=end)
        return
    for start, end, first in places.stretches(segment.start, segment.end):
        low = first - segment.start
        yield structs.replace(segment, text=segment.text[low : low + end - start], start=start, end=end)


def _partition(runs: Sequence[Ownership], places: _Places) -> Iterator[Ownership]:
    at = 0
    for run in runs:
        for low, end, _ in places.stretches(run.start, run.end):
            start = max(low, at)
            if start > at:
                yield Ownership(at, start, "dropped", LEFT_OUT)
            if end > start:
                yield Ownership(start, end, run.owner, run.reason)
            at = max(at, end)
    if at < places.total:
        yield Ownership(at, places.total, "dropped", LEFT_OUT)
