"""The stretches in which a text of a message was written, as columns: which step wrote which characters, and from what.

A row is what one step wrote, or a run: open text that many steps wrote, each on from where the one before it got. A run
is a copy of the output, so how far its steps got is asked of the replay, and only where somebody looks. Sizes: 24 bytes
a row, besides the text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from parsers.vocabulary.events import SegmentKind
from parsers.vocabulary.types import Span

_KINDS: tuple[SegmentKind | None, ...] = (None, "copied", "converted", "synthetic")
_CODES = {kind: code for code, kind in enumerate(_KINDS)}
_WIDE = 6  # numbers in a row, see _Row
NOWHERE = (-1, -1)


class RunSteps(Protocol):
    """The part of a replay that says how far the steps of a run got: see `parsers.vocabulary.trace.StepColumns`."""

    def reaches(self, first: int, last: int) -> Sequence[int]:
        """For each of these steps of a run, where in the output the text that it told ends."""

    def step_of(self, raw: int) -> int:
        """The number of the step that told a character of a run."""


@dataclass(slots=True)
class Place:
    """Says where a character of a channel comes from: offset in the output text, step, and how it was made."""

    raw: int | None
    step: int | None
    kind: SegmentKind | None = None

    def span(self, length: int = 1) -> Span | None:
        """So many characters of the output from here on, where that is known."""
        return None if self.raw is None else Span(self.raw, self.raw + length)

    def words(self, offset: int, of: str) -> str:
        """Return where it is: in the output it was copied from, else at `offset` of the text it is of."""
        copied = self.raw is not None and self.kind in (None, "copied")
        return f"character {self.raw} of the output" if copied else f"character {offset} of {of}"


@dataclass(slots=True)
class Stretch:
    """Characters of a text, from `at` on, that the steps `step` to `last` wrote, and [start, end) of the output.

    `kind` is how they were made of that, None where nobody says.
    """

    at: int
    text: str
    step: int
    last: int
    start: int
    end: int
    kind: SegmentKind | None


class _Row(NamedTuple):
    at: int
    step: int
    last: int
    start: int
    end: int
    kind: int

    @property
    def is_run(self) -> bool:
        return self.last > self.step


class Stretches:
    """A text that is written stretch by stretch. `steps` tell the steps of its runs apart."""

    __slots__ = ("_numbers", "_parts", "_steps", "_text", "length")

    def __init__(self, steps: RunSteps | None = None) -> None:
        self.length = 0
        self._steps = cast(RunSteps, steps)  # only where there are runs
        self._numbers = array("i")  # the rows, one after the other
        self._text = ""
        self._parts: list[str] | None = None  # of the text, not joined to it yet

    def add(
        self,
        text: str,
        step: int,
        last: int,
        span: tuple[int, int] = NOWHERE,
        kind: SegmentKind | None = None,
    ) -> None:
        """Append what the steps `step` to `last` wrote. Of several it is a copy of the output, and `span` known."""
        self._numbers.extend((self.length, step, last, *span, _CODES[kind]))
        if self._parts is None:
            self._parts = []
        self._parts.append(text)
        self.length += len(text)

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes."""
        return 4 * len(self._numbers) + self.length + 350

    @property
    def text(self) -> str:
        """The whole text."""
        self.close()
        return self._text

    def close(self) -> None:
        """Nothing more is added, for now: the parts of the text are joined, which take far more memory."""
        if self._parts is not None:
            self._text, self._parts = "".join([self._text, *self._parts]), None

    def __iter__(self) -> Iterator[Stretch]:
        """What each step wrote, in order and without gap."""
        return self.between(0, self.length + 1)

    def rows(self) -> Iterator[Stretch]:
        """The same with every run as one."""
        return map(self._stretch, range(self._size))

    def between(self, low: int, high: int) -> Iterator[Stretch]:
        """What each step wrote, from the stretch that holds the character at `low` on to the last that begins before
        `high`."""
        for number in range(max(0, self._row_at(low)), self._size if low < self.length else 0):
            row = self._row(number)
            if row.at >= high:
                return
            if row.is_run:
                yield from self._shares(row, number, low, high)
            else:
                yield self._stretch(number)

    def at(self, offset: int) -> Stretch:
        """The stretch of the step that wrote the character at `offset`, or the last one. Raises IndexError where there
        is none."""
        number = self._row_at(offset)
        if number < 0:
            raise IndexError(offset)
        row, offset = self._row(number), min(offset, self._end(number) - 1)
        return next(self._shares(row, number, offset, offset + 1)) if row.is_run else self._stretch(number)

    def place(self, offset: int) -> Place:
        """Return where the character at `offset` comes from; at or beyond the end, where the text ended."""
        number = self._row_at(offset)
        if number < 0:
            return Place(None, None)
        row = self._row(number)
        kind, end = _KINDS[row.kind], self._end(number)
        step = self._step(row, min(offset, end - 1)) if row.is_run else row.step
        if kind is None:
            return Place(None, step)
        if offset >= end:
            return Place(row.end, step, kind)
        return Place(row.start + offset - row.at if kind == "copied" else row.start, step, kind)

    def length_at(self, step: int) -> int:
        """Characters written up to and including `step`."""
        number = bisect_right(range(self._size), step, key=lambda row: self._numbers[row * _WIDE + 1]) - 1
        if number < 0:
            return 0
        row = self._row(number)
        if step >= row.last:
            return self._end(number)
        return row.at + max(0, self._steps.reaches(step, step)[0] - row.start)

    @property
    def _size(self) -> int:
        return len(self._numbers) // _WIDE

    def _row_at(self, offset: int) -> int:
        """The number of the last row that begins at `offset` or before."""
        return bisect_right(range(self._size), offset, key=lambda row: self._numbers[row * _WIDE]) - 1

    def _row(self, number: int) -> _Row:
        return _Row(*self._numbers[number * _WIDE : (number + 1) * _WIDE])

    def _end(self, number: int) -> int:
        """Where in the text a row ends."""
        return self._numbers[(number + 1) * _WIDE] if number + 1 < self._size else self.length

    def _stretch(self, number: int) -> Stretch:
        row = self._row(number)
        text = self.text[row.at : self._end(number)]
        return Stretch(row.at, text, row.step, row.last, row.start, row.end, _KINDS[row.kind])

    def _step(self, row: _Row, offset: int) -> int:
        """The step of a run that wrote the character at `offset`."""
        return max(row.step, self._steps.step_of(row.start + offset - row.at))

    def _shares(self, row: _Row, number: int, low: int, high: int) -> Iterator[Stretch]:
        """What each step of a run wrote that has characters in [low, high)."""
        text, kind, away = self.text, _KINDS[row.kind], row.at - row.start
        first = self._step(row, max(low, row.at))
        last = self._step(row, min(high, self._end(number)) - 1)
        start = row.start if first == row.step else self._steps.reaches(first - 1, first - 1)[0]
        for step, end in enumerate(self._steps.reaches(first, last), first):
            if end > start:
                yield Stretch(start + away, text[start + away : end + away], step, step, start, end, kind)
                start = end
