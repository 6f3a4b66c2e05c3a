"""The lag pane: how long each character waited before it left, over the whole output, and how much was held.

Drawn once per trace and kept with its index: three rows of at most a thousand columns, whatever the output's length.
Only the cursor depends on the step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from parsers.compare.lag import ChannelLag, LongestHold, Stay, Wait, channel_lags, held, longest_hold, stays, waits
from webapp.page.glyphs import count, shorten
from webapp.page.index import TraceIndex
from webapp.page.overview import BAR, COLUMNS
from webapp.page.roles import DRAWN

HEIGHT = 36.0  # of the tallest bar of a row
LONGEST = 10
LEAST = 2.0  # a bar that is lower could not be seen
STRIP_TOP = 24.0  # where the band's row of roles begins, see overview.BAR

Column = tuple[str, int]  # a role and a number; ("", 0): nothing


@dataclass(slots=True)
class Shape:
    """All bars of one role in one row, as the `d` of one path in a box of 1000 by the row's height."""

    role: str
    path: str


@dataclass(slots=True)
class LongWait:
    """One of the longest waits, in words."""

    role: str
    channel: str
    text: str
    span: str
    lag: int
    steps: int
    reason: str
    step: int


@dataclass(slots=True)
class Drawn:
    """What does not depend on the cursor. `known` is false where the parser does not say where its text comes from.

    `steps` has for each column the step that fed its first character, as JSON: there a click leads.
    """

    known: bool
    length: int
    peak: int = 0
    held_peak: int = 0
    lags: list[Shape] = field(default_factory=list)
    roles: list[Shape] = field(default_factory=list)
    holds: list[Shape] = field(default_factory=list)
    channels: list[ChannelLag] = field(default_factory=list)
    longest: list[LongWait] = field(default_factory=list)
    waiting: int = 0
    hold: LongestHold | None = None
    steps: str = "[]"


@dataclass(slots=True)
class LagPane:
    """Everything the lag pane shows."""

    drawn: Drawn
    cursor: float
    note: str
    words: str


def lag_pane(index: TraceIndex, step: int) -> LagPane:
    """The lag of a trace with the cursor on `step`."""
    if index.lag is None:
        index.lag = drawn(index)
    plot = index.lag
    cursor = round(index.step(step).span.end * 100 / max(plot.length, 1), 3)
    return LagPane(plot, cursor, _note(plot), _words(plot))


def drawn(index: TraceIndex) -> Drawn:
    """The plot and its tables."""
    trace, length = index.trace, len(index.trace.text)
    if not trace.partition:
        return Drawn(not length, length)
    found, kept = stays(trace), held(trace)
    waited = waits(trace, found)
    peak, held_peak = max((stay.lag for stay in found), default=0), max(kept, default=0)
    spans = [(step.span.start, step.span.end, ("held", many)) for step, many in zip(trace.steps, kept, strict=True)]
    owners = [(run.start, run.end, (DRAWN.get(run.owner, run.owner), 1)) for run in trace.partition]
    return Drawn(
        known=True,
        length=length,
        peak=peak,
        held_peak=held_peak,
        lags=_shapes(_columns(map(_place, found), length), _rising(peak)),
        roles=_shapes(_columns(owners, length), _in_strip),
        holds=_shapes(_columns(spans, length), _rising(held_peak)),
        channels=channel_lags(found),
        longest=[_long_wait(index, wait) for wait in sorted(waited, key=lambda wait: -wait.lag)[:LONGEST]],
        waiting=len(waited),
        hold=longest_hold(trace),
        steps=json.dumps(_steps(index, length), separators=(",", ":")),
    )


def _steps(index: TraceIndex, length: int) -> list[int]:
    wide = min(length, COLUMNS)
    return [index.step_at(at * length // wide) for at in range(wide)]


def _place(stay: Stay) -> tuple[int, int, Column]:
    return stay.start, stay.end, (DRAWN.get(stay.channel, stay.channel), stay.lag)


def _columns(places: Iterable[tuple[int, int, Column]], length: int) -> list[Column]:
    """The output in at most a thousand columns; what shares one is told by its largest number."""
    wide = min(length, COLUMNS)
    columns: list[Column] = [("", 0)] * wide
    for start, end, what in places:
        for at in range(start * wide // length, -(-end * wide // length) if end > start else 0):
            if what[1] > columns[at][1]:
                columns[at] = what
    return columns


def _shapes(columns: list[Column], box: Callable[[Column], tuple[float, float]]) -> list[Shape]:
    """One path per role. `box` gives the top and the bottom of a bar."""
    paths: dict[str, list[str]] = {}
    for what, first, last in _bars(columns):
        top, bottom = box(what)
        left, right = (f"{at * 1000 / len(columns):g}" for at in (first, last))
        paths.setdefault(what[0], []).append(f"M{left} {bottom:g}V{top:g}H{right}V{bottom:g}z")
    return [Shape(role, "".join(parts)) for role, parts in paths.items()]


def _bars(columns: list[Column]) -> Iterator[tuple[Column, int, int]]:
    """Runs of equal columns [first, last) that show something."""
    first = 0
    for at in range(1, len(columns) + 1):
        if at == len(columns) or columns[at] != columns[first]:
            if columns[first][1]:
                yield columns[first], first, at
            first = at


def _rising(peak: int) -> Callable[[Column], tuple[float, float]]:
    """Bars that stand on the bottom line, the one of `peak` as high as the row."""
    return lambda what: (round(HEIGHT - max(LEAST, HEIGHT * what[1] / peak), 2), HEIGHT)


def _in_strip(what: Column) -> tuple[float, float]:
    """The place of a role in the row of roles: the same heights as in the overview band."""
    y, height = BAR[what[0]]
    return y - STRIP_TOP, y - STRIP_TOP + height


def _long_wait(index: TraceIndex, wait: Wait) -> LongWait:
    return LongWait(
        role=DRAWN.get(wait.channel, wait.channel),
        channel=wait.channel,
        text=shorten(index.trace.text[wait.start : wait.end], 40),
        span=f"{wait.start:,}–{wait.end:,}",
        lag=wait.lag,
        steps=wait.steps,
        reason=wait.hold.reason if wait.hold else "",
        step=wait.left,
    )


def _note(plot: Drawn) -> str:
    if not plot.known:
        return "not known for this parser"
    return f"at most {count(plot.peak, 'character')}" if plot.peak else "nothing waits"


def _words(plot: Drawn) -> str:
    """The plot in one or two sentences; the longest hold is told beside its link."""
    if not plot.known:
        return "This parser does not say which characters its text comes from, so nobody can tell how long they waited."
    waiting = [item for item in plot.channels if item.largest]
    if not waiting:
        return "Every character left in the step in which it arrived."
    first, *rest = sorted(waiting, key=lambda item: -item.largest)
    others = "".join(f", {item.channel} at most {item.largest:,}" for item in rest)
    verb = "wait" if first.channel == "arguments" else "waits"
    return f"{first.channel.capitalize()} {verb} at most {count(first.largest, 'character')}{others}."
