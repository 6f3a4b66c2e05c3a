"""The output once, with both sides on it: what became of every character on A and on B, around the cursor.

The window is what both sides can show: so many steps of either, and not more than so many characters. It is cut where
an owner changes, where a step of either side ends and where the sides begin or cease to part, so that inside one bit
the whole page is the same.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from webapp.page.compare_parts import Comparison, owner_at
from webapp.page.glyphs import shorten, show_lines, spell
from webapp.page.index import TraceIndex
from webapp.page.roles import DRAWN, UNKNOWN
from webapp.page.window import STEPS_EACH_SIDE, Window

CHARACTERS_EACH_SIDE = 1_500


@dataclass(slots=True)
class Bit:
    """Characters [start, end) with one owner on each side. `parts`: the sides part here; `future`: not fed yet."""

    start: int
    end: int
    a: str
    b: str
    text: str
    parts: bool
    current: bool
    future: bool

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show_lines(self.text)

    @property
    def classes(self) -> str:
        """The CSS classes: one role where both sides agree, a line for each where they do not."""
        flags = {"parts": self.parts, "future": self.future}
        own = ["run", f"role-{self.a}"] if self.a == self.b else ["both", f"a-{self.a}", f"b-{self.b}"]
        return " ".join(["bit", *own, *[name for name, on in flags.items() if on]])

    @property
    def words(self) -> str:
        """What became of it, in words."""
        return self.a if self.a == self.b else f"{self.a} on A, {self.b} on B"

    @property
    def label(self) -> str:
        """The name of the option that goes there."""
        differs = ", the sides part" if self.parts else ""
        return f"character {self.start:,}, {spell(shorten(self.text, 200))}, {self.words}{differs}"


@dataclass(slots=True)
class View:
    """Characters [start, end) are on the page, with the steps of either side that feed them."""

    start: int
    end: int
    a: Window
    b: Window


def view_around(a: TraceIndex, b: TraceIndex, at: int) -> View:
    """The window around the character at `at`."""
    size = len(a.trace.text)
    low, high = max(0, at - CHARACTERS_EACH_SIDE), min(size, at + CHARACTERS_EACH_SIDE)
    for index in (a, b):
        step = index.step_at(at)
        first = max(1, min(step - STEPS_EACH_SIDE, index.total - 2 * STEPS_EACH_SIDE))
        low = max(low, index.step(first).span.start)
        high = min(high, index.step_ends[min(index.total, first + 2 * STEPS_EACH_SIDE) - 1])
    return View(low, high, _steps(a, low, high), _steps(b, low, high))


def _steps(index: TraceIndex, low: int, high: int) -> Window:
    last = index.total if high == len(index.trace.text) else index.step_at(high - 1)
    return Window(index.step_at(low), last, 0, 0, low, high)


def bits(a: TraceIndex, b: TraceIndex, comparison: Comparison, view: View, at: int) -> list[Bit]:
    """The characters of `view`."""
    edges = {view.start, view.end, *_edges(comparison, view)}
    for index in (a, b):
        edges.update(_inside(index.owner_starts, view))
        edges.update(_inside(index.step_ends, view))
    fed = max(_fed(index, at) for index in (a, b))
    found = []
    for start, end in itertools.pairwise(sorted(edges)):
        left, right = role_at(a, start), role_at(b, start)
        parts = comparison.parting_at(start) is not None
        found.append(
            Bit(start, end, left, right, a.trace.text[start:end], parts, start <= at < end, start >= fed)
        )  # fmt: skip
    return found


def role_at(index: TraceIndex, offset: int) -> str:
    """The role of a character as it is drawn."""
    owner = owner_at(index, offset)
    return DRAWN.get(owner.owner, owner.owner) if owner else UNKNOWN


def _fed(index: TraceIndex, at: int) -> int:
    """Where the step that fed the character at `at` ends."""
    return index.step_ends[index.step_at(at) - 1]


def _inside(places: list[int], view: View) -> list[int]:
    return places[bisect_right(places, view.start) : bisect_left(places, view.end)]


def _edges(comparison: Comparison, view: View) -> Iterable[int]:
    low = max(0, bisect_right(comparison.starts, view.start) - 1)
    high = bisect_left(comparison.starts, view.end)
    for parting in comparison.partings[low:high]:
        yield from (edge for edge in (parting.start, parting.end) if view.start < edge < view.end)
