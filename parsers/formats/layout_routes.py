"""Where the labels of a diagram's edges stand.

Every edge offers places beside its own lines, the middle of its longest piece first; the edge with the least room
chooses first, and in two more rounds those that fared worst. A place on a node is never taken. One on another label, on
a line, beside a stretch that several edges share, or between two lines that could both be meant is taken only when
there is none better. The layout leaves room for a label in every channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from parsers.formats.layout_cells import Cell, Graph, is_straight

CHARACTER = 6.7  # units per character at 11 px of a monospaced font
ASCENT, DESCENT = 9.0, 2.5
ABOVE, BELOW, BESIDE = 5.0, 12.0, 5.0  # from a line to the baseline above or below it, or to the text beside it
STEP, TRIED = 6.0, 12  # distance of two places that are tried, and how many at most on either side of the middle
ON_LABEL, ON_SHARED, ON_LINE, BETWEEN, OFF_LIMITS = 200.0, 60.0, 20.0, 8.0, 4.0
ROUNDS = 3  # of choosing: who fared worst chooses first in the next one
OTHER_SIDE, FAR, SHORT = 3.0, 0.06, 0.04  # second choices: below or left of the line, off its middle, a short piece

Point = tuple[float, float]
Segment = tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle; touching borders do not overlap."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether the two share area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def contains(self, point: Point) -> bool:
        """Return whether the point lies inside or on the border."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclass(frozen=True, slots=True)
class Line:
    """An edge as corner points, and its label."""

    points: Sequence[Point]
    label: str

    def segments(self) -> list[Segment]:
        """The straight pieces, each horizontal or vertical."""
        return list(zip(self.points, self.points[1:], strict=False))


_Stroke = tuple[int, Box]  # the number of a line, and ink of it


@dataclass(frozen=True, slots=True)
class _Place:
    """Says where a label may stand: its baseline's middle, the point of the line beside it, and how little it is liked.

    `near` are the strokes that could be in its way.
    """

    at: Point
    anchor: Point
    dislike: float
    near: Sequence[_Stroke]


def text_box(label: str, at: Point) -> Box:
    """The rectangle of a label whose baseline's middle is `at`."""
    half = len(label) * CHARACTER / 2
    return Box(at[0] - half, at[1] - ASCENT, at[0] + half, at[1] + DESCENT)


def place_labels(lines: Sequence[Line], nodes: Sequence[Box], page: Box) -> tuple[list[Point], float]:
    """The middle of every label's baseline, in the order of the lines, and how bad the places are altogether.

    A label may leave the page at its sides.
    """
    strokes = [(number, _stroke(segment)) for number, line in enumerate(lines) for segment in line.segments()]
    strokes += [(number, _head(*line.points[-1])) for number, line in enumerate(lines)]
    offered = [sorted(_places(line, strokes), key=lambda place: place.dislike) for line in lines]
    rooms = [sum(map(length, line.segments())) - len(line.label) * CHARACTER for line in lines]
    order = sorted(range(len(lines)), key=rooms.__getitem__)
    best, least = list[Point](), float("inf")
    for _ in range(ROUNDS):
        found, placed = dict[int, tuple[Point, float]](), list[Box]()
        for number in order:
            found[number] = at, _ = _chosen(number, lines[number], offered[number], (placed, nodes, page))
            placed.append(text_box(f"{lines[number].label} ", at))
        total = sum(cost for _, cost in found.values())
        if not best or total < least:
            best, least = [found[number][0] for number in range(len(lines))], total
        order = sorted(range(len(lines)), key=lambda number: (-found[number][1], rooms[number]))
    return best, least


def _chosen(
    number: int, line: Line, offered: Sequence[_Place], beside: tuple[Sequence[Box], Sequence[Box], Box]
) -> tuple[Point, float]:
    """The place that costs least beside labels, on no node and no higher or lower than the page; and what it costs."""
    labels, nodes, page = beside
    best, least = line.points[0], float("inf")
    for place in offered:
        if place.dislike >= least:
            break
        box = text_box(line.label, place.at)
        if box.top < page.top or box.bottom > page.bottom or any(box.overlaps(node) for node in nodes):
            continue
        cost = place.dislike + OFF_LIMITS * (box.left < page.left or box.right > page.right)
        cost += ON_LABEL * sum(box.overlaps(other) for other in labels)
        cost = _with_strokes(cost, least, number, box, place)
        if cost < least:
            best, least = place.at, cost
    return best, least


def _with_strokes(cost: float, limit: float, number: int, box: Box, place: _Place) -> float:
    """The cost with what the label does to the lines; counting stops at `limit`, where the place has lost."""
    for other, stroke in place.near:
        if cost >= limit:
            break
        if box.overlaps(stroke):
            cost += ON_LINE
        elif other != number and _beside(box).overlaps(stroke):
            cost += BETWEEN
        if other != number and stroke.contains(place.anchor):
            cost += ON_SHARED
    return cost


