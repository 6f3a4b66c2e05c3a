"""The deltas and the steps of a replay as columns: offsets and small integers, texts by slice, objects made when asked.

Strategy
    A step is a block of its own, or one of many in a block: open text is read delta after delta with nothing to tell
    but where each ends. A block has its events, rows and holds as spans of a kind, and few kinds differ; an event whose
    text is no copy of the output is kept as it is. What follows from the events (a step's delta, the lengths so far)
    is worked out when a step is looked at.

Sizes: 4 bytes a step in open text, about 80 where something happens, besides the output and its tokens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeVar, overload

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Dropped,
    Event,
    Marker,
    ReasoningEnd,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.trace import Hold, StateView, Step, StepColumns, Transition
from parsers.vocabulary.types import Delta, MessageDelta, Piece, Span
from parsers.wire.assemble import delta_of

Item = TypeVar("Item")


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for. It equals every sequence of equal items."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _make(self, index: int) -> Item:
        """The item at `index`, which is inside the sequence."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self._make(at) for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._make(at)

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))


class Deltas(Lazy[Delta]):
    """The deltas of an output: its pieces in order, and how many of them have come by the end of each delta.

    Without `stops` every piece is a delta. `ids` are those that come with each delta where text is late.
    """

    __slots__ = ("_ids", "_pieces", "_stops")

    def __init__(
        self,
        pieces: Sequence[Piece],
        stops: Sequence[int] | None = None,
        ids: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self._pieces = pieces
        self._stops = stops
        self._ids = ids

    def __len__(self) -> int:
        return len(self._pieces if self._stops is None else self._stops)

    @property
    def texts(self) -> list[str]:
        """The text of every delta."""
        if self._stops is None:
            return [piece.text for piece in self._pieces]
        return ["".join([piece.text for piece in parts]) for parts in map(self._parts, range(len(self)))]

    def _parts(self, index: int) -> tuple[Piece, ...]:
        if self._stops is None:
            return (self._pieces[index],)
        return tuple(self._pieces[self._stops[index - 1] if index else 0 : self._stops[index]])

    def _make(self, index: int) -> Delta:
        return Delta(index + 1, self._parts(index), None if self._ids is None else self._ids[index])


def texts_of(deltas: Sequence[Delta]) -> list[str]:
    """The text of every delta."""
    return deltas.texts if isinstance(deltas, Deltas) else [delta.text for delta in deltas]


class _Spans:
    """Spans of the output in blocks, each of some kind."""

    __slots__ = ("_ends", "_kinds", "_known", "_starts", "_stops", "codes")

    def __init__(self) -> None:
        self.codes, self._starts, self._ends = array("i"), array("i"), array("i")
        self._stops = array("i")  # how many there are by the end of each block
        self._kinds: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def add(self, kind: tuple[Any, ...], start: int, end: int) -> None:
        """Add a span to the block that is open."""
        code = self._known.get(kind)
        if code is None:
            code = self._known[kind] = len(self._kinds)
            self._kinds.append(kind)
        self.codes.append(code)
        self._starts.append(start)
        self._ends.append(end)

    def close(self) -> None:
        """The open block is over."""
        self._stops.append(len(self.codes))

    def within(self, block: int) -> range:
        """The places of the spans of a block."""
        return range(self._stops[block - 1] if block else 0, self._stops[block])

    def at(self, place: int) -> tuple[int, int, tuple[Any, ...]]:
        """The start, the end and the kind of a span."""
        return self._starts[place], self._ends[place], self._kinds[self.codes[place]]


# What an event is besides its span and the text there, by its type; the first is the type, the rest its last fields.
# An event of another type is kept as it is.
_FACTS: dict[type[Event], Callable[[Any], tuple[Any, ...]]] = {
    ContentText: lambda _: (ContentText,),
    ReasoningText: lambda _: (ReasoningText,),
    CallArguments: lambda event: (CallArguments, event.call),
    CallName: lambda event: (CallName, event.call),
    CallId: lambda event: (CallId, event.call),
    Marker: lambda event: (Marker, event.terminal),
    Dropped: lambda event: (Dropped, event.reason),
    CallStart: lambda event: (CallStart, event.call),
    CallEnd: lambda event: (CallEnd, event.call, event.complete),
    ReasoningEnd: lambda _: (ReasoningEnd,),
}
_AS_IT_IS = (Event,)
_row_of = attrgetter("from_state", "trigger", "to_state", "row", "note")
_shape_of = attrgetter("state", "candidates", "accepts", "call", "codec", "call_state")


class Steps(Lazy[Step], StepColumns):
    """The steps of a replay of `deltas`, whose texts are `texts`.

    `sent` are the deltas that the first steps sent, where these do not follow from their events.
    """

    def __init__(self, deltas: Sequence[Delta], texts: Sequence[str], sent: Sequence[MessageDelta | None] = ()) -> None:
        self.text = "".join(texts)
        self._ends = array("i", accumulate(map(len, texts)))
        self._ends.append(len(self.text))
        self._deltas = deltas
        self._sent = sent
        self._size = 0
        self._over = False
        self._firsts = array("i")  # of each block, its first step
        self._views = array("i")  # of each block, what its view is besides its holds
        self._events, self._moves, self._holds = _Spans(), _Spans(), _Spans()
        self._kept: dict[int, Event] = {}  # by their place among the events
        self._shapes: list[tuple[Any, ...]] = []
        self._shape_codes: dict[tuple[Any, ...], int] = {}
        self._view: StateView | None = None

    # recording

    def add(self, events: Sequence[Event], moves: Sequence[Transition], view: StateView, count: int = 1) -> None:
        """Record a block of `count` steps. Several have no moves, no holds, and at most one event: their text."""
        self._firsts.append(self._size)
        self._size += count
        for event in events:
            self._add_event(event)
        for move in moves:
            self._moves.add(_row_of(move), move.start, move.end)
        for hold in view.holds:
            self._holds.add((hold.kind, hold.reason), hold.start, hold.end)
        self._events.close()
        self._moves.close()
        self._holds.close()
        if view is not self._view:
            self._code, self._view = self._shape_code(_shape_of(view)), view
        self._views.append(self._code)

    def end(self, events: Sequence[Event], moves: Sequence[Transition], view: StateView) -> None:
        """Record the end of the output."""
        self.add(events, moves, view)
        self._over = True

    def _add_event(self, event: Event) -> None:
        facts, start, end = _FACTS.get(type(event)), event.start, event.end
        if isinstance(event, TextEvent) and (event.segments is not None or event.text != self.text[start:end]):
            facts = None
        if facts is None:
            self._kept[len(self._events.codes)] = event
        self._events.add(_AS_IT_IS if facts is None else facts(event), start, end)

    def _shape_code(self, shape: tuple[Any, ...]) -> int:
        code = self._shape_codes.setdefault(shape, len(self._shapes))
        if code == len(self._shapes):
            self._shapes.append(shape)
        return code

    # reading

    @property
    def ends(self) -> Sequence[int]:
        return self._ends

    def __len__(self) -> int:
        return self._size

    def events(self) -> Iterator[tuple[int, Event]]:
        return ((number, event) for number, events in self._written() for event in events)

    def sent(self) -> Iterator[tuple[int, MessageDelta]]:
        yield from ((number, delta) for number, delta in enumerate(self._sent, 1) if delta is not None)
        for number, events in self._written():
            if number > len(self._sent) and (delta := delta_of(events)) is not None:
                yield number, delta

    def holding(self) -> Iterator[tuple[int, tuple[Hold, ...]]]:
        for block, first in enumerate(self._firsts):
            if holds := self._holds_in(block):
                yield first + 1, holds

    def moves(self) -> Iterator[tuple[int, Transition]]:
        return ((first + 1, move) for block, first in enumerate(self._firsts) for move in self._moves_in(block))

    def joined_events(self) -> Iterator[Event]:
        """Every event in order; text that went on over several steps is one."""
        for block in range(len(self._firsts)):
            yield from self._events_in(block)

    def _count(self, block: int) -> int:
        """Return how many steps a block has."""
        after = self._firsts[block + 1] if block + 1 < len(self._firsts) else self._size
        return after - self._firsts[block]

    def _written(self) -> Iterator[tuple[int, Sequence[Event]]]:
        """The number and the events of every step that has any."""
        for block, first in enumerate(self._firsts):
            count, events = self._count(block), self._events_in(block)
            if count == 1 and events:
                yield first + 1, events
            elif events:
                fed = (at for at in range(first, first + count) if self._ends[at] > (self._ends[at - 1] if at else 0))
                yield from ((at + 1, (self._part(events[0], at),)) for at in fed)

    def span(self, index: int) -> tuple[int, int]:
        """The text that the step at `index` is fed, recorded or not."""
        return self._ends[index - 1] if index else 0, self._ends[index]

    def _part(self, event: Event, index: int) -> Event:
        """The part of the text of a block that one of its steps was fed."""
        return self._event(*self.span(index), _FACTS[type(event)](event))

    def _events_in(self, block: int) -> list[Event]:
        return [self._kept.get(place) or self._event(*self._events.at(place)) for place in self._events.within(block)]

    def _event(self, start: int, end: int, facts: tuple[Any, ...]) -> Event:
        kind, *rest = facts
        text = (self.text[start:end], None) if issubclass(kind, TextEvent) else ()
        made: Event = kind(start, end, *text, *rest)
        return made

    def _make(self, index: int) -> Step:
        block = bisect_right(self._firsts, index) - 1
        span, events = Span(*self.span(index)), self._events_in(block)
        if self._count(block) > 1:
            events = [self._part(event, index) for event in events if span.start < span.end]
        holds, moves = self._holds_in(block), self._moves_in(block)
        state, *shape = self._shapes[self._views[block]]
        view = StateView(state, holds, *shape)
        end = self._over and index == self._size - 1
        ids = () if end else self._deltas[index].token_ids
        delta = self._sent[index] if index < len(self._sent) else delta_of(events)
        lengths = self._lengths(block, span.end)
        return Step(index + 1, span, ids, state, holds, moves, tuple(events), delta, view, end, *lengths)

    def _holds_in(self, block: int) -> tuple[Hold, ...]:
        spans = map(self._holds.at, self._holds.within(block))
        return tuple([Hold(start, end, *kind) for start, end, kind in spans])

    def _moves_in(self, block: int) -> tuple[Transition, ...]:
        return tuple([self._move(place, sub) for sub, place in enumerate(self._moves.within(block), 1)])

    def _move(self, place: int, sub: int) -> Transition:
        start, end, (old, trigger, new, row, note) = self._moves.at(place)
        return Transition(old, trigger, new, row, start, end, sub, note)

    def _lengths(self, block: int, end: int) -> tuple[int, int, int]:
        """The lengths of reasoning and content and the number of calls when so much of the output was fed."""
        reasoning, content, calls = (column[block] for column in self._tallies)
        for event in self._events_in(block) if self._count(block) > 1 else ():
            reasoning -= (event.end - end) * isinstance(event, ReasoningText)
            content -= (event.end - end) * isinstance(event, ContentText)
        return reasoning, content, calls

    @cached_property
    def _tallies(self) -> tuple[array[int], array[int], array[int]]:
        """The lengths of reasoning and content and the number of calls after each block."""
        reasoning, content, calls = array("i"), array("i"), array("i")
        sizes, begun = Counter[type[Event]](), set[int]()
        for block in range(len(self._firsts)):
            for event in self._events_in(block):
                if isinstance(event, ReasoningText | ContentText):
                    sizes[type(event)] += len(event.text)
                elif isinstance(event, CallId | CallName | CallArguments | CallEnd):
                    begun.add(event.call)
            reasoning.append(sizes[ReasoningText])
            content.append(sizes[ContentText])
            calls.append(len(begun))
        return reasoning, content, calls
