"""The part of a trace that is on the page: steps around the cursor, and the tokens they are made of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from webapp.page.inspect.index import TraceIndex

STEPS_EACH_SIDE = 36
# Steps, or letters of a text: where no more are left out they are shown, for to count them takes as much room.
SPARE = 12
TOKENS_AT_MOST = 400


@dataclass(slots=True, frozen=True)
class Window:
    """Steps `first` to `last`, both included; tokens [token_first, token_last); characters [start, end)."""

    first: int
    last: int
    token_first: int
    token_last: int
    start: int
    end: int

    def holds(self, step: int) -> bool:
        """Return whether `step` is on the page."""
        return self.first <= step <= self.last


def window_around(index: TraceIndex, step: int) -> Window:
    """The window in which `step` is the middle, as far as there is text on both sides."""
    first, last = steps_around(step, index.total)
    start = index.span(first)[0]
    end = index.step_ends[last - 1]
    low, high = _tokens(index, start, end, step)
    return Window(first, last, low, high, start, end)


def steps_around(step: int, total: int) -> tuple[int, int]:
    """The first and the last step of a window."""
    first = max(1, min(step - STEPS_EACH_SIDE, total - 2 * STEPS_EACH_SIDE))
    last = min(total, first + 2 * STEPS_EACH_SIDE)
    return 1 if first <= 1 + SPARE else first, total if total - last <= SPARE else last


def _tokens(index: TraceIndex, start: int, end: int, step: int) -> tuple[int, int]:
    """Tokens of the characters [start, end), not more than the limit, those of `step` among them."""
    low = bisect_right(index.piece_ends, start) if start else 0
    high = min(bisect_left(index.piece_ends, end) + 1, len(index.piece_ends))
    if end == index.step_ends[-1]:
        high = len(index.piece_ends)
    if high - low > TOKENS_AT_MOST:
        middle = bisect_left(index.piece_ends, index.step_ends[step - 1])
        low = max(low, min(middle - TOKENS_AT_MOST // 2, high - TOKENS_AT_MOST))
        high = min(high, low + TOKENS_AT_MOST)
    return low, high
