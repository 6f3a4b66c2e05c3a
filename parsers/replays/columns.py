"""The steps of a replay as columns: offsets and small integers, texts by slice, objects made when asked.

Strategy
    Steps that follow each other and tell the same kind of thing are a block: nothing, or the text that each was fed, of
    which is kept once what it is. Where something else happens a step is a block of its own. So are the views, of
    which many steps have the same one: a stretch of steps is kept with what it is. Blocks have their events, and
    stretches their holds, as spans of few kinds. What follows from the events (a step's delta, the lengths so far) is
    worked out when a step is looked at.

Sizes: no byte a step in open text, and none while text only waits; about 60 where something happens, besides the
output and its tokens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import ne
from typing import Any

from parsers.machine.learnt import Followed, Known
from parsers.replays.delta_columns import texts_of
from parsers.replays.event_columns import COPIES, OF_CALLS, Events, KeptEvent, Spans
from parsers.replays.lazy import Lazy
from parsers.replays.partition import Claim
from parsers.vocabulary.events import (
    CallArguments,
    CallStart,
    ContentText,
    Diagnostic,
    Event,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.seen import FED, Seen, Waits, held
from parsers.vocabulary.trace import (
    CodecState,
    Fired,
    Hold,
    OpenText,
    Retelling,
    Shape,
    StateView,
    Step,
    StepColumns,
    Tail,
    TextPart,
    Transition,
    row_of,
)
from parsers.vocabulary.types import Delta, MessageDelta, Span
from parsers.wire.assemble import delta_of

# A step, or so many of open text: (how many, events, rows, what is seen then, how many characters they were fed). Where
# open text has a tail or is retold it stands in place of the rows.
Recorded = tuple[int, Sequence[Event], Sequence[Transition] | OpenText, Seen, int]
_Rows = tuple[int, Sequence[Transition]]  # that fired in a step


@dataclass(slots=True)
class KeptStep:
    """What is kept of a step relative to where it begins: what it told, if others may tell the same, its events and its
    rows, and of what was seen after it the shape, the call and what waits. `goes_on`: that was seen before it, too.
    `is_still`: besides, nothing was told and no row fired."""

    told: object
    events: tuple[KeptEvent | Event, ...]
    moves: tuple[tuple[int, int, int], ...]
    shape: int
    call: int | None
    holds: tuple[tuple[int, int, int | None], ...]
    goes_on: bool
    is_still: bool


_NOTHING = object()  # what steps tell that tell no event


def _told_by(event: Any, start: int, end: int, text: str) -> object:
    """What a step tells that was fed the text of the output at [start, end) and told this one event, if others may tell
    the same: that text as it is, of a kind or for a call. None where it tells something else."""
    kind = type(event)
    if event.end != end or event.start != start or kind not in COPIES:
        return None
    if event.segments is not None or event.text != text[start:end]:
        return None
    return event.call if kind is CallArguments else kind


def _relative(end: int, at: int) -> int | None:
    """Where what waits ends, relative to an offset; None for what is FED."""
    return None if end == FED else end - at


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
        self._events, self._moves = Events(text), Spans()  # of blocks, and of steps
        self._told: object = None  # by each step of the last block, where more may tell the same
        self._grows = False  # whether the last block tells text of more steps than its row says
        # of each stretch of steps in which the same is seen: its first step, what the view is but for its holds, and
        # the call that is open, -1 for none; its holds, of which what is FED ends with the text of each step; the
        # tail that each step keeps back, and what is retold of the argument parser
        self._from, self._views, self._calls = array("i"), array("i"), array("i")
        self._holds, self._tails, self._retold = Spans(), dict[int, Tail](), dict[int, Retelling]()
        self._seen: Seen | None = None  # in the last stretch, if that may go on with the same object
        self._known_reaches: dict[int, Sequence[int]] = {}  # by stretch, where somebody asked
        self._known_codecs: dict[int, Sequence[CodecState]] = {}  # the same
        self._shapes: list[Shape] = []
        self._shape_codes: dict[Shape, int] = {}
        self._known_shapes: dict[int, int] = {}  # by their identity, which lasts while they are here
        self._lasting: list[Shape] = []

    # recording

    def add(self, steps: Iterable[Recorded]) -> None:
        """Record steps. Many at once take less time than one by one, and this is done for every delta: what is called
        here is what few of them need."""
        size, at, told, grows, last, text = self._size, self._at, self._told, self._grows, self._seen, self.text
        firsts, begins, views, calls, codes = self._firsts, self._from, self._views, self._calls, self._known_shapes
        moved, waiting, spoken = list[_Rows](), list[Sequence[Waits]](), list[Sequence[Event]]()
        stretch, block = len(views), len(firsts)
        for count, events, moves, seen, length in steps:
            start, at = at, at + length
            if moves:
                if isinstance(moves, OpenText):
                    seen = self._opened(moves, seen, start)
                else:
                    moved.append((size, moves))
            if seen is not last:
                last, call, code = seen, seen.call, codes.get(id(seen.shape))
                waiting.append(seen.waits)
                begins.append(size)
                views.append(self._shape_code(seen.shape) if code is None else code)
                calls.append(-1 if call is None else call)
            if not events:
                now: object = _NOTHING
            else:
                now = _told_by(events[0], start, at, text) if len(events) == 1 and type(moves) is not OpenText else None
            if now is None or now != told:
                if grows:
                    self._events.add(block, spoken)
                    self._events.lengthen(start)
                    grows, spoken, block = False, [], len(firsts)
                spoken.append(events)
                firsts.append(size)
                told = now
            elif events:
                grows = True
            size += count
        self._events.add(block, spoken)
        self._events.settle()
        self._holds.add_waits(stretch, waiting)
        self._moves.add([(number, row_of(one), one.start, one.end) for number, moves in moved for one in moves])
        self._size, self._at, self._told, self._grows, self._seen = size, at, told, grows, last

    def _opened(self, found: OpenText, seen: Seen, at: int) -> Seen:
        """Open text with a tail, or with what is retold, begins at an offset with the next step; `seen` is that after
        the last one. Returns what is seen after all of it, as an object of its own."""
        stretch, waits = len(self._views), seen.waits
        if found.tail is not None and found.event is not None:
            self._tails[stretch] = found.tail
            waits = [one for one in waits if FED < one[3] <= at]
        if found.retold is not None:
            self._retold[stretch] = found.retold
        return Seen(seen.shape, seen.call, waits)

    def kept_of(self, step: Recorded, before: Seen, at: int, calls: int) -> KeptStep:
        """What is kept of a step that begins at an offset behind so many calls, to be recorded wherever it is made.
        `before` is what was seen before it."""
        _, events, moves, seen, length = step
        rows = () if isinstance(moves, OpenText) else moves
        told = _told_by(events[0], at, at + length, self.text) if len(events) == 1 else None if events else _NOTHING
        return KeptStep(
            told - calls if isinstance(told, int) else told,
            tuple([self._events.kept_of(event, at, calls) for event in events]),
            tuple([(self._moves.code_of(row_of(move)), move.start - at, move.end - at) for move in rows]),
            self._shape_code(seen.shape),
            None if seen.call is None else seen.call - calls,
            tuple([(self._holds.code_of(one[:2]), one[2] - at, _relative(one[3], at)) for one in seen.waits]),
            seen is before,
            seen is before and not rows and told is _NOTHING,
        )

    def add_kept(self, steps: Sequence[Followed], made_id: Callable[[Known, int], str]) -> None:
        """Record steps of which it is known what is kept."""
        size, told, grows, events_of = self._size, self._told, self._grows, self._events
        begins, views, firsts, moves, holds = self._from, self._views, self._firsts, list[int](), list[int]()
        stretch = len(views) - 1
        goes_on = stretch >= 0 and stretch not in self._tails and stretch not in self._retold
        for known, at, calls, count, _ in steps:
            kept: KeptStep = known.recorded
            if kept.is_still and goes_on and told is _NOTHING:
                size += count
                continue
            for code, start, end in kept.moves:
                moves += (size, code, at + start, at + end)
            if not (kept.goes_on and goes_on):
                for code, start, ends in kept.holds:
                    holds += (len(views), code, at + start, FED if ends is None else at + ends)
                begins.append(size)
                views.append(kept.shape)
                self._calls.append(-1 if kept.call is None else kept.call + calls)
                goes_on = True
            now, events = kept.told, kept.events
            if type(now) is int:
                now += calls
            if now is None or now != told:
                if grows:
                    events_of.lengthen(at)
                if events:
                    made = None if known.made is None else made_id(known, calls)
                    events_of.add_kept(len(firsts), events, at, calls, made)
                firsts.append(size)
                told = now
            grows = now is not None and bool(events)  # the text of one of the steps is kept
            size += count
        events_of.settle()
        self._moves.append(moves)
        self._holds.append(holds)
        self._size, self._seen, self._told, self._grows = size, None, told, grows
        _, at, _, _, text = steps[-1]
        self._at = at + len(text)

    def close(self) -> None:
        """No step is recorded any more."""
        if self._grows:
            self._events.lengthen(self._at)
            self._grows = False
        self._known_shapes.clear()
        self._lasting.clear()
        for spans in (self._events.spans, self._moves, self._holds):
            spans.close()

    def _shape_code(self, shape: Shape) -> int:
        """The place of what a view is besides its holds and its call."""
        code = self._shape_codes.setdefault(shape, len(self._shapes))
        if code == len(self._shapes):
            self._shapes.append(shape)
        if id(shape) not in self._known_shapes:
            self._known_shapes[id(shape)] = code
            self._lasting.append(shape)
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
        blocks = 16 * len(self._firsts) + 12 * len(self._views) + 1_000 * len(self._retold)
        return told + blocks + 8 * len(self._ends) + 500 * len(self._shapes)

    @property
    def over(self) -> bool:
        """Return whether the end of the output was recorded."""
        return self._size > len(self._deltas)

    def __len__(self) -> int:
        return self._size

    def ids(self) -> Iterator[tuple[int, ...]]:
        yield from (delta.token_ids for delta in self._deltas)
        yield from repeat((), self._size - len(self._deltas))

    def event_runs(self, *kinds: type[Event]) -> Iterator[tuple[int, int, Event]]:
        firsts, stops = self._firsts, self._stops
        return ((firsts[block] + 1, stops[block], event) for block, event in self._events.of(kinds or (Event,)))

    def text_parts(self) -> Iterator[TextPart]:
        return self._events.parts(self._firsts, self._stops)

    @property
    def event_rows(self) -> int:
        return len(self._events.spans)

    def events(self) -> Iterator[tuple[int, Event]]:
        return ((number, event) for number, events in self._written() for event in events)

    def delta_runs(self) -> Iterator[tuple[int, int, int, MessageDelta]]:
        known = len(self._sent)
        yield from ((number, number, 0, delta) for number, delta in enumerate(self._sent, 1) if delta is not None)
        for first, last, events in self._blocks():
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
        for place, block, kind in self._events.told():
            if issubclass(kind, Diagnostic) and isinstance(event := self._events.at(place), Diagnostic):
                yield self._firsts[block] + 1, event

    def reaches(self, first: int, last: int) -> Sequence[int]:
        stretch = self._stretch(first - 1)
        if stretch not in self._tails:
            return super().reaches(first, last)
        begin = self._from[stretch] + 1
        return self._reached(stretch)[first - begin : last + 1 - begin]

    def step_of(self, raw: int) -> int:
        number = super().step_of(raw)
        return number + (self.reaches(number, number)[0] <= raw)

    def holding(self) -> Iterator[tuple[int, tuple[Hold, ...]]]:
        for stretch, _, _ in self._held_stretches():
            places = self._holds.of(stretch)
            for number in range(self._from[stretch] + 1, self._until[stretch] + 1):
                if holds := (*self._tail_hold(stretch, number), *self._holds_at(places, number)):
                    yield number, holds

    def holds(self, number: int) -> tuple[Hold, ...]:
        stretch = self._stretch(number - 1)
        told = self._holds_at(self._holds.of(stretch), number)
        return (*self._tail_hold(stretch, number), *told) if stretch in self._tails else told

    def held(self) -> Iterator[tuple[int, int, int]]:
        begins, until, tails = self._from, self._until, self._tails
        for stretch, low, high in self._held_stretches():
            last = until[stretch]
            if stretch in tails:
                yield from self._held_with_tail(stretch, low, high)
            elif high == FED:
                yield from zip(range(begins[stretch] + 1, last + 1), repeat(low), self._ends[begins[stretch] : last])
            elif begins[stretch] + 1 == last:
                yield last, low, high
            else:
                yield from zip(range(begins[stretch] + 1, last + 1), repeat(low), repeat(high))

    def _held_with_tail(self, stretch: int, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """What is held after the steps of a stretch with a tail, [low, high) after each, which may be nothing."""
        numbers = range(self._from[stretch] + 1, self._until[stretch] + 1)
        reached, fed = self._reached(stretch), self._ends[numbers.start - 1 : numbers.stop - 1]
        for number, reach, end in zip(numbers, reached, fed, strict=True):
            if reach < end:
                yield number, min(low, reach), end
            elif low <= high:
                yield number, low, high

    def state(self, number: int) -> str:
        return self._shapes[self._views[self._stretch(number - 1)]][0]

    def moves(self) -> Iterator[tuple[int, Transition]]:
        for index, places in self._moves.by_block():
            yield from ((index + 1, move) for move in self._moves_at(places))

    def fired(self) -> Iterator[tuple[int, Fired]]:
        kinds = self._moves.kinds
        return ((index + 1, kinds[code]) for index, code, _, _ in self._moves.rows())

    def claims(self) -> Iterator[Claim]:
        """The claims of all events. Events of one kind that touch claim as one."""
        return self._events.claims()

    @cached_property
    def _until(self) -> array[int]:
        """The number of the last step of each stretch."""
        return array("i", [*self._from[1:], self._size])

    @cached_property
    def _stops(self) -> array[int]:
        """The number of the last step of each block."""
        return array("i", [*self._firsts[1:], self._size])

    def _block(self, index: int) -> int:
        """The block of a step."""
        return bisect_right(self._firsts, index) - 1

    def _stretch(self, index: int) -> int:
        """The stretch of a step."""
        return bisect_right(self._from, index) - 1

    def _blocks(self) -> Iterator[tuple[int, int, Sequence[Event]]]:
        """The first and the last step and the events of every block that has any."""
        for block, places in self._events.spans.by_block():
            yield self._firsts[block] + 1, self._stops[block], self._events_at(places)

    def _written(self) -> Iterator[tuple[int, Sequence[Event]]]:
        """The number and the events of every step that has any."""
        for first, last, events in self._blocks():
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

    def _held_stretches(self) -> Iterator[tuple[int, int, int]]:
        """Every stretch after whose steps text may be held, with where its holds begin and end: nowhere if it has
        none."""
        if not self._tails:
            return self._holds.extents()
        held = dict.fromkeys(self._tails, (len(self.text), 0))
        held |= {stretch: (low, high) for stretch, low, high in self._holds.extents()}
        return ((stretch, *held[stretch]) for stretch in sorted(held))

    def _reached(self, stretch: int) -> Sequence[int]:
        """Where the text ends that each step of a stretch with a tail told."""
        known = self._known_reaches.get(stretch)
        if known is None:
            first, text, chars = self._from[stretch], self.text, self._tails[stretch].chars
            spans = pairwise((self.span(first)[0], *self._ends[first : self._until[stretch]]))
            known = array("i", [low + len(text[low:high].rstrip(chars)) for low, high in spans])
            self._known_reaches[stretch] = known
        return known

    def _codecs(self, stretch: int) -> Sequence[CodecState]:
        """The state of the argument parser after each step of a stretch of which it is retold."""
        known = self._known_codecs.get(stretch)
        if known is None:
            ends = pairwise(
                (self.span(self._from[stretch])[0], *self._ends[self._from[stretch] : self._until[stretch]])
            )
            known = self._known_codecs[stretch] = self._retold[stretch]([self.text[low:high] for low, high in ends])
        return known

    def work_out(self) -> None:
        for stretch in self._tails:
            self._reached(stretch)
        for stretch in self._retold:
            self._codecs(stretch)

    def _tail_hold(self, stretch: int, number: int) -> tuple[Hold, ...]:
        """The hold on the end of the text that a step of a stretch was fed."""
        tail, end = self._tails.get(stretch), self._ends[number - 1]
        start = end if tail is None else self._reached(stretch)[number - 1 - self._from[stretch]]
        return () if tail is None or start == end else (Hold(start, end, tail.kind, tail.why),)

    def _events_at(self, places: range) -> list[Event]:
        return [self._events.at(place) for place in places]

    def _make(self, index: int) -> Step:
        block, stretch = self._block(index), self._stretch(index)
        reach = self.reaches(index + 1, index + 1)[0]
        events = self._events_of(block, index, reach)
        waiting = self._held_at(self._holds.of(stretch), index + 1)
        holds = (*self._tail_hold(stretch, index + 1), *[hold for hold, _ in waiting])
        state, candidates, accepts, codec, call_state = self._shapes[self._views[stretch]]
        candidates = candidates or next((may for _, may in waiting if may), ())
        if stretch in self._retold:
            codec = self._codecs(stretch)[index - self._from[stretch]]
        call = None if self._calls[stretch] < 0 else self._calls[stretch]
        end = index == len(self._deltas)
        return Step(
            index + 1,
            Span(*self.span(index)),
            () if end else self._deltas[index].token_ids,
            state,
            holds,
            self._moves_at(self._moves.of(index)),
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

    def _holds_at(self, places: range, number: int) -> tuple[Hold, ...]:
        """The holds at these places as they are after a step."""
        return tuple([hold for hold, _ in self._held_at(places, number)])

    def _held_at(self, places: range, number: int) -> list[tuple[Hold, tuple[str, ...]]]:
        """The same with the terminals that each may become."""
        found, fed = [self._holds.at(place) for place in places], self._ends[number - 1]
        return [held((*kind, start, fed if end == FED else end), self.text) for start, end, kind in found]

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
            elif kind in OF_CALLS and kind is not CallStart and (call := self._events.call(place)) not in begun:
                begun.add(call)
                calls[block] += 1
        return (array("i", accumulate(reasoning)), array("i", accumulate(content)), array("i", accumulate(calls)))
