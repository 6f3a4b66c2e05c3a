"""The overview of a comparison: the whole output over its characters, a lane for each side, and where they part.

One SVG in percent, bounded like the inspector's band: what is narrower than a column is merged into its neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.page.compare_parts import Comparison
from webapp.page.glyphs import count
from webapp.page.index import TraceIndex
from webapp.page.overview import BAR, COLUMNS, RoleBar
from webapp.page.roles import DRAWN

LANES = (0.0, 20.0)  # what is added to the overview's heights for either side
TOP = 22.0


@dataclass(slots=True)
class Mark:
    """A place where the sides part, in percent."""

    x: float
    width: float


@dataclass(slots=True)
class Band:
    """The band of two traces of one output."""

    size: int
    lanes: tuple[list[RoleBar], list[RoleBar]]
    marks: list[Mark]
    cursor: float
    words: str


def band(a: TraceIndex, b: TraceIndex, comparison: Comparison, at: int) -> Band:
    """The band with the cursor on the character at `at`."""
    size = len(a.trace.text)
    places = comparison.partings
    where = ", ".join([f"{place.start:,} to {place.end:,}" for place in places[:20]])
    more = f" and {len(places) - 20:,} more" if len(places) > 20 else ""
    parts = f"They part at {count(len(places), 'place')}: {where}{more}." if places else "They part nowhere."
    return Band(
        size=size,
        lanes=(list(_bars(a, LANES[0])), list(_bars(b, LANES[1]))),
        marks=list(_marks(comparison, size)),
        cursor=percent(at + 0.5, size),
        words=f"What became of {count(size, 'character')} on side A and on side B. {parts} The cursor is at {at:,}.",
    )


def percent(offset: float, size: int) -> float:
    """An offset's place. The end of the output has a character's width of its own."""
    return round(offset * 100 / (size + 1), 3)


def _bars(index: TraceIndex, lane: float) -> Iterator[RoleBar]:
    """The partition; runs of one role that touch are one bar."""
    size, smallest = len(index.trace.text), 100 / COLUMNS
    waiting: RoleBar | None = None
    for owner in index.trace.partition:
        role = DRAWN.get(owner.owner, owner.owner)
        left, right = percent(owner.start, size), percent(owner.end, size)
        if waiting and (waiting.role == role or right - waiting.x < smallest):
            waiting.width = round(right - waiting.x, 3)
            continue
        if waiting:
            yield waiting
        y, height = BAR[role]
        waiting = RoleBar(role, left, y - TOP + lane, round(max(right - left, smallest), 3), height)
    if waiting:
        yield waiting


def _marks(comparison: Comparison, size: int) -> Iterator[Mark]:
    smallest = 100 / COLUMNS
    waiting: Mark | None = None
    for place in comparison.partings:
        left, right = percent(place.start, size), percent(place.end, size)
        if waiting and right - waiting.x < 2 * smallest:
            waiting.width = round(right - waiting.x, 3)
            continue
        if waiting:
            yield waiting
        waiting = Mark(left, round(max(right - left, smallest), 3))
    if waiting:
        yield waiting
