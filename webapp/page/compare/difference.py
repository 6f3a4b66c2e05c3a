"""Which characters of one message have no counterpart in another made from the same output.

Two texts of a channel are aligned by where in the output their characters come from, not by what they look like: a
lost argument of a long list shows as that argument, and what follows it stays equal. Strategy: both channels become
atoms (copied text with its place, or other text at a place); a walk with two fingers over atoms in the order of the
output gives blocks that are equal by origin; what lies between two blocks, less what its two sides share at either
end, is a difference. Where a parser does not say where its text comes from, the texts alone are compared.

O(n) in both texts and their stretches.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from parsers.compare.divergence import Divergence, Grade, Rules, divergence, grade, same_message, shared_prefix
from parsers.vocabulary import channels
from parsers.vocabulary.events import Failure
from parsers.vocabulary.stretches import Stretch
from parsers.vocabulary.trace import Ownership
from parsers.vocabulary.types import Message, ToolCall
from webapp.page.inspect.index import CallIndex, Channel, TraceIndex

PARTS = ("name", "id", "arguments")


@dataclass(slots=True, frozen=True)
class Hunk:
    """Characters [a0, a1) of one text stand where the other has [b0, b1)."""

    a0: int
    a1: int
    b0: int
    b1: int


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


def text_pairs(a: TraceIndex, b: TraceIndex, rules: Rules) -> list[Pair]:
    """Reasoning and content."""
    return [
        _pair(channels.REASONING, a.reasoning, b.reasoning, rules),
        _pair(channels.CONTENT, a.content, b.content, rules),
    ]


def call_pairs(a: TraceIndex, b: TraceIndex, rules: Rules) -> list[CallPair]:
    """The calls of both sides. Calls whose names stand at one place belong together; those between, in order."""
    found: list[CallPair] = []
    for left, right in _matched(list(a.calls.values()), list(b.calls.values())):
        number = next(call.number for call in (left, right) if call is not None)
        names = [channels.Channel(number, part) for part in channels.CALL_PARTS]
        parts = [_pair(name, _part(left, name.part), _part(right, name.part), rules) for name in names]
        found.append(CallPair(left, right, parts))
    return found


def _part(call: CallIndex | None, part: str) -> Channel:
    found: Channel = getattr(call, part) if call else Channel(part)
    return found


def _matched(a: list[CallIndex], b: list[CallIndex]) -> Iterator[tuple[CallIndex | None, CallIndex | None]]:
    places = {_place(call): at for at, call in enumerate(b) if _place(call) is not None}
    done = 0
    waiting: list[CallIndex] = []
    for call in a:
        at = places.get(_place(call), -1)
        if at < done:
            waiting.append(call)
            continue
        yield from _in_order(waiting, b[done:at])
        yield call, b[at]
        waiting, done = [], at + 1
    yield from _in_order(waiting, b[done:])


def _place(call: CallIndex) -> int | None:
    return next((stretch.start for stretch in call.name.rows() if stretch.end > stretch.start), None)


def _in_order(a: list[CallIndex], b: list[CallIndex]) -> Iterator[tuple[CallIndex | None, CallIndex | None]]:
    for at in range(max(len(a), len(b))):
        yield a[at] if at < len(a) else None, b[at] if at < len(b) else None


def _pair(name: channels.Channel, a: Channel, b: Channel, rules: Rules) -> Pair:
    left, right = a.text, b.text
    same = left == right or same_message(_message(name, left), _message(name, right), rules)
    return Pair(name, a, b, same, [] if same else list(hunks(a, b)))


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


# Where two replays of one output part: every place, as characters of the output, and the sentence about it.
#
# A place where they part is a run of characters that have another owner, or that became text the other side does not
# have, or the character with which the two messages so far stop being beginnings of one another. Runs that touch are
# one. O(n) in the two traces; computed once per pair and kept.


@dataclass(slots=True)
class Parting:
    """Characters [start, end) over which the sides part; `kinds` says how: owner, text, order or end."""

    start: int
    end: int
    kinds: set[str] = field(default_factory=set)
    channels: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """Two traces of one output, compared. `changes` are the characters with which either side changes its state."""

    grade: Grade | None
    first: Divergence | None
    partings: list[Parting]
    starts: list[int]
    changes: list[int]
    texts: list[Pair]
    calls: list[CallPair]
    raised: tuple[Failure | None, Failure | None]

    def size(self) -> int:
        """About how many bytes this weighs, without the traces it points into."""
        return 400 * len(self.partings) + 100 * len(self.changes) + 2_000 * len(self.calls) + 10_000

    def parting_at(self, offset: int) -> Parting | None:
        """The place that holds the character at `offset`."""
        at = bisect_right(self.starts, offset) - 1
        found = self.partings[at] if at >= 0 else None
        return found if found and offset < found.end else None


def compare(a: TraceIndex, b: TraceIndex, rules: Rules) -> Comparison:
    """Compare two traces of the same output."""
    texts, calls = text_pairs(a, b, rules), call_pairs(a, b, rules)
    pairs = [*texts, *(part for call in calls for part in call.parts)]
    places = [*_owners(a, b), *_texts(a, b, pairs), *_ends(a, b, calls)]
    partings = _merged(places, len(a.trace.text))
    return Comparison(
        grade=grade(a.trace.message, b.trace.message, rules),
        first=divergence(a.trace, b.trace, rules),
        partings=partings,
        starts=[parting.start for parting in partings],
        changes=sorted({index.span(step)[0] for index in (a, b) for step in index.changes}),
        texts=texts,
        calls=calls,
        raised=(a.trace.failure, b.trace.failure),
    )


def owner_at(index: TraceIndex, offset: int) -> Ownership | None:
    """Who owns the character at `offset`; None where the parser does not say."""
    at = bisect_right(index.owner_starts, offset) - 1
    found = index.trace.partition[at] if at >= 0 else None
    return found if found and offset < found.end else None


def _owners(a: TraceIndex, b: TraceIndex) -> Iterator[Parting]:
    """Runs of characters whose owners differ."""
    one, other = a.trace.partition, b.trace.partition
    i = j = 0
    while i < len(one) and j < len(other):
        x, y = one[i], other[j]
        start, end = max(x.start, y.start), min(x.end, y.end)
        if x.owner != y.owner and start < end:
            yield Parting(start, end, {"owner"})
        i, j = i + (x.end <= y.end), j + (y.end <= x.end)


def _texts(a: TraceIndex, b: TraceIndex, pairs: Iterable[Pair]) -> Iterator[Parting]:
    """Yield where text came from that the other side does not have, and where the messages so far stop agreeing."""
    for pair in pairs:
        for hunk in pair.hunks:
            for start, end in (*_origins(a, pair.a, hunk.a0, hunk.a1), *_origins(b, pair.b, hunk.b0, hunk.b1)):
                yield Parting(start, end, {"text"}, [str(pair.name)])
        if pair.hunks and (seen := _seen(a, b, pair, pair.hunks[0])) is not None:
            yield Parting(seen, seen + 1, {"order"}, [str(pair.name)])


def _origins(index: TraceIndex, channel: Channel, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The characters of the output that [low, high) of a channel were made of; what touches is one run."""
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


