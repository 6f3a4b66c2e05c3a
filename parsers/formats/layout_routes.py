"""How each edge of a diagram runs between the cells: straight, or through the channels between rows and columns.

The grid has a channel above every row and one below the last (`rows`), and one left of every column and one right of
the last (`columns`). An edge is either one straight line between two nodes with nothing in between, or leaves its
source upwards or downwards, follows a row channel, if need be a column channel and a second row channel, and enters
its target from above or below. So no edge can cross a node, whatever the graph.

All edges that enter one node by the same side share their way as far as they can (a net). Nets in one channel that
would overlap get tracks of their own; tracks are ordered so that few lines cross.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from parsers.formats.layout_cells import Cell, Graph, is_straight

BEND = 0.6
CROWDED = 0.5  # what it costs to run beside another net in the same channel
OUTSIDE = 0.4  # what it costs to open a channel outside the grid
SHARED = 0.25  # how much of a way counts that the edge's own net takes already
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
    """What the channels carry already: per channel, the runs with their nets."""

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
            return SHARED * (high - low)
        return (high - low) + CROWDED * len(met)


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
    """How many lines cross when `upper` lies above `lower`."""
    through = [x for x in lower.before if upper.low < x < upper.high]
    return len(through) + len([x for x in upper.after if lower.low < x < lower.high])
