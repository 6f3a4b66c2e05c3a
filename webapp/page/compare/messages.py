"""The messages of all sides beside each other, channel by channel, each as far as its side has got at the cursor.

As in the result pane a message is drawn once and what is sent later is toned down. What the first side does not have
is marked, and where a side has nothing of what the first one has, a mark says how much. On the first side all is marked
that any other lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from webapp.glyphs import count, shorten
from webapp.page.compare.alignment import Hunk
from webapp.page.compare.comparison import Compared, Placed, View
from webapp.page.compare.difference import CallPair, Pair
from webapp.page.inspect.index import CallIndex, Channel
from webapp.page.inspect.result import Sent, folded, is_end_known, sent
from webapp.page.inspect.window import Window

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
    """One channel on all sides; `differing` are the numbers of those whose text is not that of the first, and
    `severity` how bad that is."""

    label: str
    cells: list[list[_Part]]
    differing: list[int]
    severity: str

    @property
    def same(self) -> bool:
        """Return whether it is the same on all sides."""
        return not self.differing


@dataclass(slots=True)
class _CallRow:
    """One call on all sides; None: that side has no call here. `severity`: how bad it is where it differs."""

    heads: list[CallIndex | None]
    same: bool
    rows: list[_Row]
    severity: str

    @property
    def number(self) -> int:
        """Its number on the first side that has it."""
        return next(head.number for head in self.heads if head is not None)


@dataclass(slots=True, frozen=True)
class Ends:
    """Why each message ended: its words, or None where that is not known, for a recording has no place for it."""

    words: list[str | None]
    same: bool
    severity: str


@dataclass(slots=True)
class Messages:
    """Everything the message pane shows. `errors` are those that servers ended with, None for a side without; empty
    where no side has any."""

    texts: list[_Row]
    calls: list[_CallRow]
    before: int
    after: int
    ends: Ends
    errors: list[str | None]


def messages(compared: Compared, view: View) -> Messages:
    """The messages around `view`."""
    texts = [_row(list(pairs), str(pairs[0].name), compared, view) for pairs in zip(*[
        found.texts for found in compared.found], strict=True)]  # fmt: skip
    calls = list(_call_rows([found.calls for found in compared.found]))
    low, high = _shown(calls, compared, view)
    return Messages(
        texts=[row for row in texts if any(row.cells)],
        calls=[_call(pairs, compared, view) for pairs in calls[low:high]],
        before=low,
        after=len(calls) - high,
        ends=_ends(compared),
        errors=errors if any(errors := [one.side.server_error for one in compared.sides]) else [],
    )


def _ends(compared: Compared) -> Ends:
    """Those that are known are compared with that of the first side."""
    runs = [one.side.run for one in compared.sides]
    words = [(run.trace.finish_reason or "none") if is_end_known(run.replayer) else None for run in runs]
    others = [] if words[0] is None else [at for at, said in enumerate(words) if said not in (None, words[0])]
    return Ends(words, not others, compared.severity(others))


Pairs = Sequence[CallPair | None]  # one call as the first side and each other one have it


def _call_rows(found: Sequence[Sequence[CallPair]]) -> Iterator[Pairs]:
    """The calls of all sides: those of the first in order, and before each of them what it has no counterpart of."""
    split = [list(_split(pairs)) for pairs in found]
    for rows in zip(*split, strict=True):
        for at in range(max(len(extras) for extras, _ in rows)):
            yield [extras[at] if at < len(extras) else None for extras, _ in rows]
        if rows[0][1] is not None:
            yield [own for _, own in rows]


def _split(pairs: Sequence[CallPair]) -> Iterator[tuple[list[CallPair], CallPair | None]]:
    extras: list[CallPair] = []
    for pair in pairs:
        if pair.a is None:
            extras.append(pair)
        else:
            yield extras, pair
            extras = []
    yield extras, None


def _heads(pairs: Pairs) -> list[CallIndex | None]:
    return [next((pair.a for pair in pairs if pair), None), *[pair.b if pair else None for pair in pairs]]


def _shown(calls: Sequence[Pairs], compared: Compared, view: View) -> tuple[int, int]:
    """Which calls are open or begin inside the window, on any side."""
    around = list(zip(compared.sides, view.texts, strict=True))
    inside = [
        at
        for at, pairs in enumerate(calls)
        if any(_is_open(head, one, window) for head, (one, window) in zip(_heads(pairs), around, strict=True))
    ]
    if not inside:
        return 0, 0
    return max(inside[0], inside[-1] + 1 - _CALLS_SHOWN), inside[-1] + 1


def _is_open(call: CallIndex | None, one: Placed, window: Window) -> bool:
    return call is not None and call.begins <= window.last and (call.ends or one.index.total) >= window.first


def _call(pairs: Pairs, compared: Compared, view: View) -> _CallRow:
    heads = _heads(pairs)
    parts = [pair.parts if pair else None for pair in pairs]
    known = next(one for one in parts if one)
    rows = [
        _row([one[at] if one else None for one in parts], part.name.part, compared, view)
        for at, part in enumerate(known)
        if any(one and (one[at].a.length or one[at].b.length) for one in parts)
    ]
    first, *others = [head.complete if head else None for head in heads]
    apart = {at for at, complete in enumerate(others, 1) if complete != first}
    apart.update(number for row in rows for number in row.differing)
    return _CallRow(heads, not apart, rows, compared.severity(apart))


def _row(pairs: Sequence[Pair | None], label: str, compared: Compared, view: View) -> _Row:
    """One channel. A side that has no pair has nothing in it, and neither has the first."""
    first, window, steps = compared.sides[0], view.texts[0], view.windows[0]
    known = next(pair for pair in pairs if pair)
    beside = [(pair, one) for pair, one in zip(pairs, compared.sides[1:], strict=True) if pair]
    if len(compared.sides) == 2:
        own = _Cell(first, known.a, beside[0][1], known.b, known.hunks, window, steps)
    else:
        lacked = _union([hunk for pair, _ in beside for hunk in pair.hunks])
        own = _Cell(first, known.a, first, known.a, lacked, window, steps)
    cells = [list(_parts(own))]
    for pair, one, *shown in zip(pairs, compared.sides[1:], view.texts[1:], view.windows[1:], strict=True):
        turned = [Hunk(hunk.b0, hunk.b1, hunk.a0, hunk.a1) for hunk in pair.hunks] if pair else []
        cells.append(list(_parts(_Cell(one, pair.b, first, pair.a, turned, *shown))) if pair else [])
    differing = [number for number, pair in enumerate(pairs, 1) if pair and not pair.same]
    return _Row(label, cells, differing, compared.severity(differing))


def _union(hunks: Sequence[Hunk]) -> list[Hunk]:
    """What the first side has and any other lacks; what it lacks itself is marked on the others."""
    found: list[Hunk] = []
    for hunk in sorted(hunks, key=lambda hunk: hunk.a0):
        if found and hunk.a0 <= found[-1].a1:
            found[-1] = Hunk(found[-1].a0, max(found[-1].a1, hunk.a1), 0, 0)
        else:
            found.append(Hunk(hunk.a0, hunk.a1, 0, 0))
    return found


@dataclass(slots=True)
class _Cell:
    """One channel of one side: `hunks` say where it differs from that of another, this side first.

    It is shown as far as `window` goes, and step by step where `steps` are on the page.
    """

    one: Placed
    channel: Channel
    beside: Placed
    other: Channel
    hunks: list[Hunk]
    window: Window
    steps: Window


def _parts(cell: _Cell) -> list[_Part]:
    """The text sent inside the window, split where a difference begins or ends; the rest counted."""
    channel = cell.channel
    low, high = channel.length_at(cell.window.first - 1), channel.length_at(cell.window.last)
    before, after = folded(channel, 0, low), folded(channel, high, channel.length)
    return [*map(_Part, before), *_at_once(_marked(cell, low, high), cell.steps), *map(_Part, after)]


def _at_once(parts: Iterable[_Part], steps: Window) -> Iterator[_Part]:
    """Parts that are sent before the steps on the page are one where they are alike, and so are those sent after: the
    cursor does not come between them."""

    def kind(part: _Part) -> object:
        beside = part.sent.step < steps.first, part.sent.step > steps.last
        alone = part.missing or part.sent.folded or not any(beside)
        return object() if alone else (beside, part.differs, part.sent.role, part.sent.kind)

    for _, found in itertools.groupby(parts, kind):
        same = [*found]
        first, last = same[0].sent, same[-1].sent
        sent_at = last.step if last.step < steps.first else first.step
        text = "".join([part.sent.text for part in same])
        yield replace(same[0], sent=replace(first, text=text, step=sent_at, end=last.end))


def _marked(cell: _Cell, low: int, high: int) -> Iterator[_Part]:
    at = low
    for hunk in cell.hunks:
        if hunk.a1 < low or hunk.a0 > high:
            continue
        start, end = max(hunk.a0, low), min(hunk.a1, high)
        yield from map(_Part, sent(cell.channel, at, start))
        if hunk.b1 > hunk.b0:
            yield _missing(cell, hunk)
        yield from (_Part(one, differs=True) for one in sent(cell.channel, start, end))
        at = end
    yield from map(_Part, sent(cell.channel, at, high))


def _missing(cell: _Cell, hunk: Hunk) -> _Part:
    """The mark for what only the other side has; it stands where this side was fed the same characters."""
    other, size = cell.other, hunk.b1 - hunk.b0
    pieces = [*itertools.islice(other.between(hunk.b0, other.length), _EXCERPT)]
    start, text = pieces[0].start, "".join([piece.text for piece in pieces])[hunk.b0 - pieces[0].at :]
    words = count(size, "character") + (" missing" if hunk.a0 == hunk.a1 else " instead")
    step = cell.one.step_at(cell.beside.lane.column(start))
    return _Part(Sent("", cell.channel.role, step, start, start), missing=shorten(text[:size], _EXCERPT), words=words)
