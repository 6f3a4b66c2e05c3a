"""The state of a parser: taken down, compared, and gone back to.

A parser that can do this is made of parts: objects that hold its state in their attributes. `state_of` takes all of it
down as one value that never changes, and `go_back` puts it into the same objects again, so that what they know of each
other stays right. Equal states have one future: fed the same, parsers in them send the same from there on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from types import BuiltinFunctionType
from typing import Any, ClassVar, Protocol, runtime_checkable

from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import StreamParser, Tail
from parsers.vocabulary.types import Delta


class Part:
    """Base of the objects that a parser's state is in.

    The state are the attributes: plain values, constants, lists and sets of them, and further parts. `APART` names the
    attributes of a class that are none of it: what is set once, what is set anew before it is read, links to others.
    `INSTEAD` names properties that say in one form what attributes apart say in several. `PLACES` names the attributes
    whose whole numbers are offsets in the output, and `NUMBERS` those that are numbers of calls: a state with all of
    them moved on is that of the same text further on. NOWHERE is no place.
    """

    __slots__ = ()
    APART: ClassVar[frozenset[str]] = frozenset()
    INSTEAD: ClassVar[tuple[str, ...]] = ()
    PLACES: ClassVar[frozenset[str]] = frozenset()
    NUMBERS: ClassVar[frozenset[str]] = frozenset()


NOWHERE = -1  # the offset, or the number of a call, of what is not there


class Constant:
    """Base of objects that never change once they are made."""

    __slots__ = ()

    @property
    def weight(self) -> int:
        """See State.weight."""
        return 1


class Pieces(list[str]):
    """Text in pieces, of which only matters what they say joined."""


class Placed(list[Any]):
    """Pieces of text (text, start) or (text, start, end), of which only matters what they say and where."""


@dataclass(slots=True, frozen=True)
class State:
    """The state of a parser. It is of use to the instance it was taken from, until that begins another output."""

    value: tuple[Any, ...]
    parts: tuple[Part, ...] = field(compare=False)
    plan: list[Any] = field(default_factory=list, compare=False)

    @property
    def weight(self) -> int:
        """How many values it is, which is what it takes to compare it or to go back to it. A long text is several."""
        return _weight(self.value)


def _weight(value: Any) -> int:
    if type(value) is tuple:
        return 2 + sum(map(_weight, value))
    if type(value) is str:
        return 1 + len(value) // _LONG
    return value.weight if isinstance(value, Constant) else 1


@runtime_checkable
class Resumable(StreamParser, Protocol):
    """A parser whose state can be taken down between two deltas, and between the parts of a long one.

    A delta of more than `stride` characters is read in parts, which end where the characters of the output so far are
    a multiple of `stride`; in ids mode at the end of a recorded marker that stands there. To read all parts but the
    last with `feed_part` and that with `feed` is to feed the delta.
    """

    @property
    def stride(self) -> int:
        """Characters of the longest delta that is read in one."""

    def feed_part(self, delta: Delta) -> list[Event]:
        """Read a part of a long delta that is not its last."""

    def snapshot(self) -> State | None:
        """The state; None where this parser cannot say. It may not be asked after finish()."""

    def resume(self, state: State) -> None:
        """Go back to a state of this output. `rejected`, `examined` and the transitions are no part of it."""


def state_of(part: Part, *, exact: bool = False) -> State:
    """The state of a part and of all parts in it. Raises TypeError for a value that may be state or not.

    `exact`: equal states go on in equal events too, however the text before was cut.
    """
    parts: list[Part] = []
    value = _part(part, parts, {}, _EXACT_FORMS if exact else _FORMS)
    return State(value, tuple(parts))


def go_back(state: State) -> None:
    """Give the parts the values that they had."""
    if not state.plan:
        state.plan.extend(_plan(state))
    for part, given, made in state.plan:
        for name, value in given:
            setattr(part, name, value)
        for name, make, content in made:
            setattr(part, name, make(content))


# taken down: a part is a tuple of its class and its values, a container one of its class and what is in it

_Seen = dict[int, int]  # the number of a part by its identity
_Forms = Mapping[type, Callable[[Any], Any]]
_LONG = 1_000  # characters of a text that weigh as much as a value
_PLAIN = frozenset({str, int, bool, type(None)})
_CONSTANT = (Constant, Event, DropReason, Enum, Tail, type, dict, frozenset, BuiltinFunctionType)  # a dict is JSON data
_AGAIN = object()  # stands before the number of a part that was taken down already


def _part(part: Part, parts: list[Part], seen: _Seen, forms: _Forms) -> tuple[Any, ...]:
    if id(part) in seen:
        return (_AGAIN, seen[id(part)])
    seen[id(part)] = len(parts)
    parts.append(part)
    kind, *values = _layout(part).values(part)
    return (kind, *[value if type(value) in _PLAIN else _value(value, parts, seen, forms) for value in values])


def _value(value: Any, parts: list[Part], seen: _Seen, forms: _Forms) -> Any:
    kind = type(value)
    if kind is list:
        return (kind, *[one if type(one) in _PLAIN else _one(one, parts, seen, forms) for one in value])
    form = forms.get(kind)
    return _one(value, parts, seen, forms) if form is None else (kind, form(value))


def _one(value: Any, parts: list[Part], seen: _Seen, forms: _Forms) -> Any:
    if isinstance(value, Part):
        return _part(value, parts, seen, forms)
    if type(value) is tuple:
        return (tuple, value)
    if isinstance(value, _CONSTANT):
        return value
    raise TypeError(f"nothing says whether a {type(value).__name__} is state: {value!r}")


def _joined_places(pieces: list[Any]) -> tuple[Any, ...]:
    """The pieces, those that follow each other as they stand in the output in one."""
    out: list[Any] = []
    for piece in pieces:
        last = out[-1] if out else None
        if last is not None and _end(last) == piece[1] and _end(piece) is not None:
            out[-1] = (last[0] + piece[0], last[1], *piece[2:])
        else:
            out.append(piece)
    return tuple(out)


def _end(piece: tuple[Any, ...]) -> int | None:
    """Where a piece ends that stands in the output as it is; None for one that does not."""
    end: int = piece[1] + len(piece[0])
    return end if len(piece) == 2 or piece[2] == end else None


_FORMS: dict[type, Callable[[Any], Any]] = {
    Pieces: "".join,
    Placed: _joined_places,
    set: frozenset,
    Counter: lambda counts: frozenset((+counts).items()),
}
_EXACT_FORMS: _Forms = {**_FORMS, Placed: tuple}
_MAKE: dict[type, Callable[[Any], Any]] = {
    Pieces: lambda text: Pieces([text] if text else []),
    Placed: Placed,
    set: set,
    Counter: lambda counts: Counter(dict(counts)),
}


# put back: what each part is given as it is, and what is made anew because it will change

_Plan = list[tuple[Part, list[tuple[str, Any]], list[tuple[str, Callable[[Any], Any], Any]]]]


def _plan(state: State) -> _Plan:
    plan: _Plan = []
    fresh = iter(state.parts)
    _planned(state.value, fresh, state.parts, plan)
    return plan


def _planned(value: tuple[Any, ...], fresh: Iterator[Part], parts: tuple[Part, ...], plan: _Plan) -> Part:
    part, given, made = next(fresh), list[tuple[str, Any]](), list[tuple[str, Callable[[Any], Any], Any]]()
    plan.append((part, given, made))
    for name, one in zip(_layout(part).names, value[1:], strict=True):
        kind = one[0] if type(one) is tuple else None
        if kind is list:
            made.append((name, list, [_found(each, fresh, parts, plan) for each in one[1:]]))
        elif kind in _MAKE:
            made.append((name, _MAKE[kind], one[1]))
        else:
            given.append((name, _found(one, fresh, parts, plan)))
    return part


def _found(value: Any, fresh: Iterator[Part], parts: tuple[Part, ...], plan: _Plan) -> Any:
    """The part or the constant that a value stands for."""
    if type(value) is not tuple:
        return value
    if value[0] is _AGAIN:
        return parts[value[1]]
    return value[1] if value[0] is tuple else _planned(value, fresh, parts, plan)


# what the attributes of a part are


@dataclass(slots=True, frozen=True)
class _Layout:
    """The names of the attributes that are state, and what gives the class and all of their values at once."""

    names: tuple[str, ...]
    values: Callable[[Part], tuple[Any, ...]]


_LAYOUTS: dict[type, _Layout] = {}


def _layout(part: Part) -> _Layout:
    """The layout of a class, by the first part of it that is seen: attributes are there from the beginning."""
    layout = _LAYOUTS.get(type(part))
    if layout is None:
        layout = _LAYOUTS[type(part)] = _laid_out(part)
    return layout


def names_of(kind: type[Part]) -> tuple[str, ...]:
    """The names of the attributes of a class that are state, in order, once a part of it was taken down."""
    return _LAYOUTS[kind].names


def _laid_out(part: Part) -> _Layout:
    classes = type(part).__mro__
    apart = {name for one in classes for name in vars(one).get("APART", ())}
    instead = [name for one in classes for name in vars(one).get("INSTEAD", ())]
    slots = [name for one in classes for name in vars(one).get("__slots__", ())]
    own = [*slots, *getattr(part, "__dict__", ())]
    names = (*[name for name in own if name not in apart], *instead)
    return _Layout(names, attrgetter("__class__", *names))
