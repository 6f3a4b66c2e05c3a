"""Emission lag: how much later than it arrived each character left for the client, and how much was held meanwhile.

The lag of a character is what was fed between the step it arrived in and the step it left in. Only what reaches the
client has one. It is a figure and no fault; what a parser keeps back without a word is the check's (`emission_lag`).
Linear in the output and the events; a parser that does not say where its text comes from has no stays.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import cast

from parsers.vocabulary.trace import Hold, StepColumns, Trace
from parsers.vocabulary.types import Owner

CHANNELS: tuple[Owner, ...] = ("reasoning", "content", "name", "id", "arguments")


@dataclass(slots=True)
class Stay:
    """Characters [start, end) of one channel that arrived in one step and left in one step.

    `lag` is the number of characters fed between the two steps. Open text that left as it arrived is one stay, of which
    only the steps of its first character are told.
    """

    start: int
    end: int
    channel: Owner
    arrived: int
    left: int
    lag: int = 0

    @property
    def steps(self) -> int:
        """The lag in steps."""
        return max(0, self.left - self.arrived)


@dataclass(slots=True)
class Wait(Stay):
    """Characters that left together, later than the first of them arrived: lag and steps are that one's.

    `hold` is what the parser said while it held the first of them, None where it said nothing.
    """

    hold: Hold | None = None


@dataclass(slots=True)
class ChannelLag:
    """The lag of one channel over its `characters`: the largest and the median one, both in characters."""

    channel: Owner
    characters: int
    largest: int
    median: int


@dataclass(slots=True)
class LongestHold:
    """The most that was held after any step: `characters` of it, first at `step`, and why."""

    characters: int
    step: int
    hold: Hold


def stays(trace: Trace) -> list[Stay]:
    """Every character that reached the client, in the order of the output."""
    if not trace.partition:
        return []
    ends, columns = trace.ends, trace.columns
    found: list[Stay] = []
    at = arrived = 0
    for claim in _claims(trace):
        at = max(at, claim.start)
        for stop, left in _departures(columns, ends, claim):
            stop, gone = min(stop, claim.end), ends[left - 1] if left else 0
            while at < stop:
                arrived = bisect_right(ends, at, arrived)
                fed = ends[arrived]
                end = fed if left and fed < stop else stop
                lag = gone - fed if gone > fed else 0
                found.append(Stay(at, end, claim.channel, arrived + 1, left or arrived + 1, lag))
                at = end
    return found


def waits(trace: Trace, found: Sequence[Stay], most: int) -> tuple[list[Wait], int]:
    """The longest waits, so many at most and the longest first, and how many there are at all: the stays with a lag,
    those that left together as one."""
    joined = _joined(found)
    longest = nsmallest(most, joined, key=lambda wait: -wait.lag)
    for wait in longest:
        # When the first character was held last, the reason was known best.
        holds = trace.columns.holds(wait.left - 1)
        wait.hold = next((hold for hold in holds if hold.start <= wait.start < hold.end), None)
    return longest, len(joined)


def _joined(found: Sequence[Stay]) -> list[Wait]:
    """The stays with a lag, those that left together as one, in the order of the output."""
    joined = list[Wait]()
    for stay in found:
        if not stay.lag:
            continue
        last = joined[-1] if joined else None
        if last and last.left == stay.left and last.end == stay.start and last.channel == stay.channel:
            last.end = stay.end
        else:
            joined.append(Wait(stay.start, stay.end, stay.channel, stay.arrived, stay.left, stay.lag))
    return joined


def channel_lags(found: Sequence[Stay]) -> list[ChannelLag]:
    """The channels that have text, in their usual order."""
    by_channel: dict[Owner, Counter[int]] = {}
    for stay in found:
        by_channel.setdefault(stay.channel, Counter())[stay.lag] += stay.end - stay.start
    return [_channel_lag(channel, by_channel[channel]) for channel in CHANNELS if channel in by_channel]


def longest_hold(trace: Trace) -> LongestHold | None:
    """The first step after which most is held, with the widest of its holds; None where nothing ever is."""
    number, start, end = max(trace.columns.held(), key=lambda held: held[2] - held[1], default=(0, 0, 0))
    if start == end:
        return None
    holds = trace.columns.holds(number)
    return LongestHold(end - start, number, max(holds, key=lambda hold: hold.end - hold.start))


@dataclass(slots=True)
class _Claim:
    start: int
    end: int
    channel: Owner
    first: int  # 0: it left as it arrived
    last: int


def _departures(columns: StepColumns, ends: Sequence[int], claim: _Claim) -> Iterable[tuple[int, int]]:
    """Where parts of a claim end, and the step they left in; 0 for what left in the step in which it arrived."""
    if claim.first == claim.last:
        return ((claim.end, claim.first),)
    return _departures_of_run(columns, ends, claim)


def _departures_of_run(columns: StepColumns, ends: Sequence[int], claim: _Claim) -> Iterator[tuple[int, int]]:
    """The same of open text that more than one step told."""
    fed, reached = ends[claim.first - 1 : claim.last], columns.reaches(claim.first, claim.last)
    yield reached[0], claim.first
    for number, reach, end in zip(range(claim.first + 1, claim.last + 1), reached, fed, strict=False):
        if reach < end:
            yield reach, 0
            yield end, number
    yield claim.end, 0


def _said(trace: Trace) -> Iterator[_Claim]:
    """Return what every text event says of the output."""
    ends, columns, length = trace.ends, trace.columns, len(trace.text)
    for first, last, kind, _, _, start, end, _ in columns.text_parts():
        if start < end <= length:
            at_once = (ends[first - 2] if first > 1 else 0) <= start and end <= ends[last - 1]
            if at_once and first < last:
                at_once = columns.reaches(first, last) == ends[first - 1 : last]
            owner = cast(Owner, kind.owner)
            yield _Claim(start, end, owner, 0, 0) if at_once else _Claim(start, end, owner, first, last)


def _claims(trace: Trace) -> list[_Claim]:
    """Return what every text event says of the output, in its order. A claim inside a larger one (a name in an id)
    cuts it."""
    said: list[_Claim] = []
    for claim in _said(trace):
        last = said[-1] if said else claim
        if not (claim.first or last.first) and (last.end, last.channel) == (claim.start, claim.channel):
            last.end = claim.end
        else:
            said.append(claim)
    said.sort(key=lambda claim: (claim.start, -claim.end))
    out: list[_Claim] = []
    for claim in said:
        outer = out[-1] if out else claim
        inside = claim.end <= outer.end and claim.end - claim.start < outer.end - outer.start
        out += _cut_out(out.pop(), claim) if inside else [claim]
    return out


def _cut_out(outer: _Claim, inner: _Claim) -> Iterator[_Claim]:
    for part in (replace(outer, end=inner.start), inner, replace(outer, start=inner.end)):
        if part.start < part.end:
            yield part


def _channel_lag(channel: Owner, lags: Counter[int]) -> ChannelLag:
    """From how many characters have which lag. Of an even number the lower middle one is the median."""
    seen, median, total = 0, 0, lags.total()
    for lag in sorted(lags):
        if 2 * seen < total:
            median = lag
        seen += lags[lag]
    return ChannelLag(channel, total, max(lags), median)
