"""Up to four sides on one axis: the outputs with what became of every character, and the band over all of it.

Sides that read one output share a strip of it. The window is what all sides can show: so many steps of each, and not
more than so many columns. A strip is cut where an owner changes, where a step of its sides ends and where the sides
begin or cease to part, so that inside one bit the whole page is the same.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from parsers.compare.divergence import HARMFUL
from webapp.glyphs import count, shorten, show, spell
from webapp.page.compare.alignment import Axis, Lane
from webapp.page.compare.difference import Comparison, Parting, merged, role_at
from webapp.page.compare.sides import Replayed
from webapp.page.drawing import Bar, bars, percent
from webapp.page.inspect.index import UNKNOWN, TraceIndex
from webapp.page.inspect.plots import ALONE, RoleBar, role_bars
from webapp.page.inspect.window import SPARE, Window, steps_around
from webapp.page.search.lost import in_marker

SEVERITIES = ("error", "warning", "info", "pass")  # the worst first
CHARACTERS_EACH_SIDE = 1_500
TEXT_EACH_SIDE = 600  # columns around the cursor that are read, be they of steps on the page or not
_LINE_ENDS = re.compile(r"\n")


@dataclass(slots=True, frozen=True)
class Placed:
    """One side with its index, and where its text stands on the axis."""

    side: Replayed
    index: TraceIndex
    lane: Lane

    @property
    def text(self) -> str:
        """The output it reads."""
        return self.index.trace.text

    def step_at(self, column: int) -> int:
        """The step that was fed the character at a column."""
        return self.index.step_at(self.lane.offset(column))

    def begin(self, step: int) -> int:
        """The column with which a step begins."""
        return self.lane.edge(self.index.span(step)[0])

    def end(self, step: int, size: int) -> int:
        """The column behind a step; that of the last ones is the end of the axis."""
        end = self.index.step_ends[step - 1]
        return size if end == len(self.text) and step == self.index.total else self.lane.edge(end)


@dataclass(frozen=True)
class Compared:
    """All sides, the axis, and each side but the first compared with it. `by_tools` says of each of these whether it
    gives another message only because tools are not declared; all are False where nobody asked."""

    sides: list[Placed]
    axis: Axis
    found: list[Comparison]
    by_tools: list[bool] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.axis.size

    @property
    def pairs(self) -> list[tuple[Placed, Comparison]]:
        """The sides but the first, each with what it was found to differ in."""
        return list(zip(self.sides[1:], self.found, strict=True))

    def is_explained(self, numbers: Iterable[int]) -> bool:
        """Return whether sides, counted from 0, differ from the first only because tools are not declared; False of
        none."""
        said = [number <= len(self.by_tools) and self.by_tools[number - 1] for number in numbers]
        return bool(said) and all(said)

    def severity(self, numbers: Iterable[int]) -> str:
        """How bad it is that sides, counted from 0, differ from the first: what the worst of them comes to; "pass" of
        none."""
        return min(map(self._severity, numbers), key=SEVERITIES.index, default="pass")

    def _severity(self, number: int) -> str:
        """What another output gives is no fault, nor what other tools give. Of a recording, what a server sent counts
        as it came."""
        found = self.found[number - 1]
        if found.first is None:
            return "pass"
        if self.is_explained([number]) or found.grade == "spelling" or self._reads_other(number):
            return "info"
        return "error" if found.grade in HARMFUL else "warning"

    def _reads_other(self, number: int) -> bool:
        """Return whether a side and the first read outputs that are not one."""
        first, other = self.sides[0].side.run, self.sides[number].side.run
        return not (first.replayer.plays or other.replayer.plays) and first.trace.text != other.trace.text

    @property
    def by_message(self) -> bool:
        """Return whether what the sides send is laid beside each other, and not what they read."""
        return any(one.side.sent is not None for one in self.sides)

    def place(self, column: int) -> str:
        """Where a column stands, in words: at which character of the first output, and at which column where that is
        another number, since columns have room for what others have more."""
        thing = "message" if self.by_message else "output"
        whose = f"A's {thing}" if any(self.axis.hunks[1:]) else f"the {thing}"
        if self.is_end(column):
            return f"the end of {whose}"
        offset = self._offset(column)
        return f"character {offset:,} of {whose}" + (f" (column {column:,})" if offset != column else "")

    @property
    def unit(self) -> str:
        """What a column is called: a character, where none is but room for what another side has more."""
        return "character" if self.size == len(self.sides[0].text) else "column"

    def is_end(self, column: int) -> bool:
        """Return whether the first output has ended before a column."""
        return self._offset(column) >= len(self.sides[0].text)

    def _offset(self, column: int) -> int:
        return self.sides[0].lane.offset(column)

    def partings(self) -> list[Parting]:
        """The places where any side parts from the first; those that touch are one."""
        if len(self.found) == 1:
            return self.found[0].partings
        return self._merged([place for found in self.found for place in found.partings])

    def partings_of(self, group: Sequence[Placed]) -> list[Parting]:
        """The places at which a strip is shaded: where its sides part from the first, and on that of the first where
        any side does. Those that touch are one."""
        if self.sides[0] in group:
            return self.partings()
        own = [found.partings for one, found in self.pairs if one in group]
        return own[0] if len(own) == 1 else self._merged([place for places in own for place in places])

    def _merged(self, places: Iterable[Parting]) -> list[Parting]:
        return merged([Parting(one.start, one.end, set(one.kinds), [*one.channels]) for one in places], self.size)

    @cached_property
    def starts(self) -> list[int]:
        """The columns at which a side begins to part from the first, be it inside of where another one does."""
        return sorted({start for found in self.found for start in found.starts})


@dataclass(slots=True)
class Bit:
    """Characters that have one owner on each side of a strip, at columns [start, end). `roles` are by the letter of the
    side. `parts`: the sides part here; `other`: the first output has none of it; `future`: not fed yet; `marked`: the
    classes of markup, which is a marker or the structure between two."""

    start: int
    end: int
    offset: int
    roles: dict[str, str]
    text: str
    parts: bool
    other: bool
    current: bool
    future: bool
    marked: str = ""

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show(self.text)

    @property
    def breaks(self) -> bool:
        """Return whether a line ends with it: the break stands outside, since a button is a box of its own."""
        return self.text.endswith("\n")

    @property
    def _agreed(self) -> str:
        """The role where all sides agree on it. A side of which nobody knows agrees with any other."""
        roles = {*self.roles.values()}
        known = roles - {UNKNOWN} or roles
        return known.pop() if len(known) == 1 else ""

    @property
    def agrees(self) -> bool:
        """Return whether it has one role on all sides."""
        return bool(self._agreed)

    @property
    def classes(self) -> str:
        """The CSS classes: one role where all sides agree, a line for each where they do not."""
        flags = {"parts": self.parts, "other-text": self.other, "future": self.future}
        own = ["run", f"role-{self._agreed}"]
        if self._agreed == "marker":
            own.append(self.marked)
        elif not self.agrees:
            lines = [f"{letter}-{role}" for letter, role in zip("abcd", self.roles.values(), strict=False)]
            own = ["both", f"lines-{len(lines)}", *lines]
        return " ".join(["bit", *own, *[name for name, on in flags.items() if on]])

    @property
    def legend(self) -> str:
        """The CSS classes of what stands for such characters in the legend: of roles alone."""
        return " ".join([name for name in self.classes.split() if name not in ("bit", "future", "other-text")])

    @property
    def words(self) -> str:
        """Return what became of it, in words."""
        names: dict[str, list[str]] = {}
        for name, role in self.roles.items():
            names.setdefault(role, []).append(name.upper())
        where = {role: f"on {' and '.join(those)}" for role, those in names.items()}
        silent = where.pop(UNKNOWN, "") if len(where) > 1 else ""
        said = self._agreed or ", ".join([f"{role} {those}" for role, those in where.items()])
        return f"{said}, not known {silent}" if silent else said

    @property
    def label(self) -> str:
        """The name of the option that goes there."""
        differs = ", the sides part" * self.parts + ", not in the output of A" * self.other
        return f"character {self.offset:,}, {spell(shorten(self.text, 200))}, {self.words}{differs}"


@dataclass(slots=True)
class Strip:
    """One output, and the letters of the sides that read it; so many characters are before and after what is shown.
    `end` is where its last character ends, None where that is not shown."""

    names: list[str]
    bits: list[Bit]
    before: int
    after: int
    size: int
    end: int | None

    @property
    def title(self) -> str:
        """The letters of its sides, in words."""
        return " and ".join([name.upper() for name in self.names])


@dataclass(slots=True)
class View:
    """Columns [start, end) are on the page, with the steps of each side that feed them. Around them text is shown
    without its steps, so that one has enough of it to read where a step is one character: columns [low, high), which
    the steps `texts` of each side feed."""

    start: int
    end: int
    windows: list[Window]
    low: int
    high: int
    texts: list[Window]


def view_around(compared: Compared, at: int) -> View:
    """The window around the column `at`."""
    size = compared.size
    low, high = max(0, at - CHARACTERS_EACH_SIDE), min(size, at + CHARACTERS_EACH_SIDE)
    for one in compared.sides:
        step, total = one.step_at(at), one.index.total
        first, last = steps_around(step, total)
        low = max(low, one.begin(first))
        high = min(high, one.end(last, size))
    low, high = _near_ends(low, high, size)
    left, right = _near_ends(min(low, at - TEXT_EACH_SIDE), max(high, at + TEXT_EACH_SIDE), size)
    windows, texts = [[_steps(one, *ends, size) for one in compared.sides] for ends in ((low, high), (left, right))]
    return View(low, high, windows, left, right, texts)


def _near_ends(low: int, high: int, size: int) -> tuple[int, int]:
    """A range that reaches the ends of the axis where too little is left to be worth counting."""
    return 0 if low <= SPARE else low, size if size - high <= SPARE else high


def _steps(one: Placed, low: int, high: int, size: int) -> Window:
    start, end = one.lane.offset(low), one.lane.offset(high)
    last = one.index.total if high == size else one.index.step_at(max(start, end - 1))
    return Window(one.index.step_at(start), last, 0, 0, start, end)


def strips(compared: Compared, view: View, at: int) -> list[Strip]:
    """The outputs in the window, each once: that of the first side first."""
    groups: dict[str, list[Placed]] = {}
    for one in compared.sides:
        groups.setdefault(one.text, []).append(one)
    return [_strip(group, compared, view, at) for group in groups.values()]


def _strip(group: list[Placed], compared: Compared, view: View, at: int) -> Strip:
    places = compared.partings_of(group)
    parts = places, [place.start for place in places]
    lane, size = group[0].lane, len(group[0].text)
    low, high = lane.offset(view.low), lane.offset(view.high)
    number = compared.sides.index(group[0])
    others = [(hunk.b0, hunk.b1) for hunk in compared.axis.hunks[number] if hunk.b1 > low and hunk.b0 < high]
    edges = {low, high, *_inside([edge for other in others for edge in other], low, high)}
    for one in group:
        edges.update(_inside(one.index.owner_starts, low, high))
        edges.update(_steps_inside(one, view, low, high))
        edges.update(_inside(one.index.marker_edges, low, high))
    edges.update(offset for edge in _edges(parts, view) if low < (offset := lane.offset(edge)) < high)
    edges.update(match.end() for match in _LINE_ENDS.finditer(group[0].text, low, high))
    fed = max(one.index.step_ends[one.step_at(at) - 1] for one in group)
    bits = []
    for start, end in itertools.pairwise(sorted(edges)):
        left, right = lane.edge(start), lane.edge(end)
        place = lane.column(start)
        bits.append(
            Bit(
                start=left, end=right, offset=start, text=group[0].text[start:end], current=left <= at < right,
                roles={one.side.name: role_at(one.index, start) for one in group},
                parts=_is_in(parts, place), other=any(x <= start < y for x, y in others), future=start >= fed,
                marked=_marked(group[0].index.marker_edges, start, end),
            )
        )  # fmt: skip
    end_shown = lane.edge(size) if view.high == compared.size else None
    return Strip([one.side.name for one in group], bits, low, size - high, size, end_shown)


def _marked(edges: Sequence[int], start: int, end: int) -> str:
    """The classes of markup at [start, end), which no edge of a marker is inside of."""
    if not in_marker(edges, start):
        return "structure"
    first, last = bisect_left(edges, start), bisect_left(edges, end)
    begins = first < len(edges) and edges[first] == start
    ends = last < len(edges) and edges[last] == end
    return " ".join(["run-start"] * begins + ["run-end"] * ends)


def _is_in(parts: tuple[list[Parting], list[int]], column: int) -> bool:
    places, starts = parts
    at = bisect_right(starts, column) - 1
    return at >= 0 and column < places[at].end


def _steps_inside(one: Placed, view: View, low: int, high: int) -> Iterator[int]:
    """Where the steps on the page end, and the characters around them that are shown without theirs."""
    start, end = one.lane.offset(view.start), one.lane.offset(view.end)
    yield from _inside(one.index.step_ends, start, end)
    yield from (edge for edge in (start, end) if low < edge < high)


def _inside(places: Sequence[int], low: int, high: int) -> Sequence[int]:
    return [place for place in places[bisect_right(places, low) : bisect_left(places, high)] if low < place < high]


def _edges(parts: tuple[list[Parting], list[int]], view: View) -> Iterable[int]:
    places, starts = parts
    low = max(0, bisect_right(starts, view.low) - 1)
    high = bisect_left(starts, view.high)
    for parting in places[low:high]:
        yield from (edge for edge in (parting.start, parting.end) if view.low < edge < view.high)


# The overview of a comparison: the whole axis, a lane for each side, and where they part.
#
# One SVG in percent, bounded like the inspector's band: what is narrower than a column is merged into its neighbour.

_LANE, _LOW_LANE = 20, 16  # pixels; the low ones where four sides leave less room for what is compared


@dataclass(slots=True, frozen=True)
class BandLane:
    """One side: what its characters became, and where it has none."""

    name: str
    roles: list[RoleBar]
    gaps: list[Bar]
    top: int


@dataclass(slots=True, frozen=True)
class Band:
    """The band of all sides. `marks` are where any parts from the first, below the lanes at `top`."""

    size: int
    lanes: list[BandLane]
    marks: list[Bar]
    top: int
    cursor: float
    words: str


def band(compared: Compared, at: int) -> Band:
    """The band with the cursor on the column `at`. The end of the output has a character's width of its own."""
    size, places = compared.size, compared.partings()
    where = ", ".join([f"{place.start:,} to {place.end:,}" for place in places[:20]])
    more = f" and {len(places) - 20:,} more" if len(places) > 20 else ""
    parts = f"They part at {count(len(places), 'place')}: {where}{more}." if places else "They part nowhere."
    names = " and ".join([f"side {one.side.title}" for one in compared.sides])

    def x(column: float) -> float:
        return percent(column, size + 1)

    height = _LANE if len(compared.sides) < 4 else _LOW_LANE
    return Band(
        size=size,
        lanes=[_lane(one, height * number, size) for number, one in enumerate(compared.sides)],
        marks=list(bars([(str(number), x(place.start), x(place.end)) for number, place in enumerate(places)])),
        top=height * len(compared.sides) + 2,
        cursor=x(at + 0.5),
        words=f"What became of {count(size, 'character')} on {names}. {parts} The cursor is at {at:,}.",
    )


def _lane(one: Placed, top: int, size: int) -> BandLane:
    roles = role_bars(one.index, lambda offset: percent(one.lane.column(offset), size + 1), ALONE + top)
    gaps = [(str(start), percent(start, size + 1), percent(end, size + 1)) for start, end in _gaps(one.lane, size)]
    return BandLane(one.side.name, roles, list(bars(gaps)), top)


def _gaps(lane: Lane, size: int) -> Iterator[tuple[int, int]]:
    """The columns on which a text has no characters."""
    done = 0
    for column, length in zip(lane.columns, lane.sizes, strict=True):
        if column > done:
            yield done, column
        done = column + length
    if done < size:
        yield done, size
