"""Events as columns: spans of the output, of few kinds. Text is a slice; an event whose text is no copy is kept."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from operator import attrgetter
from struct import Struct, pack
from typing import Any, cast

from parsers.machine.moved import Move
from parsers.replays.partition import Claim, claims_of
from parsers.vocabulary.drops import DropReason
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
    SegmentKind,
    TextEvent,
)
from parsers.vocabulary.seen import FED, Waits
from parsers.vocabulary.trace import TextPart, parts_of
from parsers.vocabulary.types import Owner

# The block, the place of its kind, and where it stands. Rows are packed many at once: to pack each takes longer, and to
# add to four arrays longer still.
_ROW = Struct("=4i")
_WIDTH = 4


def packed(rows: Sequence[int]) -> bytes:
    """Rows that follow each other, packed."""
    return pack(f"={len(rows)}i", *rows)


class Spans:
    """Spans of the output, each of some kind and of the block in which it was told."""

    def __init__(self) -> None:
        self.kinds: list[tuple[Any, ...]] = []
        self.known: dict[tuple[Any, ...], int] = {}  # the places of the kinds
        self.packed = bytearray()  # a row for each

    def __len__(self) -> int:
        return len(self.packed) // _ROW.size

    def add(self, found: Iterable[tuple[int, tuple[Any, ...], int, int]]) -> None:
        """Add spans: the block of each, which is none before that of the last one, its kind, and where it stands."""
        known, rows = self.known, list[int]()
        for block, kind, start, end in found:
            code = known.get(kind)
            rows += (block, self.code_of(kind) if code is None else code, start, end)
        self.append(rows)

    def code_of(self, kind: tuple[Any, ...]) -> int:
        """The place of a kind among the kinds."""
        code = self.known.get(kind)
        if code is None:
            code = self.known[kind] = len(self.kinds)
            self.kinds.append(kind)
        return code

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return len(self.packed) + 300 * len(self.kinds)

    def append(self, rows: Sequence[int]) -> None:
        """Add rows, each a block, a kind by its place, and where it stands."""
        self.packed += packed(rows)

    def add_waits(self, first: int, found: Iterable[Iterable[Waits]]) -> None:
        """Add what waits in each of the blocks from one on; its kind is that of the hold, and the reason."""
        known, rows = self.known, list[int]()
        for block, waits in enumerate(found, first):
            for kind, reason, start, end in waits:
                code = known.get((kind, reason))
                if code is None:
                    code = self.code_of((kind, reason))
                rows += (block, code, start, end)
        self.append(rows)

    def close(self) -> None:
        """No span is added any more: the room for more is given back."""
        self.packed = bytearray(self.packed)

    def lengthen(self, end: int) -> None:
        """The last span ends later."""
        block, code, start, _ = self._row(len(self) - 1)
        self.packed[-_ROW.size :] = _ROW.pack(block, code, start, end)

    def of(self, block: int) -> range:
        """The places of the spans of a block."""
        blocks = self._blocks
        first = bisect_left(blocks, block)
        return range(first, bisect_right(blocks, block, first))

    @property
    def _blocks(self) -> Sequence[int]:
        return memoryview(self.packed).cast("i")[::4]

    def _row(self, place: int) -> tuple[int, ...]:
        return _ROW.unpack_from(self.packed, place * _ROW.size)

    def at(self, place: int) -> tuple[int, int, tuple[Any, ...]]:
        """The start, the end and the kind of a span."""
        _, code, start, end = self._row(place)
        return start, end, self.kinds[code]

    def extents(self) -> Iterator[tuple[int, int, int]]:
        """Every block that has spans, with the first start and the last end of these, which is FED if there is one."""
        block, low, high = -1, 0, 0
        for now, _, start, end in self.rows():
            if now == block:
                low, high = min(low, start), FED if end == FED else max(high, end)
                continue
            if block >= 0:
                yield block, low, high
            block, low, high = now, start, end
        if block >= 0:
            yield block, low, high

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """For every span its block, the place of its kind among the kinds, its start and its end."""
        return _ROW.iter_unpack(self.packed)

    def by_block(self) -> Iterator[tuple[int, range]]:
        """Every block that has spans, with their places."""
        first, block = 0, -1
        for place, (now, *_) in enumerate(self.rows()):
            if now != block:
                if place:
                    yield block, range(first, place)
                first, block = place, now
        if self.packed:
            yield block, range(first, len(self))


# What an event is besides its span, its text and its call, by its type: what gives the fields that are left.
# An event of another type is kept as it is.
_REST: dict[type[Event], Callable[[Any], tuple[Any, ...]] | None] = {
    **dict.fromkeys((ContentText, ReasoningText, CallArguments, CallName, CallId, CallStart, ReasoningEnd)),
    Marker: lambda event: (event.terminal,),
    Dropped: lambda event: (event.reason,),
    CallEnd: lambda event: (event.complete,),
    Diagnostic: attrgetter("code", "severity", "message"),
}
OF_CALLS = frozenset({CallArguments, CallName, CallId, CallStart, CallEnd})
_TEXTS = frozenset(kind for kind in _REST if issubclass(kind, TextEvent))
COPIES = frozenset({CallArguments, ContentText, ReasoningText})  # of the text that a step is fed, as a rule
_AS_IT_IS = (Event, None)
_MADE_UP = (CallId, ())  # an id that stands nowhere in the output: each is another one, so it is no kind of its own
_SIMPLE = {kind: (kind, None) for kind, rest in _REST.items() if rest is None}

KeptEvent = tuple[int, int, int, int | None]  # (the place of its kind, its span, its call), relative to a place
# A segment relative to where the one before ends, or the event begins. A number: a copy of so many characters that
# follow. A text: it stands nowhere. Else how it was made, how far on it begins, how long it is, and its text unless
# that is a copy of the output.
_LongPart = tuple[SegmentKind, int, int, str | None]
_Part = int | str | _LongPart
# The facts about an event but for its span: (its type, its segments if it has any, the rest of its fields), and its
# call.
_Facts = tuple[tuple[Any, ...], int]


class Events:
    """Events as spans. Text is that of the output, or of the event's segments, by which events of many steps are of one
    kind: a notation has few ways to cut the same into tokens."""

    def __init__(self, text: str) -> None:
        self.spans = Spans()
        self._rows: list[int] = []  # that are none of the spans yet
        self._plain: dict[Any, int] = {kind: self.spans.code_of(facts) for kind, facts in _SIMPLE.items()}
        self._markers: dict[str, int] = {}  # by their terminals
        self._text = text
        self._froms, self._calls = array("i", [0]), array("i", [0])  # the call of events of calls, from a place on
        self._call = 0  # the last of these
        self._kept: dict[int, Event] = {}  # by place
        self._made_at, self._made = array("i"), list[str]()  # ids that were made up, and their places
        self._argued: dict[tuple[_Part, ...], int] = {}  # kinds of arguments that have segments, by these
        self._ends: dict[bool, int] = {}  # kinds of ends of calls, by whether these are complete

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        segments = sum([len(parts) for _, parts, *_ in self.spans.kinds if parts])
        apart = 400 * len(self._kept) + 12 * len(self._made) + 20 * segments
        return self.spans.nbytes + 8 * len(self._calls) + apart

    def facts_of(self, event: Any) -> _Facts:
        """The facts about an event; of one that is kept as it is, that it is."""
        kind: type[Event] = type(event)
        call = event.call if kind in OF_CALLS else 0
        if kind in _TEXTS:
            return self._facts_of_text(kind, event), call
        if kind not in _REST:
            return _AS_IT_IS, 0
        rest = _REST[kind]
        return _SIMPLE[kind] if rest is None else (kind, None, *rest(event)), call

    def _facts_of_text(self, kind: type[Event], event: Any) -> tuple[Any, ...]:
        """The facts about a text event besides its call."""
        if event.segments is None:
            return _SIMPLE[kind] if event.text == self._text[event.start : event.end] else _AS_IT_IS
        parts = self._parts_of(event.segments, event.start, event.text)
        if parts is None:
            return _AS_IT_IS
        is_made_up = kind is CallId and parts == (event.text,) and event.start == event.end
        return _MADE_UP if is_made_up else (kind, parts)

    def _parts_of(self, segments: Iterable[Segment], at: int, whole: str) -> tuple[_Part, ...] | None:
        """The segments of an event at an offset; None where its whole text is not theirs."""
        text, said, parts = self._text, "", list[_Part]()
        for part in segments:
            low, one, how = part.start, part.text, part.kind
            said += one
            if how == "synthetic" and low == at and part.end == at:
                parts.append(one)
                continue
            on, at = low - at, part.end
            if how == "copied" and one == text[low:at]:
                parts.append((how, on, at - low, None) if on else at - low)
            else:
                parts.append((how, on, at - low, one))
        return tuple(parts) if said == whole else None

    def add(self, first_block: int, told: Iterable[Iterable[Any]]) -> None:
        """Add the events of each of the blocks from one on."""
        text, copied, markers, call = self._text, self._plain[CallArguments], self._markers, self._call
        rows, first = self._rows, len(self.spans)
        for block, events in enumerate(told, first_block):
            for event in events:
                kind, start, end = type(event), event.start, event.end
                if kind is Marker:
                    code = markers.get(event.terminal)
                elif kind is CallArguments:
                    segments, said = event.segments, event.text
                    if segments is not None:
                        code = self._code_of_parts(segments, start, said)
                    else:
                        code = copied if said == text[start:end] else None
                    if event.call != call:
                        call = self._go_to(event.call, first + len(rows) // _WIDTH)
                else:
                    code = self._code_of_other(kind, event)
                    if kind in OF_CALLS and event.call != call:
                        call = self._go_to(event.call, first + len(rows) // _WIDTH)
                if code is None:
                    code = self._code_of(event, first + len(rows) // _WIDTH)
                rows += (block, code, start, end)

    def lengthen(self, end: int) -> None:
        """The last event ends later."""
        if self._rows:
            self._rows[-1] = end
        else:
            self.spans.lengthen(end)

    def settle(self) -> None:
        """Pack what was added. To be called before anything is read, and now and then."""
        self.spans.append(self._rows)
        self._rows.clear()

    def _code_of_parts(self, segments: Sequence[Segment], start: int, said: str) -> int | None:
        """The place of the kind of arguments that have segments; None for those that are kept as they are, and for a
        kind that is not known yet."""
        if len(segments) == 1:
            part = segments[0]
            if part.kind == "synthetic" and part.start == start and part.end == start and part.text == said:
                return self._argued.get((said,))
        parts = self._parts_of(segments, start, said)
        return None if parts is None else self._argued.get(parts)

    def _code_of_other(self, kind: type[Event], event: Any) -> int | None:
        """The same for an event that is no arguments and no marker."""
        if kind is CallEnd:
            return self._ends.get(event.complete)
        if kind in _TEXTS and (event.segments is not None or event.text != self._text[event.start : event.end]):
            return None
        return self._plain.get(kind)

    def _code_of(self, event: Any, place: int) -> int:
        """The place among the kinds of what the event at a place is."""
        facts, _ = self.facts_of(event)
        if facts is _AS_IT_IS:
            self._kept[place] = event
        elif facts is _MADE_UP:
            self._make(event.text, place)
        code = self.spans.code_of(facts)
        if facts[0] is Marker:
            self._markers[facts[2]] = code
        elif facts[0] is CallEnd:
            self._ends[facts[2]] = code
        elif facts[0] is CallArguments and facts[1] is not None:
            self._argued[facts[1]] = code
        return code

    def _make(self, made: str, place: int) -> None:
        """The event at a place is an id that was made up."""
        self._made_at.append(place)
        self._made.append(made)

    def _made_id(self, place: int, kind: tuple[Any, ...]) -> str:
        """The id that was made up which is the event of a kind at a place; '' for any other event."""
        return self._made[bisect_left(self._made_at, place)] if kind is _MADE_UP else ""

    def _go_to(self, call: int, place: int) -> int:
        """The event at a place is of this call, and the one before was of another. Returns the call."""
        self._call = call
        self._froms.append(place)
        self._calls.append(call)
        return call

    def kept_of(self, event: Event, at: int, calls: int) -> KeptEvent | Event:
        """What is kept of an event, relative to an offset and to so many calls: itself, if that is kept as it is."""
        kind, call = self.facts_of(event)
        if kind is _AS_IT_IS:
            return Move(-at, -calls).event(event)
        of_call = call - calls if kind[0] in OF_CALLS else None
        return self.spans.code_of(kind), event.start - at, event.end - at, of_call

    def add_kept(self, block: int, events: Iterable[KeptEvent | Event], at: int, calls: int, made: str | None) -> None:
        """Add the events of a block of which it is known what is kept. `made`: the id of a call that was made up."""
        rows, kinds = self._rows, self.spans.kinds
        for event in events:
            if type(event) is not tuple:
                self.add(block, [[Move(at, calls).event(cast(Event, event))]])
                continue
            code, start, end, call = event
            if made is not None and kinds[code] is _MADE_UP:
                self._make(made, len(self.spans) + len(rows) // _WIDTH)
            if call is not None and call + calls != self._call:
                self._go_to(call + calls, len(self.spans) + len(rows) // _WIDTH)
            rows += (block, code, at + start, at + end)

    def at(self, place: int) -> Event:
        """The event at a place."""
        return self._event(place, *self.spans.at(place), self.call(place))

    def _event(self, place: int, start: int, end: int, kind: tuple[Any, ...], call: int) -> Event:
        """The event of a kind at a place."""
        if kind is _AS_IT_IS:
            return self._kept[place]
        return self.made(start, end, (kind, call), self._made_id(place, kind))

    def made(self, start: int, end: int, facts: _Facts, text: str = "") -> Event:
        """An event of these facts, with this text if it is an id that was made up."""
        (kind, parts, *rest), call = facts
        if kind in OF_CALLS:
            rest.insert(0, call)
        if kind not in _TEXTS:
            return cast(Event, kind(start, end, *rest))
        if parts is None:
            return cast(Event, kind(start, end, self._text[start:end], None, *rest))
        segments = tuple([Segment(said, low, high, how) for how, low, high, said in self._parts(parts, start, text)])
        return cast(Event, kind(start, end, "".join([part.text for part in segments]), segments, *rest))

    def _parts(self, parts: Iterable[_Part], at: int, made: str) -> Iterator[tuple[SegmentKind, int, int, str]]:
        """The segments of an event that begins at an offset. `made`: the id that it is, if that was made up."""
        if made:
            yield "synthetic", at, at, made
        for part in parts:
            if type(part) is str:
                yield "synthetic", at, at, part
                continue
            how, on, length, said = ("copied", 0, part, None) if type(part) is int else cast(_LongPart, part)
            low, at = at + on, at + on + length
            yield how, low, at, self._text[low:at] if said is None else said

    def of(self, wanted: tuple[type[Event], ...]) -> Iterator[tuple[int, Event]]:
        """Every event of these types with its block."""
        kinds = self.spans.kinds
        asked = [kind is _AS_IT_IS or issubclass(kind[0], wanted) for kind in kinds]
        if not any(asked):
            return
        for place, ((block, code, start, end), call) in enumerate(zip(self.spans.rows(), self._numbers(), strict=True)):
            if asked[code] and isinstance(event := self._event(place, start, end, kinds[code], call), wanted):
                yield block, event

    def parts(self, firsts: Sequence[int], stops: Sequence[int]) -> Iterator[TextPart]:
        """The parts of every text event, in order. Each block is told from the step after its first to its stop."""
        text, kinds = self._text, self.spans.kinds
        is_text = [kind[0] in _TEXTS for kind in kinds]
        for place, ((block, code, start, end), number) in enumerate(
            zip(self.spans.rows(), self._numbers(), strict=True)
        ):
            kind, parts, *_ = kinds[code]
            call = number if kind in OF_CALLS else 0
            if is_text[code] and parts is None:
                yield firsts[block] + 1, stops[block], kind, call, text[start:end], start, end, "copied"
            elif is_text[code]:
                for how, low, high, said in self._parts(parts, start, self._made_id(place, kinds[code])):
                    yield firsts[block] + 1, stops[block], kind, call, said, low, high, how
            elif kinds[code] is _AS_IT_IS and isinstance(event := self._kept[place], TextEvent):
                yield from ((firsts[block] + 1, stops[block], *one) for one in parts_of(event))

    def told(self) -> Iterator[tuple[int, int, type[Event]]]:
        """The place, the block and the type of every event."""
        kinds, kept = self.spans.kinds, self._kept
        for place, (block, code, _, _) in enumerate(self.spans.rows()):
            kind = kinds[code]
            yield place, block, type(kept[place]) if kind is _AS_IT_IS else kind[0]

    def call(self, place: int) -> int:
        """The number of the call that an event at a place is about, if it is of one."""
        return self._calls[bisect_right(self._froms, place) - 1]

    def _numbers(self) -> Iterator[int]:
        """The same for every place."""
        for call, (first, stop) in zip(self._calls, pairwise([*self._froms, len(self.spans)]), strict=True):
            yield from repeat(call, stop - first)

    def length(self, place: int) -> int:
        """The length of the text of the text event at a place."""
        start, end, kind = self.spans.at(place)
        if kind is not _AS_IT_IS and kind[1] is None:
            return end - start
        event = self.at(place)
        return len(event.text) if isinstance(event, TextEvent) else 0

    def claims(self) -> Iterator[Claim]:
        """The claims of all events. Events of one kind that touch claim as one."""
        kinds = self.spans.kinds
        owned = [None if _is_apart(kind) else _owned_by(kind) for kind in kinds]
        last, low, high = -1, 0, 0  # the kind of the claim that may go on, and where that stands
        going: _Owned = "marker", None
        for place, (_, code, start, end) in enumerate(self.spans.rows()):
            if code == last and start == high:
                high = end
                continue
            if last >= 0:
                yield (low, high, *going)
            last, now = -1, owned[code]
            if now is not None:
                last, low, high, going = code, start, end, now
            elif kinds[code] is _AS_IT_IS:
                yield from claims_of(self._kept[place])
            else:
                kind, parts, *_ = kinds[code]
                for _, first, stop, _ in self._parts(parts or (), start, ""):
                    if stop > first:
                        yield first, stop, kind.owner, None
        if last >= 0:
            yield (low, high, *going)


_Owned = tuple[Owner, DropReason | None]


def _is_apart(kind: tuple[Any, ...]) -> bool:
    """Return whether events of a kind are more than a span: they have segments, or are kept as they are."""
    return kind is _AS_IT_IS or kind[1] is not None


def _owned_by(kind: tuple[Any, ...]) -> _Owned | None:
    """The owner of what an event of a kind claims, and why; None where it claims nothing."""
    claims = claims_of(kind[0](0, 0, *([""] if issubclass(kind[0], TextEvent) else kind[2:])))
    return claims[0][2:] if claims else None
