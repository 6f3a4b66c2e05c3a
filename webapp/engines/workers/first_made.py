"""Where a character of what was sent was first to be seen, among the characters that it was sent beside.

A character alone says nothing, so a value holds it where it has the same text around it, as far as the value reaches.
Of all values of a step, in their order, the first that holds it was made by the line that put the character there: no
value before it did, so its inputs did not. Where the parser was fed it, or kept it before the step, no line of the step
made it, and none is named.

Where a text is put together one character after another, the character is made before it stands beside the others: by
the line that left it in a variable, if the text so far had all that is before it, and had it next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

AROUND = 6  # characters on either side that have to be the same
LEAST_SAME = 4  # characters that a value has in common: fewer are met by accident
MOST_LOOKED = 100_000  # characters of a value
MOST_PARTS = 50  # of a list or a mapping of texts
MOST_MOMENTS = 20  # that are kept, for the first of them may not count


class FirstMade:
    """Hears of the values of a step in their order. `text` is what it sent in a channel, `at` which character of that
    is asked about, `earlier` what others sent there before, and `fed` all that the parser was fed by then."""

    def __init__(self, text: str, at: int, earlier: str, fed: str) -> None:
        before = (earlier[-AROUND:] + text[:at])[-AROUND:]
        self._near = before + text[at : at + AROUND + 1]
        self._at = len(before)
        self._before, self._char = before, text[at : at + 1]
        self._is_next = False  # whether some text has just all that is before it
        self._alone: Any = None  # when a variable became the character, by then
        self._ends = [self._near[:end] for end in range(max(self._at + 1, LEAST_SAME), len(self._near))]
        self._begins = [self._near[one:] for one in range(1, self._at + 1) if len(self._near) - one >= LEAST_SAME]
        own = text[max(0, at - AROUND) : at + AROUND + 1]  # what is sent twice was fed once
        was_fed = self._holds(fed) or (len(own) >= LEAST_SAME and own in fed)
        self._sought = len(self._near) >= LEAST_SAME and not was_fed
        self.moments: list[Any] = []  # when it was seen; None: when the step began

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be learnt."""
        return not self._sought or len(self.moments) >= MOST_MOMENTS or None in self.moments

    def seen(self, value: Any, moment: Any) -> None:
        """A value that was there at a moment, None: when the step began."""
        if self.is_done:
            return
        self._collected(value, moment)
        if any(self._holds(text) for text in _parts(value)):
            self.moments.append(moment)

    def _collected(self, value: Any, moment: Any) -> None:
        """Of a text that grows by a character: who made that, before it had it."""
        if isinstance(value, str) and len(value) == 1:
            self._alone = moment if self._is_next and value == self._char else None
            return
        if len(self._before) < LEAST_SAME - 1:
            return
        end = _end_of(value)
        if self._alone is not None and end.endswith(self._before + self._char):
            self.moments.append(self._alone)
        self._is_next = self._is_next or end.endswith(self._before)

    def _holds(self, value: str) -> bool:
        """A few looks into a text: whether it has all that is near, or begins or ends within that."""
        if self._near[self._at : self._at + 1] not in value:
            return False
        if self._near in value or value.startswith(tuple(self._begins)) or value.endswith(tuple(self._ends)):
            return True
        return len(value) >= LEAST_SAME and 0 <= self._near.find(value, max(0, self._at - len(value) + 1)) <= self._at


def _end_of(value: Any) -> str:
    """The last characters of a text, or of a list of characters."""
    last = value[-AROUND - 1 :] if isinstance(value, (str, list)) else ""
    return "".join([one for one in last if isinstance(one, str) and len(one) == 1])


def _parts(value: Any) -> Iterator[str]:
    """The texts of a plain value, or of a list or mapping of such."""
    many = [*value.values()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
    yield from [one for one in many[:MOST_PARTS] if isinstance(one, str) and len(one) <= MOST_LOOKED]
