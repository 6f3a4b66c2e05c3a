"""Gaps and bursts of a recorded stream, from the times at which its chunks came. The rules are the sentences below.

A gap is counted at the later of two neighbours whose times are both known. Times in whole seconds show no bursts, and
no gap that is not longer than a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

TIMES, LEAST = 5, 60.0  # a gap is so many times the median, and so many milliseconds
TOGETHER, SEVERAL = 1.0, 3  # a burst: so many chunks or more, each at most so many milliseconds after the one before
_SECOND = 1000.0


@dataclass(slots=True, frozen=True)
class Burst:
    """Chunks `first` to `last`, counted from 1, which came together."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many chunks they are."""
        return self.last - self.first + 1


@dataclass(slots=True, frozen=True)
class Arrivals:
    """When chunks came, in milliseconds, and how long after the one before. None: not known.

    `usual` is the median gap, `long` the numbers of the chunks behind a gap that stands out. `whole_seconds`: the times
    are no finer.
    """

    times: tuple[float | None, ...]
    gaps: tuple[float | None, ...]
    usual: float
    whole_seconds: bool
    long: tuple[int, ...]
    bursts: tuple[Burst, ...]

    @property
    def span(self) -> float:
        """How long the stream took."""
        return max([time for time in self.times if time is not None], default=0.0)

    @property
    def longest(self) -> int | None:
        """The chunk behind the longest gap, the first of equals."""
        known = [(gap, -number) for number, gap in enumerate(self.gaps, start=1) if gap]
        return -max(known)[1] if known else None

    @property
    def rule(self) -> str:
        """What counts as a gap and as a burst, in words."""
        least = _SECOND if self.whole_seconds else LEAST
        gap = f"A gap is over {TIMES} times the median of {in_words(self.usual)}, and over {in_words(least)}"
        if self.whole_seconds:
            return f"{gap}. The times are whole seconds, so bursts do not show."
        return f"{gap}; a burst is {SEVERAL} or more chunks, each at most {in_words(TOGETHER)} after the one before."

    def came(self, number: int, what: str) -> str:
        """When a chunk came, and how that compares; empty where that is not known. `what` it is called."""
        time, gap = self.times[number - 1], self.gaps[number - 1]
        if time is None:
            return ""
        words = f"{in_words(time)} after the first" if number > 1 else "the first"
        behind = "" if gap is None else f", {in_words(gap)} after {what} {number - 1:,} (median {in_words(self.usual)})"
        return words + behind

    def burst_of(self, number: int) -> Burst | None:
        """The burst that a chunk is part of."""
        return next((burst for burst in self.bursts if burst.first <= number <= burst.last), None)


def arrivals(times: Sequence[float | None] | None) -> Arrivals | None:
    """What the times of a stream show; None where fewer than two are known."""
    known = [time for time in times or () if time is not None]
    if times is None or len(known) < 2:
        return None
    gaps = (None, *[None if b is None or a is None else b - a for a, b in pairwise(times)])
    sizes = sorted([gap for gap in gaps if gap is not None])
    whole_seconds = all(time % _SECOND == 0 for time in known)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    least = max(_SECOND if whole_seconds else LEAST, TIMES * usual)
    return Arrivals(
        times=tuple(times),
        gaps=gaps,
        usual=usual,
        whole_seconds=whole_seconds,
        long=tuple([number for number, gap in enumerate(gaps, start=1) if gap is not None and gap > least]),
        bursts=() if whole_seconds else _bursts(gaps),
    )


def _bursts(gaps: Sequence[float | None]) -> tuple[Burst, ...]:
    found, first = [], 1
    for number, gap in enumerate([*gaps[1:], None], start=1):
        if gap is None or gap > TOGETHER:
            found.append(Burst(first, number))
            first = number + 1
    return tuple([burst for burst in found if burst.size >= SEVERAL])


def in_words(milliseconds: float) -> str:
    """'83 ms', '0.4 ms', '2.5 s', '3 min 20 s'."""
    if milliseconds < 1000:
        return f"{milliseconds:.1f} ms" if milliseconds < 10 and milliseconds % 1 else f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.3g} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"
