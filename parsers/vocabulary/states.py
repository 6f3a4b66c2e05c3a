"""The state of a parser: taken down, compared, and gone back to.

A parser that can do this is made of parts: objects that hold its state in their attributes. `state_of` takes all of it
down as one value that never changes, and `go_back` puts it into the same objects again, so that what they know of each
other stays right. Equal states have one future: fed the same, parsers in them send the same from there on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from types import BuiltinFunctionType
from typing import Any, ClassVar, Protocol, runtime_checkable

from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import StreamParser


class Part:
    """Base of the objects that a parser's state is in.

    The state are the attributes: plain values, constants, lists and sets of them, and further parts. `APART` names the
    attributes of a class that are none of it: what is set once, what is set anew before it is read, links to others.
    `INSTEAD` names properties that say in one form what attributes apart say in several.
    """

    __slots__ = ()
    APART: ClassVar[frozenset[str]] = frozenset()
    INSTEAD: ClassVar[tuple[str, ...]] = ()


class Constant:
    """Base of objects that never change once they are made."""

    __slots__ = ()


class Pieces(list[str]):
    """Text in pieces, of which only matters what they say joined."""


class Placed(list[Any]):
    """Pieces of text (text, start) or (text, start, end), of which only matters what they say and where."""


@dataclass(slots=True, frozen=True)
class State:
    """The state of a parser. It is of use to the instance it was taken from, until that begins another output."""

    value: tuple[Any, ...]
    parts: tuple[Part, ...] = field(compare=False)


@runtime_checkable
class Resumable(StreamParser, Protocol):
    """A parser whose state can be taken down between two deltas.

    A delta of more than `stride` characters is read as if it came in several, which end where the characters of the
    output so far are a multiple of `stride`; in ids mode at the end of a recorded marker that stands there.
    """

    stride: int

    def snapshot(self) -> State | None:
        """The state; None where this parser cannot say. It may not be asked after finish()."""

    def resume(self, state: State) -> None:
        """Go back to a state of this output. `rejected`, `examined` and the transitions stay as they are."""


def state_of(part: Part) -> State:
    """The state of a part and of all parts in it. Raises TypeError for a value of which it is not known if it is one."""
    parts: list[Part] = []
    value = _part(part, parts, {})
    return State(value, tuple(parts))


def go_back(state: State) -> None:
    """Give the parts the values that they had."""
    _put_back(state.value, iter(state.parts), state.parts)


# taken down: a part is a tuple of its class and its values, a container one of its class and what is in it

_Seen = dict[int, int]  # the number of a part by its identity
_PLAIN = frozenset({str, int, bool, type(None)})
_CONSTANT = (Constant, Event, DropReason, Enum, type, dict, frozenset, BuiltinFunctionType)  # a dict is JSON data
_AGAIN = object()  # stands before the number of a part that was taken down already


def _part(part: Part, parts: list[Part], seen: _Seen) -> tuple[Any, ...]:
    if id(part) in seen:
        return (_AGAIN, seen[id(part)])
    seen[id(part)] = len(parts)
    parts.append(part)
    kind, *values = _layout(part).values(part)
    return (kind, *[value if type(value) in _PLAIN else _value(value, parts, seen) for value in values])


def _value(value: Any, parts: list[Part], seen: _Seen) -> Any:
    if isinstance(value, Part):
        return _part(value, parts, seen)
    kind = type(value)
    if kind is list:
        return (kind, *[one if type(one) in _PLAIN else _value(one, parts, seen) for one in value])
    if kind in _FORMS:
        return (kind, _FORMS[kind](value))
    if isinstance(value, _CONSTANT):
        return value
    raise TypeError(f"nothing says whether a {kind.__name__} is state: {value!r}")


def joined_places(pieces: list[Any]) -> tuple[Any, ...]:
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
    Placed: joined_places,
    tuple: tuple,
    set: frozenset,
    Counter: lambda counts: frozenset((+counts).items()),
}
_MADE_OF: dict[type, Callable[[Any], Any]] = {
    Pieces: lambda text: Pieces([text] if text else []),
    Placed: Placed,
    tuple: tuple,
    set: set,
    Counter: lambda counts: Counter(dict(counts)),
}


# put back


def _put_back(value: tuple[Any, ...], fresh: Iterator[Part], parts: tuple[Part, ...]) -> Part:
    part = next(fresh)
    for name, one in zip(_layout(part).names, value[1:], strict=True):
        setattr(part, name, one if type(one) is not tuple else _made(one, fresh, parts))
    return part


def _made(value: tuple[Any, ...], fresh: Iterator[Part], parts: tuple[Part, ...]) -> Any:
    kind = value[0]
    if kind is _AGAIN:
        return parts[value[1]]
    if kind is list:
        return [one if type(one) is not tuple else _made(one, fresh, parts) for one in value[1:]]
    make = _MADE_OF.get(kind)
    return _put_back(value, fresh, parts) if make is None else make(value[1])


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


def _laid_out(part: Part) -> _Layout:
    classes = type(part).__mro__
    apart = {name for one in classes for name in vars(one).get("APART", ())}
    instead = [name for one in classes for name in vars(one).get("INSTEAD", ())]
    slots = [name for one in classes for name in vars(one).get("__slots__", ())]
    own = [*slots, *getattr(part, "__dict__", ())]
    names = tuple([*[name for name in own if name not in apart], *instead])
    return _Layout(names, attrgetter("__class__", *names))
