"""The deltas and the steps of a replay as columns: offsets and small integers, texts by slice, objects made when asked.

Strategy
    A step is a block of its own, or one of many in a block: open text is read delta after delta with nothing to tell
    but where each ends. A block has its events, rows and holds as spans of a kind, and few kinds differ; an event whose
    text is no copy of the output is kept as it is. What follows from the events (a step's delta, the lengths so far)
    is worked out when a step is looked at.

Sizes: 4 bytes a step in open text, about 80 where something happens, besides the output and its tokens.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    Segment,
    TextEvent,
)
from parsers.vocabulary.trace import Hold, OpenText, Ownership, StateView, Step, StepColumns, Tail, Transition
from parsers.vocabulary.types import Delta, MessageDelta, Piece, Span
from parsers.wire.assemble import delta_of

Item = TypeVar("Item")


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for. It equals every sequence of equal items."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _make(self, index: int) -> Item:
        """The item at `index`, which is inside the sequence."""

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
    """Spans of the output, each of some kind and of the block in which it was told."""

    def __init__(self) -> None:
        self._blocks, self._codes, self._starts, self._ends = array("i"), array("i"), array("i"), array("i")
        self.kinds: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, block: int, kind: tuple[Any, ...], start: int, end: int) -> None:
        """Add a span of a block, which is none before that of the last one."""
        code = self._known.get(kind)
        if code is None:
            code = self._known[kind] = len(self.kinds)
            self.kinds.append(kind)
        self._blocks.append(block)
        self._codes.append(code)
        self._starts.append(start)
        self._ends.append(end)

    def lengthen(self, end: int) -> None:
        """The last span ends later."""
        self._ends[-1] = end

    def of(self, block: int) -> range:
        """The places of the spans of a block."""
        first = bisect_left(self._blocks, block)
        return range(first, bisect_right(self._blocks, block, first))

    def at(self, place: int) -> tuple[int, int, tuple[Any, ...]]:
        """The start, the end and the kind of a span."""
        return self._starts[place], self._ends[place], self.kinds[self._codes[place]]

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """For every span the place of its kind among the kinds, its start and its end."""
        return zip(self._codes, self._starts, self._ends, strict=True)

    def by_block(self) -> Iterator[tuple[int, range]]:
        """Every block that has spans, with their places."""
        first, blocks = 0, self._blocks
        while first < len(blocks):
            stop = bisect_right(blocks, blocks[first], first)
            yield blocks[first], range(first, stop)
            first = stop


# What an event is besides its span, its text and its call, by its type: the names of the rest of its fields.
# An event of another type is kept as it is.
_FIELDS: dict[type[Event], tuple[str, ...]] = {
    **dict.fromkeys((ContentText, ReasoningText, CallArguments, CallName, CallId, CallStart, ReasoningEnd), ()),
    Marker: ("terminal",),
    Dropped: ("reason",),
    CallEnd: ("complete",),
}
_OF_CALLS = frozenset({CallArguments, CallName, CallId, CallStart, CallEnd})
_COPIES = frozenset({ContentText, ReasoningText, CallArguments})  # of the text that a step is fed, as a rule
_AS_IT_IS = (Event, False)
_SIMPLE = {kind: (kind, False) for kind, names in _FIELDS.items() if not names}
_row_of = attrgetter("from_state", "trigger", "to_state", "row", "note")
_shape_of = attrgetter("state", "candidates", "accepts", "codec", "call_state")


# The facts about an event but for its span: (its type, whether it has segments, the rest of its fields), and its call.
_Facts = tuple[tuple[Any, ...], int]


class _Events:
    """Events as spans. Text is that of the output, or of the event's segments, which are spans too."""

    def __init__(self, text: str) -> None:
        self.spans = _Spans()
        self._text = text
        self._calls = array("i")
        self._segments = _Spans()  # their block is the place of their event
        self._kept: dict[int, Event] = {}  # by place

    def facts_of(self, event: Event) -> _Facts:
        """The facts about an event; of one that is kept as it is, that it is."""
        kind = type(event)
        if kind not in _FIELDS:
            return _AS_IT_IS, 0
        call = event.call if kind in _OF_CALLS else 0  # type: ignore[attr-defined]
        if isinstance(event, TextEvent):
            if event.segments is not None:
                whole = event.text == "".join([part.text for part in event.segments])
                return (kind, True) if whole else _AS_IT_IS, call
            return _SIMPLE[kind] if event.text == self._text[event.start : event.end] else _AS_IT_IS, call
        return _SIMPLE.get(kind) or (kind, False, *[getattr(event, name) for name in _FIELDS[kind]]), call

    def add(self, block: int, event: Event, facts: _Facts) -> None:
        """Add an event of a block."""
        kind, call = facts
        if kind is _AS_IT_IS:
            self._kept[len(self.spans)] = event
        elif kind[1] and isinstance(event, TextEvent):
            for part in event.segments or ():
                copied = part.kind == "copied" and part.text == self._text[part.start : part.end]
                what = (part.kind, None if copied else part.text)
                self._segments.add(len(self.spans), what, part.start, part.end)
        self.spans.add(block, kind, event.start, event.end)
        self._calls.append(call)

    def at(self, place: int) -> Event:
        """The event at a place."""
        kept = self._kept.get(place)
        if kept is not None:
            return kept
        start, end, kind = self.spans.at(place)
        segments = None
        if kind[1]:
            segments = tuple([self._segment(*self._segments.at(part)) for part in self._segments.of(place)])
        return self.made(start, end, (kind, self._calls[place]), segments)

    def made(self, start: int, end: int, facts: _Facts, segments: tuple[Segment, ...] | None = None) -> Event:
        """An event of these facts. Without segments its text is that of the output."""
        (kind, _, *rest), number = facts
        call = {"call": number} if kind in _OF_CALLS else {}
        found: Event
        if issubclass(kind, TextEvent):
            text = self._text[start:end] if segments is None else "".join([part.text for part in segments])
            found = kind(start, end, text, segments, **call)
        else:
            found = kind(start, end, **call, **dict(zip(_FIELDS[kind], rest, strict=True)))
        return found

    def _segment(self, start: int, end: int, what: tuple[Any, ...]) -> Segment:
        kind, text = what
        return Segment(self._text[start:end] if text is None else text, start, end, kind)

    def claims(self) -> Iterator[Ownership]:
        """The claims of all events. Events of one kind that touch claim as one."""
        joined: list[tuple[int, int, int, int]] = []
        for place, (code, start, end) in enumerate(self.spans.rows()):
            plain = not self.spans.kinds[code][1] and place not in self._kept
            if plain and joined and joined[-1][0] == code and joined[-1][2] == start:
                start, first = joined[-1][1], joined.pop()[3]
                joined.append((code, start, end, first))
            else:
                joined.append((code, start, end, place))
        for code, start, end, place in joined:
            kind = self.spans.kinds[code]
            plain = not kind[1] and place not in self._kept
            yield from claims_of(self.made(start, end, (kind, 0)) if plain else self.at(place))


