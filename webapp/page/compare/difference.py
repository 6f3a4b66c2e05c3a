"""Which characters of one message have no counterpart in another, made from the same output or from a similar one.

Two texts of a channel are aligned by where in the output their characters come from, not by what they look like: a
lost argument of a long list shows as that argument, and what follows it stays equal. Strategy: both channels become
atoms (copied text with its place, or other text at a place); a walk with two fingers over atoms in the order of the
output gives blocks that are equal by origin; what lies between two blocks, less what its two sides share at either
end, is a difference. Where a parser does not say where its text comes from, the texts alone are compared; so they are
where the outputs differ, by their words.

O(n) in both texts and their stretches.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from parsers.compare.delta_parting import DeltaParting, delta_parting
from parsers.compare.divergence import (
    Divergence,
    Grade,
    Rules,
    divergence,
    grade,
    partings,
    same_message,
    shared_prefix,
)
from parsers.vocabulary import channels
from parsers.vocabulary.stretches import Stretch
from parsers.vocabulary.types import Message, ToolCall
from webapp.page.compare.alignment import Axis, Hunk, Lane, axis_of, text_hunks
from webapp.page.inspect.index import UNKNOWN, CallIndex, Channel, TraceIndex

MOST_STEPS = 5_000  # of replays whose deltas are compared one by one
PARTS = ("name", "id", "arguments")


@dataclass(slots=True, frozen=True)
class Both:
    """Two traces, and where their texts stand on one axis; `hunks` say where the texts differ. `ends`: it is known of
    both why they ended, be it that nobody said so. `by_message`: the texts are what was sent."""

    a: TraceIndex
    b: TraceIndex
    on_a: Lane
    on_b: Lane
    size: int
    hunks: list[Hunk]
    ends: bool = True
    by_message: bool = False

    @classmethod
    def of(
        cls, a: TraceIndex, b: TraceIndex, axis: Axis | None = None, number: int = 1, *,
        ends: bool = True, by_message: bool = False,
    ) -> Both:  # fmt: skip
        """The first side and the one counted `number` from 0, on an axis of all or on one of their own."""
        axis = axis or axis_of([a.trace.text, b.trace.text])
        return cls(a, b, axis.lanes[0], axis.lanes[number], axis.size, axis.hunks[number], ends, by_message)

    @property
    def by_characters(self) -> bool:
        """Return whether the messages part where the characters that differ lie: an offset of one text tells nothing
        about another, and of texts that were found again, or sent, the parsers know less."""
        return bool(self.hunks) or self.by_message or self.a.beside is not None or self.b.beside is not None


@dataclass(slots=True)
class Pair:
    """One channel on both sides. `same`: under the rules; `hunks`: where the texts differ, empty where `same`."""

    name: channels.Channel
    a: Channel
    b: Channel
    same: bool
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(slots=True)
class CallPair:
    """One call as both sides have it; None: that side has no call here."""

    a: CallIndex | None
    b: CallIndex | None
    parts: list[Pair]


def text_pairs(both: Both, rules: Rules) -> list[Pair]:
    """Reasoning and content."""
    a, b, one_text = both.a, both.b, not both.hunks
    return [
        _pair(channels.REASONING, a.reasoning, b.reasoning, rules, one_text),
        _pair(channels.CONTENT, a.content, b.content, rules, one_text),
    ]


def call_pairs(both: Both, rules: Rules) -> list[CallPair]:
    """The calls of both sides. Calls whose names stand at one place belong together; those between, in order."""
    found: list[CallPair] = []
    for left, right in _matched(both):
        number = next(call.number for call in (left, right) if call is not None)
        names = [channels.Channel(number, part) for part in channels.CALL_PARTS]
        texts = [(name, _part(left, name.part), _part(right, name.part)) for name in names]
        parts = [_pair(*text, rules, not both.hunks) for text in texts]
        found.append(CallPair(left, right, parts))
    return found


def _part(call: CallIndex | None, part: str) -> Channel:
    found: Channel = getattr(call, part) if call else Channel(part)
    return found


def _matched(both: Both) -> Iterator[tuple[CallIndex | None, CallIndex | None]]:
    b = list(both.b.calls.values())
    places = {place: at for at, call in enumerate(b) if (place := _place(call, both.on_b)) is not None}
    done = 0
    waiting: list[CallIndex] = []
    for call in both.a.calls.values():
        place = _place(call, both.on_a)
        at = -1 if place is None else places.get(place, -1)
        if at < done:
            waiting.append(call)
            continue
        yield from _in_order(waiting, b[done:at])
        yield call, b[at]
        waiting, done = [], at + 1
    yield from _in_order(waiting, b[done:])


def _place(call: CallIndex, lane: Lane) -> int | None:
    start = next((stretch.start for stretch in call.name.rows() if stretch.end > stretch.start), None)
    return None if start is None else lane.column(start)


def _in_order(a: list[CallIndex], b: list[CallIndex]) -> Iterator[tuple[CallIndex | None, CallIndex | None]]:
    for at in range(max(len(a), len(b))):
        yield a[at] if at < len(a) else None, b[at] if at < len(b) else None


def _pair(name: channels.Channel, a: Channel, b: Channel, rules: Rules, one_text: bool) -> Pair:
    left, right = a.text, b.text
    same = left == right or same_message(_message(name, left), _message(name, right), rules)
    return Pair(name, a, b, same, [] if same else list(hunks(a, b)) if one_text else text_hunks(left, right))


def _message(name: channels.Channel, text: str) -> Message:
    """A message of this channel alone, so that the rules of a whole message decide."""
    if name.call is None:
        return Message(reasoning=text) if name.part == "reasoning" else Message(content=text)
    call = ToolCall(None, "", "")
    setattr(call, name.part, text)
    return Message(tool_calls=[call])


@dataclass(slots=True)
class _Atom:
    """Characters [at, end) of a channel: copied from `start` on, or made of [start, stop)."""

    at: int
    end: int
    start: int
    stop: int
    copied: bool


def hunks(a: Channel, b: Channel) -> Iterator[Hunk]:
    """Yield where the texts of two channels differ, in order."""
    left, right = a.text, b.text
    done_a = done_b = 0
    for at_a, at_b, size in [*_blocks(a, b, left, right), (len(left), len(right), 0)]:
        yield from _trimmed(left, right, Hunk(done_a, at_a, done_b, at_b))
        done_a, done_b = at_a + size, at_b + size


def _blocks(a: Channel, b: Channel, left: str, right: str) -> Iterator[tuple[int, int, int]]:
    """Stretches of both texts that come from the same characters: place in a, place in b, length."""
    one, other = _atoms(a), _atoms(b)
    if one is None or other is None:
        return
    i = j = 0
    while i < len(one) and j < len(other):
        x, y = one[i], other[j]
        low, high = max(x.start, y.start), min(x.stop, y.stop)
        if x.copied and y.copied and low < high:
            yield x.at + low - x.start, y.at + low - y.start, high - low
        elif x.copied == y.copied and x.start == y.start and left[x.at : x.end] == right[y.at : y.end]:
            yield x.at, y.at, x.end - x.at
        i, j = i + (x.stop <= y.stop), j + (y.stop <= x.stop)


def _atoms(channel: Channel) -> list[_Atom] | None:
    """The atoms of a channel in the order of the output; None where the parser does not say, or goes back."""
    atoms: list[_Atom] = []
    for piece in channel.rows():
        at, copied, size = piece.at, piece.kind == "copied", len(piece.text)
        last = atoms[-1] if atoms else None
        if (last and piece.start < last.stop) or (copied and size != piece.end - piece.start):
            return None
        if last and last.copied == copied and (not copied or last.stop == piece.start):
            last.end, last.stop = at + size, piece.end
        elif size:
            atoms.append(_Atom(at, at + size, piece.start, piece.end, copied))
    return atoms


def _trimmed(left: str, right: str, hunk: Hunk) -> Iterator[Hunk]:
    """The hunk without what its two sides share at either end; nothing where they are equal."""
    x, y = left[hunk.a0 : hunk.a1], right[hunk.b0 : hunk.b1]
    if x == y:
        return
    head = shared_prefix(x, y)
    tail = shared_prefix(x[head:][::-1], y[head:][::-1])
    yield Hunk(hunk.a0 + head, hunk.a1 - tail, hunk.b0 + head, hunk.b1 - tail)


# Where two replays part: every place, as columns of the axis (characters, where the outputs are one), and the sentence
# about it.
#
# A place where they part is a run of characters that have another owner, or that became text the other side does not
# have, or the character with which the two messages so far stop being beginnings of one another; and where the outputs
# differ. Runs that touch are one. O(n) in the two traces; computed once per pair and kept.


@dataclass(slots=True)
class Parting:
    """Columns [start, end) over which the sides part; `kinds` says how: output, owner, text, order or end, or that
    only what is sent parts."""

    start: int
    end: int
    kinds: set[str] = field(default_factory=set)
    channels: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """Two traces, compared. `changes` are the columns at which either side changes its state; `at` is the place where
    the messages part first, `other` the first that holds another output, None where there is none. `deltas`: of two
    sides that are fed the same deltas the first step at which they send something else, seen at the column `sends`."""

    grade: Grade | None
    first: Divergence | None
    at: int | None
    other: int | None
    partings: list[Parting]
    starts: list[int]
    changes: list[int]
    texts: list[Pair]
    calls: list[CallPair]
    deltas: DeltaParting | None = None
    sends: int | None = None

    @property
    def opens(self) -> int | None:
        """The place that is said first of all: where the outputs or the messages part, else anything; None where
        nothing does."""
        said = [at for at in (self.other, self.at) if at is not None]
        return min(said or self.starts[:1], default=None)

    def size(self) -> int:
        """About how many bytes this weighs, without the traces it points into."""
        return 400 * len(self.partings) + 100 * len(self.changes) + 2_000 * len(self.calls) + 10_000


def compare(both: Both, rules: Rules) -> Comparison:
    """Compare two traces."""
    a, b = both.a, both.b
    texts, calls = text_pairs(both, rules), call_pairs(both, rules)
    pairs = [*texts, *(part for call in calls for part in call.parts)]
    said = [*_texts(both, pairs), *_ends(both, calls)]
    places = merged([*_outputs(both), *_owners(both), *map(_copy, said)], both.size)
    columns = _Columns(both, said, calls)
    first, deltas = _divergence(both, rules, columns, places), _deltas(both, rules)
    at = _first_at(both, first, columns)
    sends = None if deltas is None else both.size if deltas.end else both.on_b.edge(b.span(deltas.index)[0])
    if first is not None and at is not None and _holding(places, at) is None:
        places = merged([*places, Parting(at, at + 1, {"order"}, [str(first.channel)])], both.size)
    elif sends is not None and not places:
        places = [Parting(sends, sends + 1, {"sent"})]
    changes = {lane.edge(index.span(step)[0]) for index, lane in _sides(both) for step in index.changes}
    return Comparison(
        grade=grade(a.trace.message, b.trace.message, rules),
        first=first,
        at=None if at is None else _holding(places, at),
        other=min([_columns_of(both, hunk)[0] for hunk in both.hunks[:1]], default=None),
        partings=places,
        starts=[parting.start for parting in places],
        changes=sorted(changes),
        texts=texts,
        calls=calls,
        deltas=deltas,
        sends=sends,
    )


def _copy(place: Parting) -> Parting:
    """A place of its own: places that are merged take in those they touch."""
    return Parting(place.start, place.end, {*place.kinds}, [*place.channels])


def _divergence(both: Both, rules: Rules, columns: _Columns, places: list[Parting]) -> Divergence | None:
    """Where the messages part first; a finish reason that a recording has no place for parts nothing. Of channels that
    part in one place the verdict's is named: a number of calls, else reasoning before content."""
    found = divergence(both.a.trace, both.b.trace, rules)
    if found is None or found.channel.part == "finish_reason":
        return found if both.ends else None
    if not both.by_characters:
        return found

    def order(one: Divergence) -> tuple[int, bool]:
        at = columns.of(one)
        return next((place.start for place in places if place.start <= at < place.end), at), one.channel.part != "calls"

    return min(partings(both.a.trace, both.b.trace, rules), key=order)