def _beside(box: Box) -> Box:
    """Where another line stands as near to a label's ends as its own."""
    return Box(box.left - BESIDE - 2, box.top, box.right + BESIDE + 2, box.bottom)


def length(segment: Segment) -> float:
    """The length of a horizontal or vertical piece, or of the way around a corner."""
    (x1, y1), (x2, y2) = segment
    return abs(x1 - x2) + abs(y1 - y2)


def _places(line: Line, strokes: Sequence[_Stroke]) -> Iterator[_Place]:
    longest = max(map(length, line.segments()))
    half = len(line.label) * CHARACTER / 2
    for segment in line.segments():
        (x1, y1), (x2, y2) = segment
        around = _stroke(segment, 2 * BESIDE + 3 + 2 * half, BELOW + DESCENT)
        near = [stroke for stroke in strokes if stroke[1].overlaps(around)]
        steps = min(TRIED, int(length(segment) / 2 / STEP))
        for step in range(-steps, steps + 1):
            part = 0.5 + step * STEP / length(segment) if steps < TRIED else 0.5 + step / (2 * TRIED)
            x, y = x1 + (x2 - x1) * part, y1 + (y2 - y1) * part
            dislike = FAR * abs(part - 0.5) * length(segment) + SHORT * (longest - length(segment))
            if y1 == y2:
                yield _Place((x, y - ABOVE), (x, y), dislike, near)
                yield _Place((x, y + BELOW), (x, y), dislike + OTHER_SIDE, near)
            else:
                yield _Place((x + BESIDE + half, y + 4), (x, y), dislike, near)
                yield _Place((x - BESIDE - half, y + 4), (x, y), dislike + OTHER_SIDE, near)


def _head(x: float, y: float) -> Box:
    """The ink of an arrowhead that ends here, whatever its direction."""
    return Box(x - 8, y - 8, x + 8, y + 8)


def _stroke(segment: Segment, wide: float = 1, high: float = 1) -> Box:
    """The ink of a segment, a little wider than the line, or more room around it."""
    (x1, y1), (x2, y2) = segment
    return Box(min(x1, x2) - wide, min(y1, y2) - high, max(x1, x2) + wide, max(y1, y2) + high)


# How each edge of a diagram runs between the cells: straight, or through the channels between rows and columns.
#
# The grid has a channel above every row and one below the last (`rows`), and one left of every column and one right of
# the last (`columns`). An edge is either one straight line between two nodes with nothing in between, or leaves its
# source upwards or downwards, follows a row channel, if need be a column channel and a second row channel, and enters
# its target from above or below. So no edge can cross a node, whatever the graph.
#
# All edges that enter one node by the same side share their way as far as they can (a net). Nets in one channel that
# would overlap get tracks of their own; tracks are ordered so that few lines cross.

BEND = 0.6
_CROWDED = 0.5  # what it costs to run beside another net in the same channel
OUTSIDE = 0.4  # what it costs to open a channel outside the grid
_SHARED = 0.25  # how much of a way counts that the edge's own net takes already
COLUMN, ROW = 2.0, 1.0  # lengths of a step sideways and down, about their proportion on the page

Net = tuple[str, str]  # target and the side it is entered by: N or S


@dataclass(slots=True)
class Route:
    """The way of one edge. `straight`, or out by side `out` into row channel `first`, and so on.

    `column` is None when one row channel is enough; then `last` equals `first`.
    """

    link: int
    source: Cell
    target: Cell
    straight: bool
    out: str = ""
    into: str = ""
    first: int = 0
    column: int | None = None
    last: int = 0
    net: Net = ("", "")

    def row_runs(self) -> list[tuple[int, float, float]]:
        """The row channels used, each with the columns from and to, in units of columns."""
        here, there = self.source.column + 0.5, self.target.column + 0.5
        if self.column is None:
            return [(self.first, here, there)]
        return [(self.first, here, float(self.column)), (self.last, float(self.column), there)]


