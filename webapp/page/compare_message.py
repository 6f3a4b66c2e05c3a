"""The messages of both sides beside each other, channel by channel, each as far as its side has got at the cursor.

As in the result pane a message is drawn once and what is sent later is toned down. What the other side does not have
is marked, and where this side has nothing of what the other has, a mark says how much.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from webapp.page.compare_channels import CallPair, Hunk, Pair
from webapp.page.compare_parts import Comparison
from webapp.page.compare_text import View
from webapp.page.glyphs import count, shorten, show_lines
from webapp.page.index import CallIndex, Channel, TraceIndex
from webapp.page.window import Window

FOLDED = 2_000
EXCERPT = 60
CALLS_SHOWN = 60


@dataclass(slots=True)
class Part:
    """Text sent in one step. `differs`: the other side has no counterpart; `missing`: what it has and we lack, `words`
    how much that is; `folded`: text outside the window, counted and not shown."""

    text: str
    role: str
    step: int
    differs: bool = False
    missing: str = ""
    words: str = ""
    folded: str = ""

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show_lines(self.text)


@dataclass(slots=True)
class Cell:
    """One channel on one side."""

    side: str
    parts: list[Part]


@dataclass(slots=True)
class Row:
    """One channel on both sides."""

    label: str
    same: bool
    a: Cell
    b: Cell


@dataclass(slots=True)
class CallHead:
    """The line above one side's call; `call` None: this side has no call here."""

    side: str
    number: int | None
    begins: int
    cut_off: bool


@dataclass(slots=True)
class CallRow:
    """One call on both sides."""

    a: CallHead
    b: CallHead
    same: bool
    rows: list[Row]


@dataclass(slots=True)
class Messages:
    """Everything the message pane shows."""

    texts: list[Row]
    calls: list[CallRow]
    before: int
    after: int
    finish: tuple[str, str]
    last: tuple[int, int]


def messages(a: TraceIndex, b: TraceIndex, comparison: Comparison, view: View) -> Messages:
    """The messages around `view`."""
    low, high = _shown(comparison.calls, a, b, view)
    return Messages(
        texts=[_row(pair, pair.name, a, b, view) for pair in comparison.texts if pair.a.length or pair.b.length],
        calls=[_call(pair, a, b, view) for pair in comparison.calls[low:high]],
        before=low,
        after=len(comparison.calls) - high,
        finish=(a.trace.finish_reason, b.trace.finish_reason),
        last=(a.total, b.total),
    )


def _shown(pairs: list[CallPair], a: TraceIndex, b: TraceIndex, view: View) -> tuple[int, int]:
    """Which calls are open or begin inside the window, on either side."""
    inside = [at for at, pair in enumerate(pairs) if _is_open(pair.a, a, view.a) or _is_open(pair.b, b, view.b)]
    if not inside:
        return 0, 0
    return max(inside[0], inside[-1] + 1 - CALLS_SHOWN), inside[-1] + 1


def _is_open(call: CallIndex | None, index: TraceIndex, window: Window) -> bool:
    return call is not None and call.begins <= window.last and (call.ends or index.total) >= window.first


def _call(pair: CallPair, a: TraceIndex, b: TraceIndex, view: View) -> CallRow:
    parts = [part for part in pair.parts if part.a.length or part.b.length]
    rows = [_row(part, part.name.rpartition(".")[2], a, b, view) for part in parts]
    complete = pair.a is not None and pair.b is not None and pair.a.complete == pair.b.complete
    same = complete and all(part.same for part in pair.parts)
    return CallRow(_head("a", pair.a, a), _head("b", pair.b, b), same, rows)


def _head(side: str, call: CallIndex | None, index: TraceIndex) -> CallHead:
    if call is None:
        return CallHead(side, None, index.total, False)
    return CallHead(side, call.number, call.begins, not call.complete)


def _row(pair: Pair, label: str, a: TraceIndex, b: TraceIndex, view: View) -> Row:
    left = _Side(a, pair.a, pair.b, pair.hunks, view.a)
    right = _Side(b, pair.b, pair.a, [Hunk(hunk.b0, hunk.b1, hunk.a0, hunk.a1) for hunk in pair.hunks], view.b)
    return Row(label, pair.same, Cell("a", _parts(left)), Cell("b", _parts(right)))


@dataclass(slots=True)
class _Side:
    """One channel of one side: `hunks` say where it differs from `other`, this side first."""

    index: TraceIndex
    channel: Channel
    other: Channel
    hunks: list[Hunk]
    window: Window


def _parts(side: _Side) -> list[Part]:
    """The text sent inside the window, split where a difference begins or ends; the rest counted."""
    channel = side.channel
    low = channel.offsets[bisect_left(channel.steps, side.window.first)]
    high = channel.offsets[bisect_right(channel.steps, side.window.last)]
    return [*_fold(channel, 0, low), *_marked(side, low, high), *_fold(channel, high, channel.length)]


def _marked(side: _Side, low: int, high: int) -> Iterator[Part]:
    at = low
    for hunk in side.hunks:
        if hunk.a1 < low or hunk.a0 > high:
            continue
        start, end = max(hunk.a0, low), min(hunk.a1, high)
        yield from _runs(side.channel, at, start, False)
        if hunk.b1 > hunk.b0:
            yield _missing(side, hunk)
        yield from _runs(side.channel, start, end, True)
        at = end
    yield from _runs(side.channel, at, high, False)


def _missing(side: _Side, hunk: Hunk) -> Part:
    """The mark for what only the other side has; it stands where this side was fed the same characters."""
    other, size = side.other, hunk.b1 - hunk.b0
    at = bisect_right(other.offsets, hunk.b0) - 1
    step = side.index.step_at(other.stretches[at].start)
    text = "".join([piece.text for piece in other.stretches[at : at + EXCERPT]])[hunk.b0 - other.offsets[at] :]
    words = count(size, "character") + (" missing" if hunk.a0 == hunk.a1 else " instead")
    return Part("", side.channel.role, step, missing=shorten(text[:size], EXCERPT), words=words)


def _runs(channel: Channel, low: int, high: int, differs: bool) -> Iterator[Part]:
    at = bisect_right(channel.offsets, low) - 1
    while low < high and at < len(channel.stretches) and channel.offsets[at] < high:
        piece, base = channel.stretches[at], channel.offsets[at]
        text = piece.text[max(low - base, 0) : max(high - base, 0)]
        if len(text) > FOLDED:
            half = FOLDED // 2
            text = f"{text[:half]} […{len(text) - FOLDED:,} more…] {text[-half:]}"
        yield Part(text, channel.role, piece.step, differs)
        at += 1


def _fold(channel: Channel, start: int, end: int) -> list[Part]:
    if start >= end:
        return []
    step = channel.stretches[bisect_right(channel.offsets, start) - 1].step
    return [Part("", channel.role, step, folded=f"{count(end - start, 'character')} from step {step:,} on")]