def _seen(a: TraceIndex, b: TraceIndex, pair: Pair, first: Hunk) -> int | None:
    """The character by which both sides have sent more than they share; None where one of them never does."""
    if first.a0 >= pair.a.length or first.b0 >= pair.b.length:
        return None
    return max(_sent(a, pair.a, first.a0), _sent(b, pair.b, first.b0))


def _sent(index: TraceIndex, channel: Channel, offset: int) -> int:
    """The first character fed with the step that sent the character at `offset` of a channel."""
    return index.span(channel.at(offset).step)[0]


def _ends(a: TraceIndex, b: TraceIndex, calls: Iterable[CallPair]) -> Iterator[Parting]:
    """Calls that are complete on one side only, and another finish reason: seen at the end of the output."""
    size = len(a.trace.text)
    for pair in calls:
        if pair.a and pair.b and pair.a.complete != pair.b.complete:
            ends = [index.span(call.ends)[0] for index, call in ((a, pair.a), (b, pair.b)) if call.ends]
            yield Parting(max(ends, default=size), max(ends, default=size) + 1, {"end"}, [f"call {pair.a.number}"])
    if a.trace.finish_reason != b.trace.finish_reason:
        yield Parting(size, size + 1, {"end"}, ["finish_reason"])


def _merged(places: list[Parting], size: int) -> list[Parting]:
    """The places in order, those that touch as one. The end of the output is a place of its own."""
    merged: list[Parting] = []
    for place in sorted(places, key=lambda parting: (parting.start, parting.end)):
        last = merged[-1] if merged else None
        if last and place.start <= last.end and (place.start < size or last.start == size):
            last.end = max(last.end, place.end)
            last.kinds |= place.kinds
            last.channels += [name for name in place.channels if name not in last.channels]
        else:
            merged.append(place)
    return merged
