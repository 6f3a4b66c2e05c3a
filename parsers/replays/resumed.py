"""Replays that read an output only where a cut matters: from the state before it, until the state is the same again.

The reference is the output in one delta, which the parser reads in slices (see `Resumable`); its state is taken down
after each. A replay of the same output with few cuts is the reference up to the slice of a cut. There the state is
gone back to, the text is read in the deltas that the cuts make, and once the state is that of the reference at the same
place, all that follows is the reference again. Nothing is assumed: what is not read was read by the same parser in an
equal state, in the same slices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from parsers.replays.chunking import Chunking, cut_pieces, resolved
from parsers.replays.replayer import Outcome, Replayer
from parsers.vocabulary.events import Event
from parsers.vocabulary.states import Resumable, State
from parsers.vocabulary.types import Delta, Message, Piece, ToolCall
from parsers.wire.assemble import Assembler, Said

_VALUES = 4  # so many values of a state take as long as a character that is read
_HEAVY = 30  # values for each character of the output (and some more) beyond which states are too much to keep


class Resumed:
    """Replays of one output. `characters`: how many were read for them until now, or what takes as long."""

    def __init__(self, replayer: Replayer) -> None:
        self.characters = 0
        self._replayer = replayer
        self._size = len(replayer.text)
        self._ends = list(accumulate([len(piece.text) for piece in replayer.pieces]))
        self._reference = _reference(replayer)

    @property
    def able(self) -> bool:
        """Return whether the parser can compare its states. Otherwise every replay runs from the start to the end."""
        return self._reference is not None

    def outcome(self, cuts: Sequence[int]) -> Outcome | None:
        """The outcome of the output cut at these offsets, none of which is inside a marker that is never split; None
        where only a replay in full can say."""
        if self._reference is None:
            return None
        variant = _Variant(self._reference)
        try:
            for start, end in pairwise((0, *cuts, self._size)):
                for stop in variant.stops(start, end):
                    variant.read(self._delta(variant.at, stop), stop, last=stop == end)
            variant.finish(self._replayer.context.finish_reason)
        except Exception:
            self.characters += self._size
            return None  # a replay in full says what it failed with, and where
        finally:
            self.characters += variant.characters
        return Outcome(variant.message(), len(cuts) + 1)

    def cut_off(self, offset: int) -> Outcome | None:
        """The outcome of the first `offset` characters in one delta; None where only a replay in full can say."""
        found = self._cut_off(offset)
        if self._reference is None or found is None:
            return None
        number, said = found
        return Outcome(_joined([*self._reference.said[:number], said]).message(), 1)

    def telling(self, offsets: Iterable[int], whole: Sequence[ToolCall]) -> Iterator[int]:
        """Those of the ascending offsets at which the output cut off may give a call as whole that is none of `whole`,
        or makes the parser fail. Nothing else is looked at."""
        calls = None if self._reference is None else _CallsSoFar(self._reference, whole)
        for offset in offsets:
            found = self._cut_off(offset)
            if calls is None or found is None or calls.may_be_new(*found):
                yield offset

    def _cut_off(self, offset: int) -> tuple[int, Said] | None:
        """The number of the last place before an offset, and what is sent from there where the output ends at it."""
        reference = self._reference
        if reference is None:
            return None
        number, assembler = bisect_left(reference.places, offset) - 1, Assembler()
        start = reference.places[number]
        self.characters += offset - start + reference.weights[number] // _VALUES
        try:
            reference.parser.resume(reference.states[number])
            assembler.absorb(reference.parser.feed(self._delta(start, offset)))
            assembler.absorb(reference.parser.finish(self._replayer.context.finish_reason))
        except Exception:
            return None
        return number, assembler.said()

    def _delta(self, start: int, end: int) -> Delta:
        if self._replayer.mode == "text":
            return Delta(1, (Piece(self._replayer.text[start:end]),))
        first = bisect_right(self._ends, start)
        begin = self._ends[first - 1] if first else 0
        pieces = self._replayer.pieces[first : bisect_left(self._ends, end) + 1]
        return Delta(1, cut_pieces(pieces, (start - begin, end - begin))[1])


class _NoStateError(Exception):
    """There is no state to compare."""


class _Reference:
    """The output in one delta: `places` are the ends of the slices, `states` those there, `said` what each sends. The
    last of `said` is what the end sends."""

    def __init__(self, parser: Resumable, places: Sequence[int]) -> None:
        self.parser = parser
        self.places = places
        self.numbers = {place: number for number, place in enumerate(places)}
        self.states: list[State] = []
        self.weights: list[int] = []
        self._left = _HEAVY * (places[-1] + _HEAVY)
        self.said: list[Said] = []
        self.message = Message()

    def keep(self) -> None:
        """Keep the state that the parser is in. Raises _NoStateError where it cannot say, or that is too much."""
        state = self.parser.snapshot()
        if state is None or self._left < 0:
            raise _NoStateError
        self.states.append(state)
        self.weights.append(state.weight)
        self._left -= state.weight

    def between(self, first: int, last: int) -> Said:
        """What is sent from one place to another."""
        return self.said[first] if last == first + 1 else _joined(self.said[first:last]).said()


def _reference(replayer: Replayer) -> _Reference | None:
    """The reference, or None where the parser cannot compare its states, or fails, or keeps ever more of them."""
    parser = replayer.make()
    if not isinstance(parser, Resumable) or not replayer.text:
        return None
    inside = range(parser.stride, len(replayer.text), parser.stride)
    deltas = replayer.deltas(Chunking.model_construct(by="cuts", cuts=tuple(inside)))
    found = _Reference(parser, [0, *resolved(deltas), len(replayer.text)])
    parser.transitions = None
    try:
        parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
        found.keep()
        for delta in deltas:
            feed = parser.feed if delta is deltas[-1] else parser.feed_part
            found.said.append(_sent(feed(delta)))
            found.keep()
        found.said.append(_sent(parser.finish(replayer.context.finish_reason)))
    except Exception:
        return None
    found.message = _joined(found.said).message()
    return found


class _Variant:
    """A replay beside the reference. `at`: how far it is. `number`: the place at which it is the reference, None while
    its state is another one. `characters`: how many were read, or what takes as long."""

    def __init__(self, reference: _Reference) -> None:
        self.at = self.characters = 0
        self._reference = reference
        self._number: int | None = 0
        self._since = 0
        self._sent = Assembler()
        self._others: list[tuple[int, int, Said]] = []  # what is sent between two places where it is not the same

    def stops(self, start: int, end: int) -> Iterator[int]:
        """Where the parts of a delta end that have to be read: what the reference reads in the same state is passed."""
        places, long = self._reference.places, end - start > self._reference.parser.stride
        while True:
            if long and self._number is not None:
                self._number = bisect_left(places, end) - 1
                self.at = places[self._number]
            if self._number == len(places) - 2 and end == places[-1]:  # the last part is the reference's too
                self.at, self._number = end, len(places) - 1
            else:
                yield min(end, places[bisect_right(places, self.at)]) if long else end
            if self.at == end:
                return

    def read(self, delta: Delta, stop: int, *, last: bool) -> None:
        """Read on to `stop`; `last`: there the delta ends."""
        reference, parser = self._reference, self._reference.parser
        if self._number is not None:
            parser.resume(reference.states[self._number])
            self.characters += reference.weights[self._number] // _VALUES
            self._since, self._number, self._sent = self._number, None, Assembler()
        self._sent.absorb(parser.feed(delta) if last else parser.feed_part(delta))
        self.characters += stop - self.at
        self.at = stop
        number = reference.numbers.get(stop)
        if number is not None:
            self.characters += reference.weights[number] // _VALUES
            if parser.snapshot() == reference.states[number]:
                self._number = number
                self._settle(number)

    def finish(self, reason: str | None) -> None:
        """The output is over."""
        if self._number is None:
            self._sent.absorb(self._reference.parser.finish(reason))
            self._settle(len(self._reference.said))

    def _settle(self, number: int) -> None:
        """What was sent up to here is known, and no more of it will come."""
        said = self._sent.said()
        if said != self._reference.between(self._since, number):
            self._others.append((self._since, number, said))

    def message(self) -> Message:
        """The message of the replay."""
        if not self._others:
            return self._reference.message
        said, at = list[Said](), 0
        for first, last, other in self._others:
            said += [*self._reference.said[at:first], other]
            at = last
        return _joined([*said, *self._reference.said[at:]]).message()


class _CallsSoFar:
    """The calls that the reference has sent by a place: the name of each, and how much of its arguments."""

    def __init__(self, reference: _Reference, whole: Sequence[ToolCall]) -> None:
        self._reference = reference
        self._whole = [(call.name, call.arguments) for call in whole]
        self._number = 0
        self._calls: dict[int, tuple[str, int]] = {}
        self._last: int | None = None

    def _advance(self, number: int) -> None:
        """Take in what is sent up to a place."""
        for _, _, calls in self._reference.said[self._number : number]:
            for index, _, name, arguments, _ in calls:
                before, size = self._calls.get(index, ("", 0))
                self._calls[index], self._last = (name or before, size + len(arguments)), index
        self._number = number

    def may_be_new(self, number: int, said: Said) -> bool:
        """Return whether what is sent from a place to the end may make a whole call that the whole output has not. A
        call that goes on there and is not ended counts as whole. Places ascend."""
        self._advance(number)
        ended = {index: (name, arguments) for index, _, name, arguments, complete in said[2] if complete}
        mentioned = {call[0] for call in said[2]}
        if self._last is not None and self._last not in mentioned:
            ended[self._last] = "", ""
        return any(not self._is_known(index, *call) for index, call in ended.items())

    def _is_known(self, index: int, name: str, arguments: str) -> bool:
        if index >= len(self._whole):
            return False
        before, size = self._calls.get(index, ("", 0))
        own, whole = self._whole[index]
        return own == (name or before) and len(whole) == size + len(arguments) and whole.endswith(arguments)


def _sent(events: Iterable[Event]) -> Said:
    assembler = Assembler()
    assembler.absorb(events)
    return assembler.said()


def _joined(parts: Iterable[Said]) -> Assembler:
    assembler = Assembler()
    for said in parts:
        assembler.take(said)
    return assembler
