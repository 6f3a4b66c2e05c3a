"""Events that are held, and whether two states hold the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

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

STRUCTURE = "structure"
_LIGHT = 4  # so many events take as long as a value
_T = TypeVar("_T", Event, Segment)


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

    @property
    def weight(self) -> int:
        """See State.weight. Most events are the very ones of another state."""
        return 1 + len(self.events) // _LIGHT

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeldEvents) or len(self.events) != len(other.events):
            return False
        pairs = zip(self.events, other.events, strict=True)
        return all(one is two or _said(one) == _said(two) for one, two in pairs)


def _said(event: Event) -> Event:
    return replace(event, segments=None) if isinstance(event, TextEvent) else event
