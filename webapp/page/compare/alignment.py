"""One axis for several texts: the columns on which what they share stands together.

Strategy: every text is aligned with the first by its words. What both begin and end with goes first; of the rest, words
that occur once in both are anchors where they are in one order; what lies between two anchors is aligned again, and by
a table of words where it is small. The axis is the first text with room for what others have more.

Invariants: a text never goes back on the axis; texts that are equal have one column for each character. Anchors take
O(n log n); all tables together have at most `_CELLS` cells, and what is left over then is one difference.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import accumulate

from parsers.compare.divergence import shared_prefix

_WORDS = re.compile(r"\w+|\s|[^\w\s]")
_TABLE = 10_000  # cells of one table of words, at most
_CELLS = 500_000  # of all tables of two texts
_ENOUGH = 4  # characters of a text that are found again inside other text by no chance
_APART = 3  # characters between two differences that are told as one, at most
_DEPTH = 12  # anchors inside anchors

Block = tuple[int, int, int]  # place in one, place in the other, length


@dataclass(slots=True, frozen=True)
class Hunk:
    """Characters [a0, a1) of one text stand where the other has [b0, b1)."""

    a0: int
    a1: int
    b0: int
    b1: int


def text_hunks(a: str, b: str, cuts: Sequence[Sequence[int]] = ((), ())) -> list[Hunk]:
    """Return where two texts differ, in order: in whole words, but for what one of them only has more. No word goes
    over the `cuts` of either text."""
    if a == b:
        return []
    one, other = _words(a, cuts[0]), _words(b, cuts[1])
    at_a, at_b = [*accumulate(map(len, one), initial=0)], [*accumulate(map(len, other), initial=0)]
    found, i, j = [], 0, 0
    for x, y, size in [*_Words(one, other).blocks(), (len(one), len(other), 0)]:
        if x > i or y > j:
            found.append(Hunk(at_a[i], at_a[x], at_b[j], at_b[y]))
        i, j = x + size, y + size
    return [less for hunk in _joined(found, a) for less in _only_more(hunk, a, b)]


def _words(text: str, cuts: Sequence[int]) -> list[str]:
    ends = itertools.pairwise([0, *cuts, len(text)])
    return [word for start, end in ends for word in _WORDS.findall(text, start, end)]


def _only_more(hunk: Hunk, a: str, b: str) -> Iterator[Hunk]:
    """A difference in which one side has all of the other is what it has more: behind it, as of an output that was cut
    off inside a word, and of enough characters also inside or around it."""
    x, y = a[hunk.a0 : hunk.a1], b[hunk.b0 : hunk.b1]
    less, more = sorted((x, y), key=len)
    head = shared_prefix(x, y)
    tail = len(less) - head
    if tail and len(less) < _ENOUGH:
        yield hunk
    elif more.endswith(less[head:]):
        yield from _filled(Hunk(hunk.a0 + head, hunk.a1 - tail, hunk.b0 + head, hunk.b1 - tail))
    elif (at := more.find(less)) >= 0:
        left, right = (at, 0) if more is x else (0, at)
        yield Hunk(hunk.a0, hunk.a0 + left, hunk.b0, hunk.b0 + right)
        yield from _filled(Hunk(hunk.a0 + left + len(less), hunk.a1, hunk.b0 + right + len(less), hunk.b1))
    else:
        yield hunk


def _filled(hunk: Hunk) -> Iterator[Hunk]:
    if hunk.a1 > hunk.a0 or hunk.b1 > hunk.b0:
        yield hunk


def _joined(hunks: Sequence[Hunk], a: str) -> list[Hunk]:
    """Differences that only a blank or punctuation parts are one, so that a sentence is not told word by word."""
    found: list[Hunk] = []
    for hunk in hunks:
        between = a[found[-1].a1 : hunk.a0] if found else ""
        if found and len(between) <= _APART and not any(map(str.isalnum, between)):
            found[-1] = Hunk(found[-1].a0, hunk.a1, found[-1].b0, hunk.b1)
        else:
            found.append(hunk)
    return found


@dataclass(slots=True)
class _Words:
    """Two lists of words that are aligned, and how many cells their tables may still have."""

    a: Sequence[str]
    b: Sequence[str]
    cells: int = _CELLS

    def blocks(self) -> list[Block]:
        """The words that both have, in order; blocks that touch are one."""
        merged: list[Block] = []
        for x, y, size in self._between(0, len(self.a), 0, len(self.b), 0):
            last = merged[-1] if merged else None
            if last and last[0] + last[2] == x and last[1] + last[2] == y:
                merged[-1] = last[0], last[1], last[2] + size
            elif size:
                merged.append((x, y, size))
        return merged

    def _between(self, a0: int, a1: int, b0: int, b1: int, depth: int) -> Iterator[Block]:
        head = _shared(self.a, self.b, range(a0, a1), range(b0, b1))
        yield a0, b0, head
        a0, b0 = a0 + head, b0 + head
        tail = _shared(self.a, self.b, range(a0, a1)[::-1], range(b0, b1)[::-1])
        if a0 < a1 - tail and b0 < b1 - tail:
            yield from self._inside(a0, a1 - tail, b0, b1 - tail, depth)
        yield a1 - tail, b1 - tail, tail

    def _inside(self, a0: int, a1: int, b0: int, b1: int, depth: int) -> Iterator[Block]:
        cells = (a1 - a0) * (b1 - b0)
        if cells <= min(_TABLE, self.cells):
            self.cells -= cells
            table = SequenceMatcher(None, self.a[a0:a1], self.b[b0:b1], autojunk=False)
            yield from ((a0 + x, b0 + y, size) for x, y, size in table.get_matching_blocks() if size)
            return
        anchors = self._anchors(a0, a1, b0, b1) if depth < _DEPTH else []
        if not anchors:
            return
        for x, y in anchors:
            yield from self._between(a0, x, b0, y, depth + 1)
            yield x, y, 1
            a0, b0 = x + 1, y + 1
        yield from self._between(a0, a1, b0, b1, depth + 1)

    def _anchors(self, a0: int, a1: int, b0: int, b1: int) -> list[tuple[int, int]]:
        """Words that occur once on either side: the longest series of them that is in one order."""
        once_a, once_b = _once(self.a, a0, a1), _once(self.b, b0, b1)
        pairs = [(at, once_b[word]) for word, at in once_a.items() if word in once_b]
        return _rising(pairs)


def _shared(a: Sequence[str], b: Sequence[str], one: range, other: range) -> int:
    """Return how many words two ranges have in common from their beginnings on."""
    return next(
        (n for n, (x, y) in enumerate(zip(one, other, strict=False)) if a[x] != b[y]), min(len(one), len(other))
    )


def _once(words: Sequence[str], low: int, high: int) -> dict[str, int]:
    times = Counter(words[low:high])
    return {words[at]: at for at in range(low, high) if times[words[at]] == 1}


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest series of pairs, which are in order of the first, in which the second rises too."""
    ends: list[int] = []  # the last of the best series of each length
    best: list[int] = []  # the same as numbers of pairs
    before = [-1] * len(pairs)
    for number, (_, y) in enumerate(pairs):
        at = bisect_left(ends, y)
        before[number] = best[at - 1] if at else -1
        ends[at : at + 1], best[at : at + 1] = [y], [number]
    found, number = [], best[-1] if best else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


