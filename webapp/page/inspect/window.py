"""The part of a trace that is on the page: steps around the cursor, and the tokens they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from webapp.page.inspect.index import TraceIndex
from webapp.page.inspect.pane_tokens import tokens_shown

STEPS_EACH_SIDE = 16  # a window of the longest run stays under 25 kB on the wire
WHOLE = 85  # steps: a run of so few is shown as it is
# Steps, or letters of a text: where no more are left out they are shown, for to count them takes as much room.
SPARE = 12


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
    cursor, last_end = index.step_ends[step - 1], index.step_ends[-1]
    low, high = tokens_shown(index.piece_ends, (start, end), cursor, to_the_end=end == last_end)
    return Window(first, last, low, high, start, end)


def steps_around(step: int, total: int) -> tuple[int, int]:
    """The first and the last step of a window."""
    if total <= WHOLE:
        return 1, total
    first = max(1, min(step - STEPS_EACH_SIDE, total - 2 * STEPS_EACH_SIDE))
    last = min(total, first + 2 * STEPS_EACH_SIDE)
    return 1 if first <= 1 + SPARE else first, total if total - last <= SPARE else last
