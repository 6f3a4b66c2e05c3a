"""The output once, with both sides on it: what became of every character on A and on B, around the cursor.

The window is what both sides can show: so many steps of either, and not more than so many characters. It is cut where
an owner changes, where a step of either side ends and where the sides begin or cease to part, so that inside one bit
the whole page is the same.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from webapp.glyphs import count, shorten, show_lines, spell
from webapp.page.compare.difference import CallPair, Comparison, Hunk, Pair, owner_at
from webapp.page.drawing import Bar, bars, percent
from webapp.page.inspect.index import DRAWN, STEPS_EACH_SIDE, UNKNOWN, CallIndex, Channel, TraceIndex, Window
from webapp.page.inspect.plots import RoleBar, role_bars
from webapp.page.inspect.result import Sent, folded, sent

CHARACTERS_EACH_SIDE = 1_500


@dataclass(slots=True)
class Bit:
    """Characters [start, end) with one owner on each side. `parts`: the sides part here; `future`: not fed yet."""

    start: int
    end: int
    a: str
    b: str
    text: str
    parts: bool
    current: bool
    future: bool

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show_lines(self.text)

    @property
    def classes(self) -> str:
        """The CSS classes: one role where both sides agree, a line for each where they do not."""
        flags = {"parts": self.parts, "future": self.future}
        own = ["run", f"role-{self.a}"] if self.a == self.b else ["both", f"a-{self.a}", f"b-{self.b}"]
        return " ".join(["bit", *own, *[name for name, on in flags.items() if on]])

    @property
    def words(self) -> str:
        """Return what became of it, in words."""
        return self.a if self.a == self.b else f"{self.a} on A, {self.b} on B"

    @property
    def label(self) -> str:
        """The name of the option that goes there."""
        differs = ", the sides part" if self.parts else ""
        return f"character {self.start:,}, {spell(shorten(self.text, 200))}, {self.words}{differs}"


@dataclass(slots=True)
class View:
    """Characters [start, end) are on the page, with the steps of either side that feed them."""

    start: int
    end: int
    a: Window
    b: Window


def view_around(a: TraceIndex, b: TraceIndex, at: int) -> View:
    """The window around the character at `at`."""
    size = len(a.trace.text)
    low, high = max(0, at - CHARACTERS_EACH_SIDE), min(size, at + CHARACTERS_EACH_SIDE)
    for index in (a, b):
        step = index.step_at(at)
        first = max(1, min(step - STEPS_EACH_SIDE, index.total - 2 * STEPS_EACH_SIDE))
        low = max(low, index.span(first)[0])
        high = min(high, index.step_ends[min(index.total, first + 2 * STEPS_EACH_SIDE) - 1])
    return View(low, high, _steps(a, low, high), _steps(b, low, high))


def _steps(index: TraceIndex, low: int, high: int) -> Window:
    last = index.total if high == len(index.trace.text) else index.step_at(high - 1)
    return Window(index.step_at(low), last, 0, 0, low, high)


def bits(a: TraceIndex, b: TraceIndex, comparison: Comparison, view: View, at: int) -> list[Bit]:
    """The characters of `view`."""
    edges = {view.start, view.end, *_edges(comparison, view)}
    for index in (a, b):
        edges.update(_inside(index.owner_starts, view))
        edges.update(_inside(index.step_ends, view))
    fed = max(_fed(index, at) for index in (a, b))
    found = []
    for start, end in itertools.pairwise(sorted(edges)):
        left, right = role_at(a, start), role_at(b, start)
        parts = comparison.parting_at(start) is not None
        found.append(
            Bit(start, end, left, right, a.trace.text[start:end], parts, start <= at < end, start >= fed)
        )  # fmt: skip
    return found


def role_at(index: TraceIndex, offset: int) -> str:
    """The role of a character as it is drawn."""
    owner = owner_at(index, offset)
    return DRAWN.get(owner.owner, owner.owner) if owner else UNKNOWN


def _fed(index: TraceIndex, at: int) -> int:
    """Return where the step that fed the character at `at` ends."""
    return index.step_ends[index.step_at(at) - 1]


def _inside(places: Sequence[int], view: View) -> Sequence[int]:
    return places[bisect_right(places, view.start) : bisect_left(places, view.end)]


def _edges(comparison: Comparison, view: View) -> Iterable[int]:
    low = max(0, bisect_right(comparison.starts, view.start) - 1)
    high = bisect_left(comparison.starts, view.end)
    for parting in comparison.partings[low:high]:
        yield from (edge for edge in (parting.start, parting.end) if view.start < edge < view.end)


# The overview of a comparison: the whole output over its characters, a lane for each side, and where they part.
#
# One SVG in percent, bounded like the inspector's band: what is narrower than a column is merged into its neighbour.

_TOPS = (-22.0, -2.0)  # what is added to the overview's heights for either side


@dataclass(slots=True, frozen=True)
class Band:
    """The band of two traces of one output. `marks` are where they part."""

    size: int
    lanes: tuple[list[RoleBar], list[RoleBar]]
    marks: list[Bar]
    cursor: float
    words: str


def band(a: TraceIndex, b: TraceIndex, comparison: Comparison, at: int) -> Band:
    """The band with the cursor on the character at `at`. The end of the output has a character's width of its own."""
    size, places = len(a.trace.text), comparison.partings
    where = ", ".join([f"{place.start:,} to {place.end:,}" for place in places[:20]])
    more = f" and {len(places) - 20:,} more" if len(places) > 20 else ""
    parts = f"They part at {count(len(places), 'place')}: {where}{more}." if places else "They part nowhere."

    def x(offset: float) -> float:
        return percent(offset, size + 1)

    return Band(
        size=size,
        lanes=(role_bars(a, x, _TOPS[0]), role_bars(b, x, _TOPS[1])),
        marks=list(bars([(str(number), x(place.start), x(place.end)) for number, place in enumerate(places)])),
        cursor=x(at + 0.5),
        words=f"What became of {count(size, 'character')} on side A and on side B. {parts} The cursor is at {at:,}.",
    )