@dataclass(slots=True)
class Lane:
    """Where the characters of one text stand on the axis: runs of them, each by its first column, its first character
    and its length."""

    length: int
    columns: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, column: int, offset: int, size: int) -> None:
        """Append a run."""
        last = len(self.columns) - 1
        if last >= 0 and self.columns[last] + self.sizes[last] == column:
            self.sizes[last] += size
        elif size:
            self.columns.append(column)
            self.offsets.append(offset)
            self.sizes.append(size)

    def offset(self, column: int) -> int:
        """The character at a column; where this text has none there, the next one it has."""
        at = bisect_right(self.columns, column) - 1
        if at < 0:
            return 0
        return self.offsets[at] + min(column - self.columns[at], self.sizes[at])

    def column(self, offset: int) -> int:
        """The column of a character; of the end of the text, that behind its last character."""
        if offset >= self.length:
            return self.edge(offset)
        at = bisect_right(self.offsets, offset) - 1
        return self.columns[at] + offset - self.offsets[at]

    def edge(self, offset: int) -> int:
        """The column behind the character before: from there on this text is at `offset`."""
        if offset <= 0 or not self.columns:
            return 0
        at = bisect_right(self.offsets, offset - 1) - 1
        return self.columns[at] + offset - self.offsets[at]


@dataclass(slots=True)
class Axis:
    """The columns of several texts. `hunks` of each say where it differs from the first."""

    size: int
    lanes: list[Lane]
    hunks: list[list[Hunk]]

    @property
    def single(self) -> bool:
        """Return whether all texts are one."""
        return not any(self.hunks)

    def nbytes(self) -> int:
        """About how many bytes of memory it takes."""
        return 1_000 + 120 * sum(len(lane.columns) for lane in self.lanes) + 150 * sum(map(len, self.hunks))


def axis_of(texts: Sequence[str], cuts: Sequence[Sequence[int]] | None = None) -> Axis:
    """The axis of several texts, each aligned with the first. `cuts`: where in each of them no word goes on."""
    first, places = texts[0], cuts or [()] * len(texts)
    others = zip(texts[1:], places[1:], strict=True)
    hunks = [[], *[text_hunks(first, text, (places[0], own)) for text, own in others]]
    room: dict[int, int] = {}
    for hunk in [hunk for one in hunks for hunk in one]:
        more = (hunk.b1 - hunk.b0) - (hunk.a1 - hunk.a0)
        room[hunk.a1] = max(room.get(hunk.a1, 0), more)
    own = _first_lane(len(first), room)
    size = own.edge(len(first)) + room.get(len(first), 0)
    lanes = [own, *[_lane(own, len(text), one) for text, one in zip(texts[1:], hunks[1:], strict=True)]]
    return Axis(size, lanes, hunks)


def _first_lane(length: int, room: dict[int, int]) -> Lane:
    lane, done, shift = Lane(length), 0, 0
    for at in [*sorted(at for at, more in room.items() if more), length]:
        lane.add(done + shift, done, at - done)
        done, shift = at, shift + room.get(at, 0)
    return lane


def _lane(own: Lane, length: int, hunks: Sequence[Hunk]) -> Lane:
    lane, at, other = Lane(length), 0, 0
    for hunk in [*hunks, Hunk(own.length, own.length, length, length)]:
        for column, offset, size in _runs(own, at, hunk.a0):
            lane.add(column, other + offset - at, size)
        start = own.column(hunk.a0) if hunk.a1 > hunk.a0 else own.edge(hunk.a0)
        lane.add(start, hunk.b0, hunk.b1 - hunk.b0)
        at, other = hunk.a1, hunk.b1
    return lane


def _runs(lane: Lane, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """The runs of characters [low, high)."""
    at = max(0, bisect_right(lane.offsets, low) - 1)
    while low < high:
        end = min(high, lane.offsets[at] + lane.sizes[at])
        yield lane.columns[at] + low - lane.offsets[at], low, end - low
        low, at = end, at + 1
