"""What a delta is read in, and what comes of it as one: long deltas in slices, events that go on from one to the next.

A delta of more than STRIDE characters is read in slices that end at multiples of STRIDE of the output, wherever it
begins itself. So the state after a long delta is that after the same text in several, and a search that cuts an output
in two need not read all of it again (see `Resumable`). In ids mode a marker by its id is never split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeVar

from parsers.vocabulary.events import (
    CallArguments,
    ContentText,
    Event,
    Marker,
    ReasoningText,
    Segment,
    TextEvent,
)
from parsers.vocabulary.states import Constant
from parsers.vocabulary.types import Delta, Piece

STRIDE = 64
STRUCTURE = "structure"
_T = TypeVar("_T", Event, Segment)


def slices(delta: Delta, at: int, *, by_text: bool) -> Iterator[Delta]:
    """The delta, which begins at `at` of the output, in parts that end at multiples of STRIDE."""
    if by_text:
        text, start = delta.text, 0
        for stop in (*range(STRIDE - at % STRIDE, len(text), STRIDE), len(text)):
            yield Delta(delta.index, (Piece(text[start:stop]),))
            start = stop
        return
    pieces: list[Piece] = []
    room = STRIDE - at % STRIDE
    for piece in filter(attrgetter("text"), delta.pieces):
        for part in (piece,) if is_marker(piece) or len(piece.text) <= room else _split(piece, room):
            pieces.append(part)
            room -= len(part.text)
            if room <= 0:
                yield Delta(delta.index, tuple(pieces))
                pieces, room = [], STRIDE - -room % STRIDE
    if pieces:
        yield Delta(delta.index, tuple(pieces))


def is_marker(piece: Piece) -> bool:
    """Return whether a piece is a marker by its id, if it is one at all."""
    return piece.recorded and piece.kind in ("special", "added")


def _split(piece: Piece, room: int) -> Iterator[Piece]:
    """The piece in parts, the first of at most `room` characters."""
    text, start = piece.text, 0
    for stop in (*range(room, len(text), STRIDE), len(text)):
        yield Piece(text[start:stop], None if start else piece.token_id, None, piece.kind, piece.recorded)
        start = stop


def joined(events: Iterable[Event]) -> list[Event]:
    """The events, with text of one kind that goes on in the same place as one, and structure as well."""
    return [run[0] if len(run) == 1 else _one(run) for run in _runs(events, _goes_on)]


def _runs(items: Iterable[_T], goes_on: Callable[[_T, _T], bool]) -> Iterator[list[_T]]:
    run: list[_T] = []
    for item in items:
        if run and not goes_on(run[-1], item):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def _goes_on(before: Event, event: Event) -> bool:
    if type(before) is not type(event) or before.end != event.start:
        return False
    if isinstance(before, Marker) and isinstance(event, Marker):
        return before.terminal == event.terminal == STRUCTURE
    if isinstance(before, CallArguments) and isinstance(event, CallArguments):
        return before.call == event.call
    return isinstance(event, ContentText | ReasoningText)


def _one(run: list[Event]) -> Event:
    first, end, texts = run[0], run[-1].end, [event for event in run if isinstance(event, TextEvent)]
    if not isinstance(first, TextEvent):
        return replace(first, end=end)
    parts = [part for event in texts for part in event.parts()]
    segments = [part[0] if len(part) == 1 else _one_copy(part) for part in _runs(parts, _is_copied_on)]
    plain = len(segments) == 1 and segments[0].kind == "copied"
    text = "".join([event.text for event in texts])
    return replace(first, end=end, text=text, segments=None if plain else tuple(segments))


def _is_copied_on(before: Segment, segment: Segment) -> bool:
    return before.kind == segment.kind == "copied" and before.end == segment.start


def _one_copy(run: list[Segment]) -> Segment:
    return Segment("".join([part.text for part in run]), run[0].start, run[-1].end)


@dataclass(slots=True, eq=False)
class HeldEvents(Constant):
    """Events that are held. They are those of another state if they say the same: segments depend on the deltas."""

    events: tuple[Event, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeldEvents) and self._said() == other._said()

    def _said(self) -> list[Event]:
        return [replace(event, segments=None) if isinstance(event, TextEvent) else event for event in self.events]
