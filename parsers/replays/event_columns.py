"""Events as columns: spans of the output, of few kinds. Text is a slice; an event whose text is no copy is kept."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
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
    TextEvent,
)
from parsers.vocabulary.trace import TextPart, parts_of
from parsers.vocabulary.types import Owner


class Spans:
    """Spans of the output, each of some kind and of the block in which it was told."""

    def __init__(self) -> None:
        self._blocks, self._codes, self._starts, self._ends = array("i"), array("i"), array("i"), array("i")
        self.kinds: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, block: int, kind: tuple[Any, ...], start: int, end: int) -> None:
        """Add a span of a block, which is none before that of the last one."""
        self.append(block, self.code_of(kind), start, end)

    def code_of(self, kind: tuple[Any, ...]) -> int:
        """The place of a kind among the kinds."""
        code = self._known.get(kind)
        if code is None:
            code = self._known[kind] = len(self.kinds)
            self.kinds.append(kind)
        return code

    def append(self, block: int, code: int, start: int, end: int) -> None:
        """Add a span of a kind by its place."""
        self._blocks.append(block)
        self._codes.append(code)
        self._starts.append(start)
        self._ends.append(end)

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return 16 * len(self._blocks) + 300 * len(self.kinds)

    def append_all(self, block: int, kept: Sequence[tuple[int, int, int]], at: int) -> None:
        """Add spans of a block, each a kind by its place and where it stands from an offset on."""
        for code, start, end in kept:
            self._blocks.append(block)
            self._codes.append(code)
            self._starts.append(at + start)
            self._ends.append(at + end)

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

    def extents(self) -> Iterator[tuple[int, int, int]]:
        """Every block that has spans, with the first start and the last end of these."""
        block, low, high = -1, 0, 0
        for now, start, end in zip(self._blocks, self._starts, self._ends, strict=True):
            if now == block:
                low, high = min(low, start), max(high, end)
                continue
            if block >= 0:
                yield block, low, high
            block, low, high = now, start, end
        if block >= 0:
            yield block, low, high

    def rows(self) -> Iterator[tuple[int, int, int, int]]:
        """For every span its block, the place of its kind among the kinds, its start and its end."""
        return zip(self._blocks, self._codes, self._starts, self._ends, strict=True)

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
# (the place of its kind, its span, its call, its segments: what each is and its span), all relative to a place
KeptEvent = tuple[int, int, int, int | None, tuple[tuple[tuple[str, str | None], int, int], ...]]
_TEXTS = frozenset(kind for kind in _REST if issubclass(kind, TextEvent))
_AS_IT_IS = (Event, False)
_SIMPLE = {kind: (kind, False) for kind, rest in _REST.items() if rest is None}

# The facts about an event but for its span: (its type, whether it has segments, the rest of its fields), and its call.
_Facts = tuple[tuple[Any, ...], int]


class Events:
    """Events as spans. Text is that of the output, or of the event's segments, which are spans too."""

    def __init__(self, text: str) -> None:
        self.spans = Spans()
        self._text = text
        self._calls = array("i")
        self._segments = Spans()  # their block is the place of their event
        self._kept: dict[int, Event] = {}  # by place

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return self.spans.nbytes + self._segments.nbytes + 4 * len(self._calls) + 400 * len(self._kept)

    def facts_of(self, event: Event) -> _Facts:
        """The facts about an event; of one that is kept as it is, that it is."""
        kind = type(event)
        if kind not in _REST:
            return _AS_IT_IS, 0
        call = event.call if kind in OF_CALLS else 0  # type: ignore[attr-defined]
        if isinstance(event, TextEvent):
            if event.segments is not None:
                whole = event.text == "".join([part.text for part in event.segments])
                return (kind, True) if whole else _AS_IT_IS, call
            return _SIMPLE[kind] if event.text == self._text[event.start : event.end] else _AS_IT_IS, call
        rest = _REST[kind]
        return _SIMPLE[kind] if rest is None else (kind, False, *rest(event)), call

    def add(self, block: int, event: Event) -> None:
        """Add an event of a block."""
        kind, call = self.facts_of(event)
        if kind is _AS_IT_IS:
            self._kept[len(self.spans)] = event
        elif kind[1] and isinstance(event, TextEvent):
            for part in event.segments or ():
                self._segments.add(len(self.spans), self._what_of(part), part.start, part.end)
        self.spans.add(block, kind, event.start, event.end)
        self._calls.append(call)

    def kept_of(self, event: Event, at: int, calls: int) -> KeptEvent | Event:
        """What is kept of an event, relative to an offset and to so many calls: itself, if that is kept as it is."""
        kind, call = self.facts_of(event)
        if kind is _AS_IT_IS:
            return Move(-at, -calls).event(event)
        parts = event.segments or () if kind[1] and isinstance(event, TextEvent) else ()
        segments = tuple([(self._what_of(part), part.start - at, part.end - at) for part in parts])
        of_call = call - calls if kind[0] in OF_CALLS else None
        return self.spans.code_of(kind), event.start - at, event.end - at, of_call, segments

    def add_kept(self, block: int, events: Iterable[KeptEvent | Event], at: int, calls: int, made: str | None) -> None:
        """Add the events of a block of which it is known what is kept. `made`: the id of a call that was made up."""
        append, number = self.spans.append, self._calls.append
        for event in events:
            if type(event) is not tuple:
                self.add(block, Move(at, calls).event(cast(Event, event)))
                continue
            code, start, end, call, segments = event
            for what, low, high in segments:
                what = ("synthetic", made) if made is not None and self.spans.kinds[code][0] is CallId else what
                self._segments.add(len(self.spans), what, at + low, at + high)
            append(block, code, at + start, at + end)
            number(0 if call is None else call + calls)

    def _what_of(self, part: Segment) -> tuple[str, str | None]:
        """What a segment is, and its text unless that is a copy of the output."""
        copied = part.kind == "copied" and part.text == self._text[part.start : part.end]
        return part.kind, None if copied else part.text

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
        if kind in OF_CALLS:
            rest.insert(0, call)
        found: Event
        if kind in _TEXTS:
            text = self._text[start:end] if segments is None else "".join([part.text for part in segments])
            found = kind(start, end, text, segments, *rest)
        else:
            found = kind(start, end, *rest)
        return found

    def of(self, wanted: tuple[type[Event], ...]) -> Iterator[tuple[int, Event]]:
        """Every event of these types with its block."""
        kinds, calls = self.spans.kinds, self._calls
        plain = [not _is_apart(kind) for kind in kinds]
        asked = [kind is _AS_IT_IS or issubclass(kind[0], wanted) for kind in kinds]
        for place, (block, code, start, end) in enumerate(self.spans.rows()):
            if asked[code] and plain[code]:
                yield block, self.made(start, end, (kinds[code], calls[place]))
            elif asked[code] and isinstance(event := self.at(place), wanted):
                yield block, event

    def parts(self, firsts: Sequence[int], stops: Sequence[int]) -> Iterator[TextPart]:
        """The parts of every text event, in order. Each block is told from the step after its first to its stop."""
        text, kept, kinds = self._text, self._kept, self.spans.kinds
        forms = [kind[0] if kind[0] in _TEXTS and not kind[1] else None for kind in kinds]
        apart = [_is_apart(kind) for kind in kinds]
        segments, told = self._segments.rows(), self._segments.kinds
        part = next(segments, None)
        for place, ((block, code, start, end), call) in enumerate(zip(self.spans.rows(), self._calls, strict=True)):
            if (kind := forms[code]) is not None:
                yield firsts[block] + 1, stops[block], kind, call, text[start:end], start, end, "copied"
            elif not apart[code]:
                continue
            elif isinstance(event := kept.get(place), TextEvent):
                yield from ((firsts[block] + 1, stops[block], *one) for one in parts_of(event))
            while part is not None and part[0] == place:
                low, high, (how, said) = part[2], part[3], told[part[1]]
                said = text[low:high] if said is None else said
                yield firsts[block] + 1, stops[block], kinds[code][0], call, said, low, high, how
                part = next(segments, None)

    def told(self) -> Iterator[tuple[int, int, type[Event]]]:
        """The place, the block and the type of every event."""
        kinds, kept = self.spans.kinds, self._kept
        for place, (block, code, _, _) in enumerate(self.spans.rows()):
            kind = kinds[code]
            yield place, block, type(kept[place]) if kind is _AS_IT_IS else kind[0]

    def call(self, place: int) -> int:
        """The number of the call that an event at a place is about."""
        return self._calls[place]

    def length(self, place: int) -> int:
        """The length of the text of the text event at a place."""
        start, end, kind = self.spans.at(place)
        if _is_apart(kind):
            event = self.at(place)
            return len(event.text) if isinstance(event, TextEvent) else 0
        return end - start

    def _segment(self, start: int, end: int, what: tuple[Any, ...]) -> Segment:
        kind, text = what
        return Segment(self._text[start:end] if text is None else text, start, end, kind)

    def claims(self) -> Iterator[Claim]:
        """The claims of all events. Events of one kind that touch claim as one."""
        owned = [None if _is_apart(kind) else _owned_by(kind) for kind in self.spans.kinds]
        last, low, high = -1, 0, 0  # the kind of the claim that may go on, and where that stands
        going: _Owned = "marker", None
        segments = self._segments.rows()
        part = next(segments, None)
        for place, (_, code, start, end) in enumerate(self.spans.rows()):
            if code == last and start == high:
                high = end
                continue
            if last >= 0:
                yield (low, high, *going)
            last, now = -1, owned[code]
            if now is not None:
                last, low, high, going = code, start, end, now
            elif (event := self._kept.get(place)) is not None:
                yield from claims_of(event)
            while part is not None and part[0] == place:
                if part[3] > part[2]:
                    yield part[2], part[3], self.spans.kinds[code][0].owner, None
                part = next(segments, None)
        if last >= 0:
            yield (low, high, *going)


_Owned = tuple[Owner, DropReason | None]


def _is_apart(kind: tuple[Any, ...]) -> bool:
    """Return whether events of a kind are more than a span: they have segments, or are kept as they are."""
    return kind is _AS_IT_IS or kind[1]


def _owned_by(kind: tuple[Any, ...]) -> _Owned | None:
    """The owner of what an event of a kind claims, and why; None where it claims nothing."""
    claims = claims_of(kind[0](0, 0, *([""] if issubclass(kind[0], TextEvent) else kind[2:])))
    return claims[0][2:] if claims else None
