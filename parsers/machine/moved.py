"""States of a machine wherever they stand in the output: moved to another place, and compared but for their places.

What a parser makes of a text follows from its state, in which offsets and numbers of calls only say where it is. But
for these, the state in the middle of the tenth call is that in the middle of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from parsers.machine.held_events import HeldEvents
from parsers.vocabulary.events import CallId, CallName, Event, Segment, TextEvent
from parsers.vocabulary.states import NOWHERE, Part, Placed, State, names_of

_PLACES, _NUMBERS, _NEITHER = "places", "numbers", ""  # what the numbers in a value are
_AROUND = (tuple, set, Placed)  # a state has what is in these as one value
_PLAIN = frozenset({str, bool, type(None)})


class Move:
    """Moves states and events on by so many characters and calls; by less than none, back. `made_id` gives the id that
    is made up for a call by its number and name: where one is held, another one stands there then."""

    __slots__ = ("_by", "_calls", "_characters", "_made_id")

    def __init__(self, characters: int, calls: int, made_id: Callable[[int, str], str] | None = None) -> None:
        self._characters = characters
        self._calls = calls
        self._made_id = made_id
        self._by = {_PLACES: characters, _NUMBERS: calls}

    def state(self, state: State) -> State:
        """The state, moved."""
        return State(self._part(state.value), state.parts)

    def event(self, event: Event) -> Event:
        """The event, moved."""
        changed: dict[str, Any] = {"start": event.start + self._characters, "end": event.end + self._characters}
        if hasattr(event, "call"):
            changed["call"] = event.call + self._calls
        if isinstance(event, TextEvent) and event.segments is not None:
            changed["segments"] = tuple([self._segment(part) for part in event.segments])
        return replace(event, **changed)

    def _segment(self, part: Segment) -> Segment:
        by = self._characters
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
        return self._part(value) if _is_part(kind) else value

    def _inside(self, value: Any, what: str) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if what == _NEITHER or value == NOWHERE else value + self._by[what]
        if kind is tuple:
            return tuple([self._inside(one, what) for one in value])
        if kind is Segment:
            return self._segment(value)
        if kind is HeldEvents:
            return HeldEvents(self._held(value.events))
        return self.event(value) if isinstance(value, Event) else value

    def _held(self, events: Sequence[Event]) -> tuple[Event, ...]:
        moved = [self.event(event) for event in events]
        if self._made_id is not None:
            for place, call, name in made_up(moved):
                moved[place] = with_id(moved[place], self._made_id(call, name))
        return tuple(moved)


def made_up(events: Sequence[Event]) -> list[tuple[int, int, str]]:
    """Where the ids stand that were made up, and the numbers and names of their calls: the one follows the other."""
    found = list[tuple[int, int, str]]()
    for place, (given, named) in enumerate(pairwise(events)):
        is_made = isinstance(given, CallId) and given.segments and given.segments[0].kind == "synthetic"
        if is_made and isinstance(named, CallName):
            found.append((place, named.call, named.text))
    return found


def with_id(event: Event, made: str) -> Event:
    """An event of a call of which this id was made up."""
    if not isinstance(event, CallId):
        return event
    return replace(event, text=made, segments=(Segment(made, event.start, event.start, "synthetic"),))


def key_of(state: State, characters: int, calls: int) -> tuple[Hashable, int]:
    """What states share that are the same but for where they stand: behind so many characters and calls. And how many
    values that is, roughly."""
    keys = _Keys(characters, calls)
    return keys.part(state.value), keys.size


class _Keys:
    """Makes keys of what stands behind so many characters and calls."""

    __slots__ = ("_before", "size")

    def __init__(self, characters: int, calls: int) -> None:
        self.size = 0
        self._before = {_PLACES: characters, _NUMBERS: calls}

    def part(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """The key of a part, as states hold it."""
        kind, key = value[0], [value[0]]
        self.size += len(value)
        for one, what in zip(value[1:], _what_is_in(kind), strict=True):
            key.append(one if type(one) in _PLAIN else self._value(one, what))
        return tuple(key)

    def _value(self, value: Any, what: str) -> Any:
        if type(value) is not tuple:
            return self._inside(value, what)
        kind = value[0]
        if kind is list:
            self.size += len(value)
            return (list, *[self._value(one, what) for one in value[1:]])
        if kind in _AROUND:
            self.size += len(value[1])
            places = _PLACES if kind is Placed else what
            return (kind, type(value[1])([self._inside(one, places) for one in value[1]]))
        return self.part(value) if _is_part(kind) else value

    def _inside(self, value: Any, what: str) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if what == _NEITHER else None if value == NOWHERE else value - self._before[what]
        if kind is tuple:
            return tuple([self._inside(one, what) for one in value])
        if kind is dict:
            return id(value)  # JSON data of the request, which lasts longer
        if kind is HeldEvents:
            return tuple([self._event(event) for event in value.events])
        return self._event(value) if kind is Segment or isinstance(value, Event) else value

    def _event(self, event: Any) -> tuple[Any, ...]:
        self.size += _OF_EVENT
        kind: Any = type(event)
        get, whats = _fields_of(kind)
        return (kind, *[self._inside(one, what) for one, what in zip(get(event), whats, strict=True)])


@cache
def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)


@cache
def _what_is_in(kind: Any) -> tuple[str, ...]:
    """What the numbers in each attribute of a class are."""
    places = {name for one in kind.__mro__ for name in vars(one).get("PLACES", ())}
    numbers = {name for one in kind.__mro__ for name in vars(one).get("NUMBERS", ())}
    names = names_of(kind)
    return tuple([_PLACES if name in places else _NUMBERS if name in numbers else _NEITHER for name in names])


_OF_EVENT = 4  # values
_IN_EVENTS = {"start": _PLACES, "end": _PLACES, "call": _NUMBERS}


@cache
def _fields_of(kind: Any) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[str, ...]]:
    """What gives the fields of an event or a segment, and what the numbers in each are."""
    names = kind.__struct_fields__
    return attrgetter(*names), tuple([_IN_EVENTS.get(name, _NEITHER) for name in names])