class Steps(Lazy[Step], StepColumns):
    """The steps of a replay of `deltas`, whose joined text is `text`.

    `sent` are the deltas that the first steps sent, where these do not follow from their events.
    """

    def __init__(self, deltas: Sequence[Delta], text: str, sent: Sequence[MessageDelta | None] = ()) -> None:
        self.text = text
        self._deltas = deltas
        self._sent = sent
        self._size = self._at = 0  # steps, and characters fed
        self._firsts = array("i")  # of each block, its first step
        self._views = array("i")  # of each block, what its view is besides its holds
        self._calls = array("i")  # of each block, the call that is open after it, -1 for none
        self._events, self._moves, self._holds = _Events(text), _Spans(), _Spans()
        self._tails: dict[int, Tail] = {}  # by block
        self._shapes: list[tuple[Any, ...]] = []
        self._shape_codes: dict[tuple[Any, ...], int] = {}
        self._known_views: dict[int, tuple[StateView, int]] = {}  # by their identity, which lasts while they are here
        self._view: StateView | None = None
        self._plain: _Facts | None = None  # what the last step sent, where it was the text it was fed

    # recording

    def add_open(self, count: int, found: OpenText, view: StateView) -> None:
        """Record a block of `count` steps of open text; `view` is that after the last one."""
        if found.tail is not None:
            self._tails[len(self._firsts)] = found.tail
            view = replace(view, holds=tuple([hold for hold in view.holds if hold.end <= self._at]))
        self.add(() if found.event is None else (found.event,), (), view, count=count)
        self._at += found.length

    def add(
        self, events: Sequence[Event], moves: Sequence[Transition], view: StateView, text: str = "", *, count: int = 1
    ) -> None:
        """Record a block: one step, which was fed `text`, or several with the same view, whose text is their event."""
        start, facts = self._at, [self._events.facts_of(event) for event in events]
        self._at = end = start + len(text)
        plain = None
        if len(facts) == 1 and not moves and (events[0].start, events[0].end) == (start, end):
            kind = facts[0][0]
            plain = facts[0] if kind[0] in _COPIES and not kind[1] else None
            if plain is not None and plain == self._plain and view is self._view and not view.holds:
                self._size += 1
                self._events.spans.lengthen(end)
                return
        self._plain, block = plain, len(self._firsts)
        self._firsts.append(self._size)
        self._size += count
        for event, one in zip(events, facts, strict=True):
            self._events.add(block, event, one)
        for move in moves:
            self._moves.add(block, _row_of(move), move.start, move.end)
        for hold in view.holds:
            self._holds.add(block, (hold.kind, hold.reason), hold.start, hold.end)
        if view is not self._view:
            self._code, self._view = self._shape_code(view), view
        self._views.append(self._code)
        self._calls.append(-1 if view.call is None else view.call)

    def close(self) -> None:
        """No step is recorded any more."""
        self._known_views.clear()

    def _shape_code(self, view: StateView) -> int:
        """The place of what a view is besides its holds. A parser gives the same view again and again."""
        known = self._known_views.get(id(view))
        if known is not None:
            return known[1]
        shape = _shape_of(view)
        code = self._shape_codes.setdefault(shape, len(self._shapes))
        if code == len(self._shapes):
            self._shapes.append(shape)
            if not view.holds:
                self._known_views[id(view)] = view, code
        return code

    # reading

    @property
    def ends(self) -> Sequence[int]:
        return self._ends

    @cached_property
    def _ends(self) -> array[int]:
        ends = array("i", accumulate(map(len, texts_of(self._deltas))))
        ends.append(len(self.text))
        return ends

    @property
    def over(self) -> bool:
        """Return whether the end of the output was recorded."""
        return self._size > len(self._deltas)

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
        blocks = dict(self._holds.by_block()) | {block: self._holds.of(block) for block in self._tails}
        for block in sorted(blocks):
            same, first = self._holds_at(blocks[block]), self._firsts[block]
            for index in range(first, first + self._count(block)):
                if holds := (*self._tail_hold(block, index), *same):
                    yield index + 1, holds

    def moves(self) -> Iterator[tuple[int, Transition]]:
        for block, places in self._moves.by_block():
            yield from ((self._firsts[block] + 1, move) for move in self._moves_at(places))

    def claims(self) -> Iterator[Ownership]:
        """The claims of all events. Events of one kind that touch claim as one."""
        return self._events.claims()

    def _count(self, block: int) -> int:
        """Return how many steps a block has."""
        after = self._firsts[block + 1] if block + 1 < len(self._firsts) else self._size
        return after - self._firsts[block]

    def _written(self) -> Iterator[tuple[int, Sequence[Event]]]:
        """The number and the events of every step that has any."""
        for block, places in self._events.spans.by_block():
            first, count, events = self._firsts[block], self._count(block), self._events_at(places)
            if count == 1:
                yield first + 1, events
            else:
                parts = ((at + 1, self._parts(block, events, at)) for at in range(first, first + count))
                yield from ((number, part) for number, part in parts if part)

    def span(self, index: int) -> tuple[int, int]:
        """The text that the step at `index` is fed, recorded or not."""
        return self._ends[index - 1] if index else 0, self._ends[index]

    def _parts(self, block: int, events: Sequence[Event], index: int) -> Sequence[Event]:
        """The part of the text of a block of several that one of its steps sent."""
        start = self._sent_by(block, index - 1) if index > self._firsts[block] else events[0].start
        end = self._sent_by(block, index)
        return () if start == end else [self._events.made(start, end, self._events.facts_of(events[0]))]

    def _sent_by(self, block: int, index: int) -> int:
        """The end of the text of a block that was sent by a step of it."""
        start, end = self.span(index)
        tail = self._tails.get(block)
        return end if tail is None else start + len(self.text[start:end].rstrip(tail.chars))

    def _tail_hold(self, block: int, index: int) -> tuple[Hold, ...]:
        """The hold on the end of the text that a step of a block was fed."""
        tail, start, end = self._tails.get(block), self._sent_by(block, index), self._ends[index]
        return () if tail is None or start == end else (Hold(start, end, "policy", tail.why),)

    def _events_at(self, places: range) -> list[Event]:
        return [self._events.at(place) for place in places]

    def _make(self, index: int) -> Step:
        block = bisect_right(self._firsts, index) - 1
        span = Span(*self.span(index))
        events: Sequence[Event] = self._events_at(self._events.spans.of(block))
        if events and self._count(block) > 1:
            events = self._parts(block, events, index)
        holds = (*self._tail_hold(block, index), *self._holds_at(self._holds.of(block)))
        moves = self._moves_at(self._moves.of(block))
        state, candidates, accepts, codec, call_state = self._shapes[self._views[block]]
        call = None if self._calls[block] < 0 else self._calls[block]
        view = StateView(state, holds, candidates, accepts, call, codec, call_state)
        end = index == len(self._deltas)
        ids = () if end else self._deltas[index].token_ids
        delta = self._sent[index] if index < len(self._sent) else delta_of(events)
        lengths = self._lengths(block, self._sent_by(block, index))
        return Step(index + 1, span, ids, state, holds, moves, tuple(events), delta, view, end, *lengths)

    def _holds_at(self, places: range) -> tuple[Hold, ...]:
        return tuple([Hold(start, end, *kind) for start, end, kind in map(self._holds.at, places)])

    def _moves_at(self, places: range) -> tuple[Transition, ...]:
        return tuple([self._move(place, sub) for sub, place in enumerate(places, 1)])

    def _move(self, place: int, sub: int) -> Transition:
        start, end, (old, trigger, new, row, note) = self._moves.at(place)
        return Transition(old, trigger, new, row, start, end, sub, note)

    def _lengths(self, block: int, end: int) -> tuple[int, int, int]:
        """The lengths of reasoning and content and the number of calls when so much of the output was fed."""
        reasoning, content, calls = (column[block] for column in self._tallies)
        for event in self._events_at(self._events.spans.of(block)) if self._count(block) > 1 else ():
            reasoning -= (event.end - end) * isinstance(event, ReasoningText)
            content -= (event.end - end) * isinstance(event, ContentText)
        return reasoning, content, calls

    @cached_property
    def _tallies(self) -> tuple[array[int], array[int], array[int]]:
        """The lengths of reasoning and content and the number of calls after each block."""
        reasoning, content, calls = array("i"), array("i"), array("i")
        sizes, begun = Counter[type[Event]](), set[int]()
        for block in range(len(self._firsts)):
            for event in self._events_at(self._events.spans.of(block)):
                if isinstance(event, ReasoningText | ContentText):
                    sizes[type(event)] += len(event.text)
                elif isinstance(event, CallId | CallName | CallArguments | CallEnd):
                    begun.add(event.call)
            reasoning.append(sizes[ReasoningText])
            content.append(sizes[ContentText])
            calls.append(len(begun))
        return reasoning, content, calls


def claims_of(event: Event) -> list[Ownership]:
    """The characters that an event claims."""
    if isinstance(event, TextEvent) and event.owner is not None:
        if event.segments is None:
            return [Ownership(event.start, event.end, event.owner)]
        return [Ownership(part.start, part.end, event.owner) for part in event.segments if part.end > part.start]
    if isinstance(event, Dropped):
        return [Ownership(event.start, event.end, "dropped", event.reason)]
    if isinstance(event, Marker):
        return [Ownership(event.start, event.end, "marker")]
    return []
