"""The heat strip: every place where the output can be cut in two, and which message came of it.

One SVG in percent whose size does not depend on the output's: whatever is narrower than a column is merged, and a
failing cut wins over those beside it. The failing stretches are a list of links too, for readers without script.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from parsers.vocabulary.trace import Trace
from webapp.page.glyphs import count

COLUMNS = 1000
LISTED = 24
SENT = 2_000
PATTERNS = 4
LETTER_WIDTH = 1.2  # percent of a strip about 900 px wide: a stretch this wide has room for its letter
HEIGHT = 18  # of the hills of held characters


@dataclass(slots=True)
class Bar:
    """Cuts `first` to `last`, which gave outcome `number`; -1: none of them was tried."""

    first: int
    last: int
    number: int
    x: float
    width: float

    @property
    def letter(self) -> str:
        """The outcome's name."""
        return letter(self.number)

    @property
    def pattern(self) -> int:
        """Which of the patterns fills it."""
        return pattern(self.number)

    @property
    def middle(self) -> float:
        """Where its letter stands."""
        return round(self.x + self.width / 2, 3)

    @property
    def labelled(self) -> bool:
        """Whether there is room for the letter."""
        return self.width >= LETTER_WIDTH

    @property
    def words(self) -> str:
        """'cut 118', 'cuts 118–129'."""
        return f"cut {self.first:,}" if self.first == self.last else f"cuts {self.first:,}–{self.last:,}"


@dataclass(slots=True)
class Heat:
    """Everything the strip shows. `ranges` are the exact failing stretches; `cut` the one on the page, or the first.

    `sent` has the failing stretches as JSON: first and last cut, and the outcome's letter.
    """

    size: int
    bars: list[Bar]
    hills: str
    peak: int
    ranges: list[Bar]
    more: int
    untried: int
    sent: str
    cut: int
    outcome: str
    current: float | None
    words: str


def letter(number: int) -> str:
    """The name of an outcome: A, B, ... for those that differ from the traced one."""
    if number <= 0:
        return "same" if number == 0 else ""
    head, rest = divmod(number - 1, 26)
    return (letter(head) if head else "") + chr(ord("A") + rest)


def pattern(number: int) -> int:
    """The pattern of an outcome, from 1."""
    return (number - 1) % PATTERNS + 1 if number > 0 else 0


def heat(cuts: Sequence[int], trace: Trace, current: int | None) -> Heat | None:
    """The strip for the outcomes of all cuts in two; `current` is the cut the page shows. None: there is no cut."""
    if not cuts:
        return None
    size = len(cuts)
    exact = [bar for bar in _runs(cuts, size) if bar.number > 0]
    chosen = current if current and current <= size else exact[0].first if exact else 1
    hills, peak = _hills(trace, size)
    return Heat(
        size=size,
        bars=[bar for bar in _runs(_columns(cuts), size) if bar.number],
        hills=hills,
        peak=peak,
        ranges=exact[:LISTED],
        more=max(0, len(exact) - LISTED),
        untried=sum(number < 0 for number in cuts),
        sent=json.dumps([[bar.first, bar.last, bar.letter] for bar in exact[:SENT]], separators=(",", ":")),
        cut=chosen,
        outcome=_outcome(cuts[chosen - 1]),
        current=_percent(chosen - 0.5, size) if current else None,
        words=_words(cuts, exact),
    )


def _outcome(number: int) -> str:
    return f"outcome {letter(number)}" if number > 0 else "same" if number == 0 else "not tried"


def _percent(cut: float, size: int) -> float:
    return round(cut * 100 / size, 3)


def _columns(cuts: Sequence[int]) -> list[int]:
    """At most COLUMNS outcomes; of those that share a column the failing one with the lowest number."""
    wide = min(len(cuts), COLUMNS)
    columns = [-2] * wide
    for at, number in enumerate(cuts):
        place = at * wide // len(cuts)
        columns[place] = _worse(columns[place], number)
    return columns


def _worse(one: int, other: int) -> int:
    failing = [number for number in (one, other) if number > 0]
    return min(failing) if failing else max(one, other)


def _runs(columns: Sequence[int], size: int) -> Iterator[Bar]:
    """Runs of equal columns."""
    at, wide = 0, len(columns)
    for number, group in groupby(columns):
        end = at + len(list(group))
        first, last = at * size // wide + 1, end * size // wide
        yield Bar(first, max(first, last), number, _percent(at, wide), round((end - at) * 100 / wide, 3))
        at = end


def _hills(trace: Trace, size: int) -> tuple[str, int]:
    """How many characters are held after each one, as the path of a box of 1000 by HEIGHT, and the most of them."""
    wide = min(size, COLUMNS)
    columns = [0] * wide
    for step in trace.steps:
        if not step.holds:
            continue
        start, end = min(hold.start for hold in step.holds), min(step.span.end, size)
        for cut in range(max(start, step.span.start) + 1, end + 1):
            place = (cut - 1) * wide // size
            columns[place] = max(columns[place], cut - start)
    peak = max(columns)
    return "".join(_hill(columns, peak)) if peak else "", peak


def _hill(columns: Sequence[int], peak: int) -> Iterator[str]:
    at, wide = 0, len(columns)
    for held, group in groupby(columns):
        end = at + len(list(group))
        if held:
            left, right = (f"{place * 1000 / wide:g}" for place in (at, end))
            yield f"M{left} {HEIGHT}V{HEIGHT - max(1.0, HEIGHT * held / peak):.3g}H{right}V{HEIGHT}z"
        at = end


def _words(cuts: Sequence[int], exact: Sequence[Bar]) -> str:
    """The strip in words."""
    size, failing = len(cuts), sum(bar.last - bar.first + 1 for bar in exact)
    if not failing:
        return f"Cut in two after character 1 to {size:,}: the same message every time."
    places = ", ".join(f"{bar.words} outcome {bar.letter}" for bar in exact[:3])
    more = f" and {count(len(exact) - 3, 'more stretch', 'more stretches')}" if len(exact) > 3 else ""
    verb = "gives" if failing == 1 else "give"
    return f"Cut in two after character 1 to {size:,}: {count(failing, 'cut')} {verb} another message: {places}{more}."
