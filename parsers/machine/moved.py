"""States of a machine wherever they stand in the output: relative to a place and to the calls before it.

What a parser makes of a text follows from its state, in which offsets and numbers of calls only say where it is. Taken
relative to where the text stands, the state in the middle of the tenth call is that in the middle of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from functools import cache
from operator import attrgetter
from typing import Any

from parsers.machine.held_events import HeldEvents
from parsers.vocabulary.events import Event, Segment, TextEvent
from parsers.vocabulary.states import NOWHERE, Part, Placed, State, names_of

_NO_PLACE = object()  # stands for NOWHERE in what is relative
_PLACES, _NUMBERS, _NEITHER = "places", "numbers", ""


class Move:
    """Moves states and events: from a place in the output, with so many characters and calls before it, to what is
    relative to that; or there from what is relative."""

    __slots__ = ("_away", "_by")

    def __init__(self, characters: int, calls: int, *, away: bool) -> None:
        self._away = away
        self._by = {_PLACES: -characters if away else characters, _NUMBERS: -calls if away else calls}

    def state(self, state: State) -> State:
        """The state, moved."""
        return State(self._part(state.value), state.parts)

    def event(self, event: Event) -> Event:
        """The event, moved."""
        changed: dict[str, Any] = {"start": event.start + self._by[_PLACES], "end": event.end + self._by[_PLACES]}
        if hasattr(event, "call"):
            changed["call"] = event.call + self._by[_NUMBERS]
        if isinstance(event, TextEvent) and event.segments is not None:
            changed["segments"] = tuple([self._segment(part) for part in event.segments])
        return replace(event, **changed)

    def _segment(self, part: Segment) -> Segment:
        by = self._by[_PLACES]
        return Segment(part.text, part.start + by, part.end + by, part.kind)

    def _part(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        kind, *values = value
        return (kind, *[self._value(one, what) for one, what in zip(values, _what_is_in(kind), strict=True)])

    def _value(self, value: Any, what: str) -> Any:
        """A value of an attribute in which numbers are `what`, as states hold it."""
        if type(value) is not tuple:
            return self._inside(value, what)
        kind = value[0]
        if kind is list:
            return (list, *[self._value(one, what) for one in value[1:]])
        if kind in _AROUND:
            return (kind, type(value[1])([self._inside(one, _PLACES if kind is Placed else what) for one in value[1]]))
        return self._part(value) if isinstance(kind, type) and issubclass(kind, Part) else value

    def _inside(self, value: Any, what: str) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return self._number(value, what)
        if value is _NO_PLACE:
            return NOWHERE
        if kind is tuple:
            return tuple([self._inside(one, what) for one in value])
        if kind is Segment:
            return self._segment(value)
        if kind is HeldEvents:
            return HeldEvents(tuple([self.event(event) for event in value.events]))
        return self.event(value) if isinstance(value, Event) else value

    def _number(self, value: int, what: str) -> Any:
        if what == _NEITHER:
            return value
        return _NO_PLACE if value == NOWHERE and self._away else value + self._by[what]


_AROUND = (tuple, set, Placed)  # a state has what is in these as one value


@cache
def _what_is_in(kind: type[Part]) -> tuple[str, ...]:
    """What the numbers in each attribute of a class are."""
    places = {name for one in kind.__mro__ for name in vars(one).get("PLACES", ())}
    numbers = {name for one in kind.__mro__ for name in vars(one).get("NUMBERS", ())}
    names = names_of(kind)
    return tuple([_PLACES if name in places else _NUMBERS if name in numbers else _NEITHER for name in names])


def key_of(state: State) -> Hashable:
    """What states that are the same share. Raises TypeError for one that holds what has no such key."""
    key: Hashable = _key(state.value)
    hash(key)
    return key


def _key(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is tuple:
        return tuple([_key(one) for one in value])
    if kind is dict:
        return id(value)  # JSON data of the request, which lasts longer
    if kind is HeldEvents:
        return tuple([_key(event) for event in value.events])
    if kind is Segment or isinstance(value, Event):
        return (kind, *[_key(one) for one in _fields_of(kind)(value)])
    return value


@cache
def _fields_of(kind: type[Event] | type[Segment]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*[field.name for field in fields(kind)])
