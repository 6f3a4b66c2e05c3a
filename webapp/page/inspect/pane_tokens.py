"""Which tokens the pane of the output shows: those of the window's text, and where they are short as many more on
either side as fill the pane. Their number is bounded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

TOKENS_AT_MOST = 400
CHARACTERS_AT_LEAST = 600  # of the output, where it has so many: a pane of twelve lines is filled by them


def tokens_shown(ends: Sequence[int], text: tuple[int, int], cursor: int, *, to_the_end: bool) -> tuple[int, int]:
    """The tokens [low, high) of the characters [start, end) in `text`, that of the character before `cursor` among
    them.

    `ends` are the characters behind each token of the output; `to_the_end` says that tokens without text behind the
    last character belong to it.
    """
    start, end = text
    low = bisect_right(ends, start) if start else 0
    high = len(ends) if to_the_end else min(bisect_left(ends, end) + 1, len(ends))
    if high - low > TOKENS_AT_MOST:
        middle = bisect_left(ends, cursor)
        low = max(low, min(middle - TOKENS_AT_MOST // 2, high - TOKENS_AT_MOST))
        high = min(high, low + TOKENS_AT_MOST)
    return _filled(ends, low, high)


def _filled(ends: Sequence[int], low: int, high: int) -> tuple[int, int]:
    """The tokens [low, high) with so many around them as the pane has room for."""
    while high - low < min(TOKENS_AT_MOST, len(ends)):
        if ends[high - 1] - (ends[low - 1] if low else 0) >= CHARACTERS_AT_LEAST:
            break
        before = low > 0 and (high == len(ends) or (low + high) % 2)  # in turn
        low, high = (low - 1, high) if before else (low, high + 1)
    return low, high