def _deltas(both: Both, rules: Rules) -> DeltaParting | None:
    """Steps of long replays are not made for this."""
    a, b = both.a.trace, both.b.trace
    alike = not both.hunks and len(a.ends) <= MOST_STEPS and [*a.ends] == [*b.ends]
    return delta_parting(a, b, rules) if alike else None


def role_at(index: TraceIndex, offset: int) -> str:
    """The role of the character at `offset`, as it is drawn: unknown where neither the parser says it nor what it sent
    is found again."""
    at = bisect_right(index.owner_starts, offset) - 1
    _, end, role = index.owned(at) if at >= 0 else (0, 0, UNKNOWN)
    return role if offset < end else UNKNOWN


def _sides(both: Both) -> tuple[tuple[TraceIndex, Lane], tuple[TraceIndex, Lane]]:
    return (both.a, both.on_a), (both.b, both.on_b)


def _first_at(both: Both, first: Divergence | None, columns: _Columns) -> int | None:
    """The column where the messages part first."""
    if first is None:
        return None
    if both.by_characters and (at := columns.of(first)) < both.size:
        return at
    if both.hunks or first.raw is None:
        return min([parting.start for parting in columns.said], default=None)
    return both.on_a.column(first.raw)


@dataclass(slots=True, frozen=True)
class _Columns:
    """Says where what parts in a channel lies."""

    both: Both
    said: list[Parting]
    calls: list[CallPair]

    def of(self, parting: Divergence) -> int:
        """The first column of what parts; the end where nobody knows."""
        names = {str(parting.channel)}
        if parting.channel.part == "calls":
            names = {str(part.name) for pair in self.calls if None in (pair.a, pair.b) for part in pair.parts}
        own = [place.start for place in self.said if not names.isdisjoint(place.channels)]
        known = [] if parting.raw is None or self.both.hunks else [self.both.on_a.column(parting.raw)]
        return min(own or known, default=self.both.size)


