"""The part of a trace that is on the page: steps around the cursor, and the tokens they are made of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from webapp.page.index import TraceIndex

STEPS_EACH_SIDE = 80
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
        """Whether `step` is on the page."""
        return self.first <= step <= self.last


def window_around(index: TraceIndex, step: int) -> Window:
    """The window in which `step` is the middle, as far as there is text on both sides."""
    first = max(1, min(step - STEPS_EACH_SIDE, index.total - 2 * STEPS_EACH_SIDE))
    last = min(index.total, first + 2 * STEPS_EACH_SIDE)
    start = index.step(first).span.start
    end = index.step_ends[last - 1]
    low, high = _tokens(index, start, end, step)
    return Window(first, last, low, high, start, end)


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