# The messages of both sides beside each other, channel by channel, each as far as its side has got at the cursor.
#
# As in the result pane a message is drawn once and what is sent later is toned down. What the other side does not have
# is marked, and where this side has nothing of what the other has, a mark says how much.

_EXCERPT = 60
_CALLS_SHOWN = 60


@dataclass(slots=True, frozen=True)
class _Part:
    """Text sent in one step. `differs`: the other side has no counterpart; `missing`: what it has and we lack, `words`
    how much that is."""

    sent: Sent
    differs: bool = False
    missing: str = ""
    words: str = ""


@dataclass(slots=True)
class _Row:
    """One channel on both sides."""

    label: str
    same: bool
    a: list[_Part]
    b: list[_Part]


@dataclass(slots=True)
class _CallRow:
    """One call on both sides; None: that side has no call here."""

    a: CallIndex | None
    b: CallIndex | None
    same: bool
    rows: list[_Row]


@dataclass(slots=True)
class Messages:
    """Everything the message pane shows."""

    texts: list[_Row]
    calls: list[_CallRow]
    before: int
    after: int


def messages(a: TraceIndex, b: TraceIndex, comparison: Comparison, view: View) -> Messages:
    """The messages around `view`."""
    low, high = _shown(comparison.calls, a, b, view)
    return Messages(
        texts=[_row(pair, str(pair.name), a, b, view) for pair in comparison.texts if pair.a.length or pair.b.length],
        calls=[_call(pair, a, b, view) for pair in comparison.calls[low:high]],
        before=low,
        after=len(comparison.calls) - high,
    )


def _shown(pairs: list[CallPair], a: TraceIndex, b: TraceIndex, view: View) -> tuple[int, int]:
    """Which calls are open or begin inside the window, on either side."""
    inside = [at for at, pair in enumerate(pairs) if _is_open(pair.a, a, view.a) or _is_open(pair.b, b, view.b)]
    if not inside:
        return 0, 0
    return max(inside[0], inside[-1] + 1 - _CALLS_SHOWN), inside[-1] + 1


def _is_open(call: CallIndex | None, index: TraceIndex, window: Window) -> bool:
    return call is not None and call.begins <= window.last and (call.ends or index.total) >= window.first


def _call(pair: CallPair, a: TraceIndex, b: TraceIndex, view: View) -> _CallRow:
    parts = [part for part in pair.parts if part.a.length or part.b.length]
    rows = [_row(part, part.name.part, a, b, view) for part in parts]
    complete = pair.a is not None and pair.b is not None and pair.a.complete == pair.b.complete
    same = complete and all(part.same for part in pair.parts)
    return _CallRow(pair.a, pair.b, same, rows)


def _row(pair: Pair, label: str, a: TraceIndex, b: TraceIndex, view: View) -> _Row:
    left = _Side(a, pair.a, pair.b, pair.hunks, view.a)
    right = _Side(b, pair.b, pair.a, [Hunk(hunk.b0, hunk.b1, hunk.a0, hunk.a1) for hunk in pair.hunks], view.b)
    return _Row(label, pair.same, _parts(left), _parts(right))


@dataclass(slots=True)
class _Side:
    """One channel of one side: `hunks` say where it differs from `other`, this side first."""

    index: TraceIndex
    channel: Channel
    other: Channel
    hunks: list[Hunk]
    window: Window


def _parts(side: _Side) -> list[_Part]:
    """The text sent inside the window, split where a difference begins or ends; the rest counted."""
    channel = side.channel
    low, high = channel.length_at(side.window.first - 1), channel.length_at(side.window.last)
    before, after = folded(channel, 0, low), folded(channel, high, channel.length)
    return [*map(_Part, before), *_marked(side, low, high), *map(_Part, after)]


def _marked(side: _Side, low: int, high: int) -> Iterator[_Part]:
    at = low
    for hunk in side.hunks:
        if hunk.a1 < low or hunk.a0 > high:
            continue
        start, end = max(hunk.a0, low), min(hunk.a1, high)
        yield from map(_Part, sent(side.channel, at, start))
        if hunk.b1 > hunk.b0:
            yield _missing(side, hunk)
        yield from (_Part(one, differs=True) for one in sent(side.channel, start, end))
        at = end
    yield from map(_Part, sent(side.channel, at, high))


def _missing(side: _Side, hunk: Hunk) -> _Part:
    """The mark for what only the other side has; it stands where this side was fed the same characters."""
    other, size = side.other, hunk.b1 - hunk.b0
    pieces = [*itertools.islice(other.between(hunk.b0, other.length), _EXCERPT)]
    start, text = pieces[0].start, "".join([piece.text for piece in pieces])[hunk.b0 - pieces[0].at :]
    words = count(size, "character") + (" missing" if hunk.a0 == hunk.a1 else " instead")
    mark = Sent("", side.channel.role, side.index.step_at(start), start, start)
    return _Part(mark, missing=shorten(text[:size], _EXCERPT), words=words)