def _holding(partings: list[Parting], at: int) -> int | None:
    """Where the place begins that a column is in."""
    return next((place.start for place in partings if place.start <= at < place.end), None)


def _columns_of(both: Both, hunk: Hunk) -> tuple[int, int]:
    """The columns of a difference between the outputs."""
    left = both.on_a.column(hunk.a0) if hunk.a1 > hunk.a0 else both.on_b.column(hunk.b0)
    return left, max(both.on_a.edge(hunk.a1), both.on_b.edge(hunk.b1))


def _outputs(both: Both) -> Iterator[Parting]:
    """Where the outputs differ."""
    for hunk in both.hunks:
        yield Parting(*_columns_of(both, hunk), {"output"})


def _owners(both: Both) -> Iterator[Parting]:
    """Runs of characters of both outputs whose owners differ."""
    one, other = both.a.owner_starts, both.b.owner_starts
    for start, shift, end in _shared_runs(both):
        i = max(0, bisect_right(both.a.owner_starts, start) - 1)
        j = max(0, bisect_right(both.b.owner_starts, start + shift) - 1)
        while i < len(one) and j < len(other) and one[i] < end:
            (x, x_end, role), (y, y_end, there) = both.a.owned(i), both.b.owned(j)
            low, high = max(x, y - shift, start), min(x_end, y_end - shift, end)
            if role != there and low < high:
                yield Parting(both.on_a.column(low), both.on_a.edge(high), {"owner"})
            i, j = i + (x_end <= y_end - shift), j + (y_end - shift <= x_end)