@dataclass(slots=True)
class _Traffic:
    """Holds what the channels carry already: per channel, the runs with their nets."""

    size: tuple[int, int]
    rows: dict[int, list[tuple[Net, float, float]]] = field(default_factory=dict)
    columns: dict[int, list[tuple[Net, float, float]]] = field(default_factory=dict)
    doors: dict[str, str] = field(default_factory=dict)

    def add(self, route: Route) -> None:
        for channel, a, b in route.row_runs():
            self.rows.setdefault(channel, []).append((route.net, min(a, b), max(a, b)))
        if route.column is not None:
            low, high = sorted((route.first, route.last))
            self.columns.setdefault(route.column, []).append((route.net, float(low), float(high)))
        self.doors.setdefault(*route.net)

    def cost(self, route: Route) -> float:
        total = BEND * (4 if route.column is not None else 2)
        for channel, a, b in route.row_runs():
            total += COLUMN * self._run(self.rows.get(channel, ()), route.net, a, b)
            total += OUTSIDE * (channel in (0, self.size[0]) and channel not in self.rows)
        if route.column is not None:
            runs = self.columns.get(route.column, ())
            total += ROW * self._run(runs, route.net, float(route.first), float(route.last))
            total += OUTSIDE * (route.column in (0, self.size[1]) and not runs)
        side = self.doors.get(route.net[0])
        return total + BEND * (side is not None and side != route.net[1])

    @staticmethod
    def _run(runs: Sequence[tuple[Net, float, float]], net: Net, a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        met = {run[0] for run in runs if run[1] < high and low < run[2]}
        if net in met:
            return _SHARED * (high - low)
        return (high - low) + _CROWDED * len(met)


def route(graph: Graph, cells: Mapping[str, Cell]) -> list[Route]:
    """A way for every link, in the order of the links."""
    taken = set(cells.values())
    traffic = _Traffic((1 + max(cell.row for cell in taken), 1 + max(cell.column for cell in taken)))
    routes: dict[int, Route] = {}
    winding = []
    for index, link in enumerate(graph.links):
        a, b = cells[link.source], cells[link.target]
        if is_straight(a, b, taken):
            routes[index] = Route(index, a, b, straight=True)
        else:
            winding.append((link.target == graph.end, abs(a.row - b.row) + abs(a.column - b.column), index))
    for _, _, index in sorted(winding):
        link = graph.links[index]
        candidates = _candidates(index, cells[link.source], cells[link.target], link.target, traffic.size[1])
        routes[index] = min(candidates, key=traffic.cost)
        traffic.add(routes[index])
    return [routes[index] for index in range(len(graph.links))]


def _candidates(link: int, a: Cell, b: Cell, target: str, columns: int) -> list[Route]:
    """Every way with at most one column channel. A loop goes over its own node."""
    if a == b:
        return [Route(link, a, b, False, "N", "N", a.row, None, a.row, (f"{target} loop", "N"))]
    ways = []
    for out, first in (("S", a.row + 1), ("N", a.row)):
        for into, last in (("N", b.row), ("S", b.row + 1)):
            net = (target, into)
            if first == last:
                ways.append(Route(link, a, b, False, out, into, first, None, last, net))
            else:
                ways += [Route(link, a, b, False, out, into, first, c, last, net) for c in range(columns + 1)]
    return ways


@dataclass(slots=True)
class Run:
    """The stretch of one net in one channel: from `low` to `high`, and where lines join it from either side.

    `before` are the places of lines that come from the lower side of the channel's own axis (above a row channel,
    left of a column channel), `after` those from the other side.
    """

    net: Net
    low: float
    high: float
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)


def tracks(runs: Iterable[Run], gap: float) -> dict[Net, int]:
    """A track for every run, counted from the lower side; runs closer than `gap` never share one."""
    order = _untangled(sorted(runs, key=_first_guess))
    level: dict[Net, int] = {}
    for index, run in enumerate(order):
        met = [level[other.net] for other in order[:index] if _meet(run, other, gap)]
        level[run.net] = 1 + max(met, default=-1)
    deepest = max(level.values(), default=0)
    for index, run in reversed(list(enumerate(order))):
        if not run.before:
            met = [level[other.net] for other in order[index + 1 :] if _meet(run, other, gap)]
            level[run.net] = min(met, default=deepest + 1) - 1
    return level


def _first_guess(run: Run) -> tuple[int, float, float, Net]:
    """Runs joined from one side only lie on that side, the short ones nearest to it."""
    side = bool(run.after) - bool(run.before)
    length = run.high - run.low
    return (side, length if side <= 0 else -length, run.low, run.net)


def _meet(a: Run, b: Run, gap: float) -> bool:
    return a.low < b.high + gap and b.low < a.high + gap


def _untangled(order: list[Run]) -> list[Run]:
    """Swap neighbours while that makes fewer lines cross."""
    changed = True
    while changed:
        changed = False
        for index in range(len(order) - 1):
            upper, lower = order[index], order[index + 1]
            if _crossings(lower, upper) < _crossings(upper, lower):
                order[index], order[index + 1] = lower, upper
                changed = True
    return order


def _crossings(upper: Run, lower: Run) -> int:
    """Return how many lines cross when `upper` lies above `lower`."""
    through = [x for x in lower.before if upper.low < x < upper.high]
    return len(through) + len([x for x in upper.after if lower.low < x < lower.high])


