"""The steps of a replay as columns: offsets and small integers, texts by slice, objects made when asked.

Strategy
    A step is a block of its own, or one of many in a block: open text is read delta after delta with nothing to tell
    but where each ends. A block has its events, rows and holds as spans of a kind, and few kinds differ; an event whose
    text is no copy of the output is kept as it is. What follows from the events (a step's delta, the lengths so far)
    is worked out when a step is looked at.

Sizes: 4 bytes a step in open text, about 80 where something happens, besides the output and its tokens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import attrgetter, ne
from typing import Any

from parsers.replays.delta_columns import texts_of
from parsers.replays.lazy import Lazy
from parsers.replays.partition import claims_of
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningEnd,
    ReasoningText,
    Segment,
    TextEvent,
)
from parsers.vocabulary.trace import Hold, OpenText, Ownership, StateView, Step, StepColumns, Tail, Transition
from parsers.vocabulary.types import Delta, MessageDelta, Span
from parsers.wire.assemble import delta_of


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

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return 16 * len(self._blocks) + 300 * len(self.kinds)

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

    def extent(self, places: range) -> tuple[int, int] | None:
        """The first start and the last end of these spans; None where there are none."""
        if not places:
            return None
        return min(self._starts[places.start : places.stop]), max(self._ends[places.start : places.stop])

    def rows(self) -> Iterator[tuple[int, int, int, int]]:
        """For every span its block, the place of its kind among the kinds, its start and its end."""
        return zip(self._blocks, self._codes, self._starts, self._ends, strict=True)

    def block(self, place: int) -> int:
        """The block of a span."""
        return self._blocks[place]

    def by_block(self) -> Iterator[tuple[int, range]]:
        """Every block that has spans, with their places."""
        first, block = 0, -1
        for place, now in enumerate(self._blocks):
            if now != block:
                if place:
                    yield block, range(first, place)
                first, block = place, now
        if self._blocks:
            yield block, range(first, len(self._blocks))


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

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return self.spans.nbytes + self._segments.nbytes + 4 * len(self._calls) + 400 * len(self._kept)

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
        (kind, _, *rest), call = facts
        last = (call, *rest) if kind in _OF_CALLS else rest
        found: Event
        if issubclass(kind, TextEvent):
            text = self._text[start:end] if segments is None else "".join([part.text for part in segments])
            found = kind(start, end, text, segments, *last)
        else:
            found = kind(start, end, *last)
        return found

    def __iter__(self) -> Iterator[tuple[int, Event]]:
        """Every event with its block."""
        kinds, calls = self.spans.kinds, self._calls
        for place, (block, code, start, end) in enumerate(self.spans.rows()):
            kind = kinds[code]
            plain = not kind[1] and kind is not _AS_IT_IS
            yield block, self.made(start, end, (kind, calls[place])) if plain else self.at(place)

    def told(self) -> Iterator[tuple[int, int, type[Event]]]:
        """The place, the block and the type of every event."""
        kinds, kept = self.spans.kinds, self._kept
        for place, (block, code, _, _) in enumerate(self.spans.rows()):
            kind = kinds[code]
            yield place, block, type(kept[place]) if kind is _AS_IT_IS else kind[0]

    def kept(self) -> Iterator[tuple[int, Event]]:
        """Every event that is kept as it is, with its block."""
        return ((self.spans.block(place), event) for place, event in self._kept.items())

    def call(self, place: int) -> int:
        """The number of the call that an event at a place is about."""
        return self._calls[place]

    def length(self, place: int) -> int:
        """The length of the text of the text event at a place."""
        start, end, kind = self.spans.at(place)
        if kind[1] or kind is _AS_IT_IS:
            event = self.at(place)
            return len(event.text) if isinstance(event, TextEvent) else 0
        return end - start

    def _segment(self, start: int, end: int, what: tuple[Any, ...]) -> Segment:
        kind, text = what
        return Segment(self._text[start:end] if text is None else text, start, end, kind)

    def claims(self) -> Iterator[Ownership]:
        """The claims of all events. Events of one kind that touch claim as one."""
        joined: list[tuple[int, int, int, int]] = []
        for place, (_, code, start, end) in enumerate(self.spans.rows()):
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
        self._known_reaches: dict[int, Sequence[int]] = {}  # by block, where somebody asked
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
    def nbytes(self) -> int:
        """See StepColumns. What is worked out when somebody looks is counted too."""
        told = self._events.nbytes + self._moves.nbytes + self._holds.nbytes
        return told + 28 * len(self._firsts) + 8 * len(self._ends) + 500 * len(self._shapes)

    @property
    def over(self) -> bool:
        """Return whether the end of the output was recorded."""
        return self._size > len(self._deltas)

    def __len__(self) -> int:
        return self._size

    def ids(self) -> Iterator[tuple[int, ...]]:
        yield from (delta.token_ids for delta in self._deltas)
        yield from repeat((), self._size - len(self._deltas))

    def event_runs(self) -> Iterator[tuple[int, int, Event]]:
        firsts, stops = self._firsts, self._stops
        return ((firsts[block] + 1, stops[block], event) for block, event in self._events)

    def events(self) -> Iterator[tuple[int, Event]]:
        return ((number, event) for number, events in self._written() for event in events)

    def delta_runs(self) -> Iterator[tuple[int, int, int, MessageDelta]]:
        known = len(self._sent)
        yield from ((number, number, 0, delta) for number, delta in enumerate(self._sent, 1) if delta is not None)
        for first, last, events in self._told():
            if first > known and (delta := delta_of(events)) is not None:
                yield first, last, events[0].start, delta

    def sent(self) -> Iterator[tuple[int, MessageDelta]]:
        known = len(self._sent)
        yield from ((number, delta) for number, delta in enumerate(self._sent, 1) if delta is not None)
        for number, events in self._written():
            if number > known and (delta := delta_of(events)) is not None:
                yield number, delta

    def senders(self) -> Sequence[int]:
        found = array("i", [number for number, delta in enumerate(self._sent, 1) if delta is not None])
        firsts, stops, done = self._firsts, self._stops, len(self._sent)
        for place, block, kind in self._events.told():
            first = firsts[block]
            if first < done or not issubclass(kind, TextEvent):
                continue
            done = stops[block]
            if done == first + 1:
                found.append(done)
            else:
                start, reaches = self._events.spans.at(place)[0], self.reaches(first + 1, done)
                found.extend(compress(range(first + 1, done + 1), map(ne, reaches, chain((start,), reaches))))
        return found

    def diagnostics(self) -> Iterator[tuple[int, Diagnostic]]:
        kept = self._events.kept()
        return ((self._firsts[block] + 1, event) for block, event in kept if isinstance(event, Diagnostic))

    def reaches(self, first: int, last: int) -> Sequence[int]:
        block = self._block(first - 1)
        if block not in self._tails:
            return super().reaches(first, last)
        begin = self._firsts[block] + 1
        return self._reached(block)[first - begin : last + 1 - begin]

    def step_of(self, raw: int) -> int:
        number = super().step_of(raw)
        return number + (self.reaches(number, number)[0] <= raw)

    def holding(self) -> Iterator[tuple[int, tuple[Hold, ...]]]:
        for block, places in self._holding_blocks():
            same = self._holds_at(places)
            for number in range(self._firsts[block] + 1, self._stops[block] + 1):
                if holds := (*self._tail_hold(block, number), *same):
                    yield number, holds

    def holds(self, number: int) -> tuple[Hold, ...]:
        block = self._block(number - 1)
        return (*self._tail_hold(block, number), *self._holds_at(self._holds.of(block)))

    def held(self) -> Iterator[tuple[int, int, int]]:
        for block, places in self._holding_blocks():
            numbers = range(self._firsts[block] + 1, self._stops[block] + 1)
            low, high = self._holds.extent(places) or (len(self.text), 0)
            if block not in self._tails:
                yield from ((number, low, high) for number in numbers)
                continue
            reached, fed = self._reached(block), self._ends[numbers.start - 1 : numbers.stop - 1]
            for number, reach, end in zip(numbers, reached, fed, strict=True):
                if reach < end:
                    yield number, min(low, reach), end
                elif places:
                    yield number, low, high

    def moves(self) -> Iterator[tuple[int, Transition]]:
        for block, places in self._moves.by_block():
            yield from ((self._firsts[block] + 1, move) for move in self._moves_at(places))

    def claims(self) -> Iterator[Ownership]:
        """The claims of all events. Events of one kind that touch claim as one."""
        return self._events.claims()

    @cached_property
    def _stops(self) -> array[int]:
        """The number of the last step of each block."""
        return array("i", [*self._firsts[1:], self._size])

    def _block(self, index: int) -> int:
        """The block of a step."""
        return bisect_right(self._firsts, index) - 1

    def _told(self) -> Iterator[tuple[int, int, Sequence[Event]]]:
        """The first and the last step and the events of every block that has any."""
        for block, places in self._events.spans.by_block():
            yield self._firsts[block] + 1, self._stops[block], self._events_at(places)

    def _written(self) -> Iterator[tuple[int, Sequence[Event]]]:
        """The number and the events of every step that has any."""
        for first, last, events in self._told():
            if first == last:
                yield first, events
            else:
                start, facts = events[0].start, self._events.facts_of(events[0])
                for number, end in enumerate(self.reaches(first, last), first):
                    if end > start:
                        yield number, (self._events.made(start, end, facts),)
                        start = end

    def span(self, index: int) -> tuple[int, int]:
        """The text that the step at `index` is fed, recorded or not."""
        return self._ends[index - 1] if index else 0, self._ends[index]

    def _holding_blocks(self) -> Iterator[tuple[int, range]]:
        """Every block after whose steps text may be held, with the places of its holds."""
        tails = deque(self._tails)
        for block, places in self._holds.by_block():
            while tails and tails[0] <= block:
                if (tail := tails.popleft()) < block:
                    yield tail, range(0)
            yield block, places
        yield from ((tail, range(0)) for tail in tails)

    def _reached(self, block: int) -> Sequence[int]:
        """Where the text ends that each step of a block with a tail told."""
        known = self._known_reaches.get(block)
        if known is None:
            first, text, chars = self._firsts[block], self.text, self._tails[block].chars
            spans = pairwise((self.span(first)[0], *self._ends[first : self._stops[block]]))
            known = array("i", [low + len(text[low:high].rstrip(chars)) for low, high in spans])
            self._known_reaches[block] = known
        return known

    def _tail_hold(self, block: int, number: int) -> tuple[Hold, ...]:
        """The hold on the end of the text that a step of a block was fed."""
        tail, end = self._tails.get(block), self._ends[number - 1]
        start = end if tail is None else self._reached(block)[number - 1 - self._firsts[block]]
        return () if tail is None or start == end else (Hold(start, end, "policy", tail.why),)

    def _events_at(self, places: range) -> list[Event]:
        return [self._events.at(place) for place in places]

    def _make(self, index: int) -> Step:
        block = self._block(index)
        reach = self.reaches(index + 1, index + 1)[0]
        events = self._events_of(block, index, reach)
        holds = self.holds(index + 1)
        state, candidates, accepts, codec, call_state = self._shapes[self._views[block]]
        call = None if self._calls[block] < 0 else self._calls[block]
        end = index == len(self._deltas)
        return Step(
            index + 1,
            Span(*self.span(index)),
            () if end else self._deltas[index].token_ids,
            state,
            holds,
            self._moves_at(self._moves.of(block)),
            tuple(events),
            self._sent[index] if index < len(self._sent) else delta_of(events),
            StateView(state, holds, candidates, accepts, call, codec, call_state),
            end,
            *self._lengths(block, reach),
        )

    def _is_run(self, block: int) -> bool:
        return self._stops[block] - self._firsts[block] > 1

    def _events_of(self, block: int, index: int, reach: int) -> Sequence[Event]:
        """The events of one step, whose text ends at `reach` where it is one of many in a block."""
        places = self._events.spans.of(block)
        if not places or not self._is_run(block):
            return self._events_at(places)
        start, _, kind = self._events.spans.at(places[0])
        start = start if index == self._firsts[block] else self.reaches(index, index)[0]
        facts = kind, self._events.call(places[0])
        return () if start == reach else (self._events.made(start, reach, facts),)

    def _holds_at(self, places: range) -> tuple[Hold, ...]:
        return tuple([Hold(start, end, *kind) for start, end, kind in map(self._holds.at, places)])

    def _moves_at(self, places: range) -> tuple[Transition, ...]:
        return tuple([self._move(place, sub) for sub, place in enumerate(places, 1)])

    def _move(self, place: int, sub: int) -> Transition:
        start, end, (old, trigger, new, row, note) = self._moves.at(place)
        return Transition(old, trigger, new, row, start, end, sub, note)

    def _lengths(self, block: int, reach: int) -> tuple[int, int, int]:
        """The lengths of reasoning and content and the number of calls after a step whose text ends at `reach`."""
        reasoning, content, calls = (column[block] for column in self._tallies)
        for place in self._events.spans.of(block) if self._is_run(block) else ():
            _, end, (kind, *_) = self._events.spans.at(place)
            reasoning -= (end - reach) * (kind is ReasoningText)
            content -= (end - reach) * (kind is ContentText)
        return reasoning, content, calls

    @cached_property
    def _tallies(self) -> tuple[array[int], array[int], array[int]]:
        """The lengths of reasoning and content and the number of calls after each block."""
        reasoning, content, calls = (array("i", bytes(4 * len(self._firsts))) for _ in range(3))
        begun = set[int]()
        for place, block, kind in self._events.told():
            if kind is ReasoningText:
                reasoning[block] += self._events.length(place)
            elif kind is ContentText:
                content[block] += self._events.length(place)
            elif kind in _OF_CALLS and kind is not CallStart and (call := self._events.call(place)) not in begun:
                begun.add(call)
                calls[block] += 1
        return (array("i", accumulate(reasoning)), array("i", accumulate(content)), array("i", accumulate(calls)))
