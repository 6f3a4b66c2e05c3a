"""Which characters of one message have no counterpart in another made from the same output.

Two texts of a channel are aligned by where in the output their characters come from, not by what they look like: a
lost argument of a long list shows as that argument, and what follows it stays equal. Strategy: both channels become
atoms (copied text with its place, or other text at a place); a walk with two fingers over atoms in the order of the
output gives blocks that are equal by origin; what lies between two blocks, less what its two sides share at either
end, is a difference. Where a parser does not say where its text comes from, the texts alone are compared.

O(n) in both texts and their stretches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.compare.divergence import Rules, same_message, shared_prefix
from parsers.vocabulary.types import Message, ToolCall
from webapp.page.index import CallIndex, Channel, TraceIndex

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

    name: str
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
    return [_pair("reasoning", a.reasoning, b.reasoning, rules), _pair("content", a.content, b.content, rules)]


def call_pairs(a: TraceIndex, b: TraceIndex, rules: Rules) -> list[CallPair]:
    """The calls of both sides. Calls whose names stand at one place belong together; those between, in order."""
    found: list[CallPair] = []
    for left, right in _matched(list(a.calls.values()), list(b.calls.values())):
        number = (left or right or CallIndex(0, 0)).number
        parts = [_pair(f"tool_calls[{number}].{part}", _part(left, part), _part(right, part), rules) for part in PARTS]
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
    return next((stretch.start for stretch in call.name.stretches if stretch.end > stretch.start), None)


def _in_order(a: list[CallIndex], b: list[CallIndex]) -> Iterator[tuple[CallIndex | None, CallIndex | None]]:
    for at in range(max(len(a), len(b))):
        yield a[at] if at < len(a) else None, b[at] if at < len(b) else None


def _pair(name: str, a: Channel, b: Channel, rules: Rules) -> Pair:
    left, right = a.text(), b.text()
    same = left == right or same_message(_message(name, left), _message(name, right), rules)
    return Pair(name, a, b, same, [] if same else list(hunks(a, b)))


def _message(name: str, text: str) -> Message:
    """A message of this channel alone, so that the rules of a whole message decide."""
    if "." not in name:
        return Message(reasoning=text) if name == "reasoning" else Message(content=text)
    call = ToolCall(None, "", "")
    setattr(call, name.rpartition(".")[2], text)
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
    """Where the texts of two channels differ, in order."""
    left, right = a.text(), b.text()
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
    for piece, at in zip(channel.stretches, channel.offsets, strict=False):
        copied, size = piece.kind == "copied", len(piece.text)
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