# Where on the upper and lower border of a node its edges begin and end.
#
# Two nodes that face each other in one column share one order of ports, so that a line going up from the lower one can
# never lie on a line going down from the upper one. A straight edge takes one place in that order for both its ends,
# and all edges of one net take one place at their target.
#
# Order from left to right: edges to the left, straight ones, edges to the right, and a loop last; the further an edge
# goes, the nearer it stands to the middle, because the far ones run outside the near ones.

LEAST, MOST = 20, 26  # distances of neighbouring ports
EDGE = 10.0  # from the last port to the corner of the node
_LABEL_MARGIN = 10.0

_Tip = tuple[int, str]  # a link and which of its ends: out or into
LEFT, STRAIGHT, RIGHT, LOOP = range(4)


@dataclass(slots=True)
class _Facing:
    """The ports between two nodes of one column (or one node and the outside), from left to right.

    `labels` is the room that each slot needs on its right.
    """

    nodes: tuple[str, ...]
    slots: list[tuple[_Tip, ...]] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)

    def width(self) -> float:
        """Return how wide the nodes must at least be."""
        return sum(self._gaps(LEAST)) + 2 * EDGE

    def offsets(self, width: float) -> list[float]:
        """Return where the slots lie from the middle of a border of this width, as far apart as fits."""
        fitting = next((gap for gap in range(MOST, LEAST, -1) if sum(self._gaps(gap)) + 2 * EDGE <= width), LEAST)
        places = list(accumulate(self._gaps(fitting), initial=0.0))
        return [place - places[-1] / 2 for place in places]

    def _gaps(self, usual: float) -> list[float]:
        """The distances between neighbours: a label right of a straight edge may ask for more than usual."""
        return [max(usual, label) for label in self.labels[:-1]]


def facings(graph: Graph, cells: Mapping[str, Cell], routes: Sequence[Route]) -> list[_Facing]:
    """Every pair of facing borders that has ports."""
    found = []
    for column in range(1 + max(cell.column for cell in cells.values())):
        stack = sorted((cell.row, name) for name, cell in cells.items() if cell.column == column)
        names = [name for _, name in stack]
        for upper, lower in zip([None, *names], [*names, None], strict=True):
            facing = _Facing(tuple(name for name in (upper, lower) if name is not None))
            facing.slots = _slots(graph, routes, upper, lower)
            facing.labels = [_label_room(graph, slot) for slot in facing.slots]
            found.append(facing)
    return [facing for facing in found if facing.slots]


def _label_room(graph: Graph, slot: tuple[_Tip, ...]) -> float:
    """The room right of a straight edge; other edges have their labels elsewhere."""
    (link, tip), straight = slot[0], len({link for link, _ in slot}) == 1 and len(slot) == 2
    return len(graph.links[link].label) * CHARACTER + _LABEL_MARGIN if straight and tip == "out" else 0.0


def _slots(graph: Graph, routes: Sequence[Route], upper: str | None, lower: str | None) -> list[tuple[_Tip, ...]]:
    keyed: dict[object, list[_Tip]] = {}
    where: dict[object, list[tuple[int, float]]] = {}
    for route in routes:
        link = graph.links[route.link]
        if route.straight:
            if {link.source, link.target} == {upper, lower}:
                keyed[route.link] = [(route.link, "out"), (route.link, "into")]
                where[route.link] = [(STRAIGHT, float(link.source == lower))]
            continue
        if (link.source, route.out) in ((upper, "S"), (lower, "N")):
            keyed.setdefault(route.link, []).append((route.link, "out"))
            where.setdefault(route.link, []).append(_heading(route, route.source, route.target))
        if (link.target, route.into) in ((upper, "S"), (lower, "N")):
            keyed.setdefault(route.net, []).append((route.link, "into"))
            where.setdefault(route.net, []).append(_heading(route, route.target, route.source))
    order = sorted(keyed, key=lambda key: (_middle(where[key]), str(key)))
    return [tuple(keyed[key]) for key in order]


def _heading(route: Route, here: Cell, there: Cell) -> tuple[int, float]:
    if here == there:
        return (LOOP, 0.0)
    away = (there.column + 0.5 if route.column is None else route.column) - (here.column + 0.5)
    return (LEFT, -away) if away < 0 else (RIGHT, -away)


def _middle(headings: Sequence[tuple[int, float]]) -> tuple[int, float]:
    """A net that comes from both sides stands in the middle."""
    sides = {side for side, _ in headings}
    if len(sides) > 1:
        return (STRAIGHT, 0.5)
    return (sides.pop(), sum(place for _, place in headings) / len(headings))