def _shared_runs(both: Both) -> Iterator[tuple[int, int, int]]:
    """Characters [start, end) of the first output that the other has too, so far to the right."""
    at, shift = 0, 0
    for hunk in both.hunks:
        yield at, shift, hunk.a0
        at, shift = hunk.a1, hunk.b1 - hunk.a1
    yield at, shift, len(both.a.trace.text)


def _texts(both: Both, pairs: Iterable[Pair]) -> Iterator[Parting]:
    """Yield where text came from that the other side does not have, and where the messages so far stop agreeing."""
    for pair in pairs:
        for hunk in pair.hunks:
            left, right = _origins(both.a, pair.a, hunk.a0, hunk.a1), _origins(both.b, pair.b, hunk.b0, hunk.b1)
            for lane, places in ((both.on_a, left), (both.on_b, right)):
                for start, end in places:
                    first = lane.column(start)
                    yield Parting(first, max(first + 1, lane.edge(end)), {"text"}, [str(pair.name)])
        if pair.hunks and (seen := _seen(both, pair, pair.hunks[0])) is not None:
            yield Parting(seen, seen + 1, {"order"}, [str(pair.name)])


def _origins(index: TraceIndex, channel: Channel, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The characters of the output that [low, high) of a channel were made of; what touches is one run."""
    if channel.laid is not None and (spans := [*channel.laid.spans(low, high)]):
        yield from spans
        return
    waiting = (0, 0)
    for piece in channel.between(low, high):
        start, end = _origin(index, piece, max(low - piece.at, 0), high - piece.at)
        if start == waiting[1]:
            start = waiting[0]
        elif waiting[1]:
            yield waiting
        waiting = start, end
    if waiting[1]:
        yield waiting


def _origin(index: TraceIndex, piece: Stretch, left: int, right: int) -> tuple[int, int]:
    """Return where characters [left, right) of a stretch came from; where the parser does not say, the step that sent
    it."""
    if piece.kind == "copied" and len(piece.text) == piece.end - piece.start:
        return piece.start + left, min(piece.start + right, piece.end)
    if piece.end > piece.start or piece.kind == "synthetic":
        return piece.start, max(piece.end, piece.start + 1)
    start = index.span(piece.step)[0]
    return start, start + 1


def _seen(both: Both, pair: Pair, first: Hunk) -> int | None:
    """The column by which both sides have sent more than they share; None where one of them never does."""
    if first.a0 >= pair.a.length or first.b0 >= pair.b.length:
        return None
    left, right = _sent(both.a, pair.a, first.a0), _sent(both.b, pair.b, first.b0)
    return max(both.on_a.column(left), both.on_b.column(right))


def _sent(index: TraceIndex, channel: Channel, offset: int) -> int:
    """The first character by which the character at `offset` of a channel can have been sent: its own, or the first
    of the step that sent it."""
    piece = channel.at(offset)
    own, _ = next(_origins(index, channel, offset, offset + 1))
    return max(own, index.span(piece.step)[0])


def _ends(both: Both, calls: Iterable[CallPair]) -> Iterator[Parting]:
    """Calls that are complete on one side only, and another finish reason: seen at the end of the output."""
    size = both.size
    for pair in calls:
        if pair.a and pair.b and pair.a.complete != pair.b.complete:
            known = ((both.a, both.on_a, pair.a), (both.b, both.on_b, pair.b))
            ends = [lane.column(index.span(call.ends)[0]) for index, lane, call in known if call.ends]
            yield Parting(max(ends, default=size), max(ends, default=size) + 1, {"end"}, [f"call {pair.a.number}"])
    if both.ends and both.a.trace.finish_reason != both.b.trace.finish_reason:
        yield Parting(size, size + 1, {"end"}, ["finish_reason"])


def merged(places: Iterable[Parting], size: int) -> list[Parting]:
    """The places in order, those that touch as one. The end of the output is a place of its own."""
    found: list[Parting] = []
    for place in sorted(places, key=lambda parting: (parting.start, parting.end)):
        last = found[-1] if found else None
        if last and place.start <= last.end and (place.start < size or last.start == size):
            last.end = max(last.end, place.end)
            last.kinds |= place.kinds
            last.channels += [name for name in place.channels if name not in last.channels]
        else:
            found.append(place)
    return found
