"""White space that two texts do not share whose other characters are the same: where it stands, and what became of it.

A place between two of these characters is a gap, numbered by how many of them stand before it; so gaps of both texts
have one number. All is linear in the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from parsers.vocabulary.words import quoted

_RUN = re.compile(r"\s+")
_BEFORE, _AFTER = re.compile(r"\S{0,12}\Z"), re.compile(r"\S{0,12}")
_BETWEEN = re.compile(r"\S{0,11}\w\s+\w\S{0,11}")
_LOST = 50  # so many gaps are looked at
_SHOWN = 12  # characters beside a gap that are shown


def squeezed(text: str | None) -> str:
    """A text without its white space."""
    return "".join((text or "").split())


class Spaced:
    """A text by its gaps: `runs` has the white space of those that are not empty."""

    def __init__(self, text: str | None) -> None:
        self.text = text or ""
        self.runs: dict[int, str] = {}
        blank = 0
        for match in _RUN.finditer(self.text):
            self.runs[match.start() - blank] = match.group()
            blank += match.end() - match.start()
        self.size = len(self.text) - blank
        """How many other characters there are."""

    def place(self, gap: int) -> int:
        """The offset at which a gap begins."""
        return gap + sum([len(run) for before, run in self.runs.items() if before < gap])

    def differing(self, other: Spaced) -> list[int]:
        """The gaps in which another text with the same characters has other white space."""
        return sorted(
            [gap for gap in self.runs.keys() | other.runs.keys() if self.runs.get(gap) != other.runs.get(gap)]
        )

    def change(self, other: Spaced, gap: int) -> tuple[str, str]:
        """What stands around a gap here, and with the white space of the other text."""
        at, here = self.place(gap), self.runs.get(gap, "")
        end = at + len(here)
        before = _BEFORE.search(self.text, max(0, at - _SHOWN), at)
        after = _AFTER.match(self.text, end, end + _SHOWN)
        ends = [match.group() if match is not None else "" for match in (before, after)]
        return ends[0] + here + ends[1], ends[0] + other.runs.get(gap, "") + ends[1]


def differing_gaps(right: Spaced, others: Iterable[Spaced]) -> list[int]:
    """The gaps in which no other text has the white space of the right one; all have the same characters."""
    found = [{*right.differing(other)} for other in others]
    return sorted(set.intersection(*found)) if found else []


def joined_words(right: Spaced, wrong: Spaced, gaps: Iterable[int]) -> Iterator[str]:
    """What stands around the gaps between two words that another text has not; both have the same characters."""
    lost = (gap for gap in gaps if gap in right.runs and gap not in wrong.runs)
    for gap in islice(lost, _LOST):
        before, _ = right.change(wrong, gap)
        if _BETWEEN.fullmatch(before):
            yield before


def change_words(right: str | None, wrong: str | None) -> str | None:
    """Return what the first change of white space makes of a text: "`It is` becomes `Itis`"; None where other
    characters differ as well."""
    if squeezed(right) != squeezed(wrong):
        return None
    one, other = Spaced(right), Spaced(wrong)
    gaps = one.differing(other)
    if not gaps:
        return None
    before, after = one.change(other, gaps[0])
    return f"{quoted(before)} becomes {quoted(after)}"
