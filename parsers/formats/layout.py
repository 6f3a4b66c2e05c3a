"""One attempt at a drawing: from cells to coordinates, in SVG user units.

First across, then down: widths of nodes follow from their names and ports, the room between columns from the tracks
there and the labels of straight edges, the ports' places from both; then the tracks between rows are known, and with
them all heights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from parsers.formats.layout_cells import Cell, Graph, placements
from parsers.formats.layout_routes import (
    CHARACTER,
    Box,
    Line,
    Net,
    Point,
    Route,
    Run,
    Segment,
    facings,
    length,
    place_labels,
    route,
    text_box,
    tracks,
)

_NODE_HEIGHT = 24.0
_NODE_PADDING = 10.0
_NODE_WIDTH = 76.0  # at least, so that most boxes are equal; only the end may be smaller
_MARGIN = 8.0
_PARALLEL = 6.0  # half the distance of two opposite horizontal edges
_TRACK = 16.0  # distance of tracks between rows: a label fits between them
_COLUMN_TRACK = 10.0
_UNDER, _OVER = 18.0, 12.0  # from a node down to the first track, from the last track down to the next node
_GAP_PLAIN, _GAP_ARROW, _GAP_LABEL = 24.0, 44.0, 26.0
_GAP_DOWN = 36.0  # of an arrow down: its label stands beside it
_CROSSING, _BEND, _TALL = 60.0, 15.0, 4.0  # what these cost, with the length of all lines
_LOOSE = 0.5  # runs in a column channel are counted in rows, so half a row apart is apart


class _Sheet:
    """All coordinates of one placement. `width` and `height` cover nodes and lines, not labels at the sides."""

    def __init__(self, graph: Graph, cells: Mapping[str, Cell]) -> None:
        self.graph = graph
        self.cells = cells
        self.routes = route(graph, cells)
        self._facings = facings(graph, cells, self.routes)
        self._rows = 1 + max(cell.row for cell in cells.values())
        self._columns = 1 + max(cell.column for cell in cells.values())
        self._joined = {(link.source, link.target) for link in graph.links}
        self._widths = self._node_widths()
        self._column_tracks = self._tracks_in_columns()
        self._left, self._gaps, self.width = self._across()
        self._ports = self._port_places()
        self._row_tracks = {channel: tracks(runs.values(), _MARGIN) for channel, runs in self._row_runs().items()}
        self._top, self._shelf, self.height = self._down()

    def lines(self) -> list[Line]:
        """Every edge as corner points, in the order of the links."""
        return [Line(self._points(way), self.graph.links[way.link].label) for way in self.routes]

    def cost(self) -> float:
        """Return how far the drawing is from low, short and uncrossed."""
        lines = [line.segments() for line in self.lines()]
        across = [segment for line in lines for segment in line if segment[0][1] == segment[1][1]]
        down = [segment for line in lines for segment in line if segment[0][0] == segment[1][0]]
        crossings = sum(_cross(a, b) for a in across for b in down)
        bends = sum(len(line) - 1 for line in lines)
        return sum(map(length, across + down)) + _CROSSING * crossings + _BEND * bends + _TALL * self.height

    # across

    def _node_widths(self) -> dict[str, float]:
        widths = {}
        for name in self.graph.names:
            least = 0.0 if name == self.graph.end else _NODE_WIDTH
            widths[name] = max(least, 2 * _NODE_PADDING + CHARACTER * len(name))
        for facing in self._facings:
            for name in facing.nodes:
                widths[name] = max(widths[name], facing.width())
        return {name: float(round(width)) for name, width in widths.items()}

    def _tracks_in_columns(self) -> list[dict[Net, int]]:
        runs: list[dict[Net, Run]] = [{} for _ in range(self._columns + 1)]
        for way in self.routes:
            if way.column is None:
                continue
            run = _run(runs[way.column], way.net, float(way.first), float(way.last))
            for channel, cell in ((way.first, way.source), (way.last, way.target)):
                (run.before if cell.column < way.column else run.after).append(float(channel))
        return [tracks(nets.values(), _LOOSE) for nets in runs]

    def _across(self) -> tuple[list[float], list[float], float]:
        """Return where each column begins, where each column channel begins, and the width of it all."""
        columns = [0.0] * self._columns
        for name, cell in self.cells.items():
            columns[cell.column] = max(columns[cell.column], self._widths[name])
        gaps = [self._gap(channel) for channel in range(self._columns + 1)]
        steps = [width for pair in zip(gaps, [*columns, 0.0], strict=True) for width in pair]
        edges = list(accumulate(steps, initial=0.0))
        return edges[1:-1:2], edges[0:-1:2], edges[-1]

    def _gap(self, channel: int) -> float:
        room = _COLUMN_TRACK * len(set(self._column_tracks[channel].values()))
        if channel in (0, self._columns):
            return _MARGIN + room
        labels = [
            max(_GAP_ARROW, len(self.graph.links[way.link].label) * CHARACTER + _GAP_LABEL)
            for way in self.routes
            if way.straight and {way.source.column, way.target.column} == {channel - 1, channel}
        ]
        return room + max([_COLUMN_TRACK if room else _GAP_PLAIN, *labels])

    def _center(self, cell: Cell) -> float:
        widths = [self._widths[name] for name, other in self.cells.items() if other.column == cell.column]
        return self._left[cell.column] + max(widths) / 2

    def _port_places(self) -> dict[tuple[int, str], float]:
        found = {}
        for facing in self._facings:
            center = self._center(self.cells[facing.nodes[0]])
            offsets = facing.offsets(min(self._widths[name] for name in facing.nodes))
            for offset, slot in zip(offsets, facing.slots, strict=True):
                for tip in slot:
                    found[tip] = round(center + offset, 1)
        return found

    # down

    def _stretches(self, way: Route) -> list[tuple[int, float, float]]:
        """The row channels of a winding route with the places where it comes in and goes out."""
        here, there = self._ports[way.link, "out"], self._ports[way.link, "into"]
        if way.column is None:
            return [(way.first, here, there)]
        offset = _COLUMN_TRACK * (self._column_tracks[way.column][way.net] + 0.5)
        turn = self._gaps[way.column] + offset + (0.0 if way.column else _MARGIN)
        return [(way.first, here, turn), (way.last, turn, there)]

    def _row_runs(self) -> dict[int, dict[Net, Run]]:
        found: dict[int, dict[Net, Run]] = {}
        for way in self.routes:
            if way.straight:
                continue
            stretches = self._stretches(way)
            runs = [_run(found.setdefault(channel, {}), way.net, a, b) for channel, a, b in stretches]
            _join(runs[0], stretches[0][1], above=way.out == "S")
            _join(runs[-1], stretches[-1][2], above=way.into == "S")
            if way.column is not None:
                _join(runs[0], stretches[0][2], above=way.last < way.first)
                _join(runs[-1], stretches[-1][1], above=way.first < way.last)
        return found

    def _down(self) -> tuple[list[float], list[float], float]:
        """Return where each row begins, where the first track of each row channel lies, and the height of it all."""
        tops, shelves, y = [], [], 0.0
        for channel in range(self._rows + 1):
            shelves.append(y + _UNDER)
            y += self._channel_height(channel)
            tops.append(y)
            y += _NODE_HEIGHT
        return tops, shelves, tops[-1]

    def _channel_height(self, channel: int) -> float:
        levels = len(set(self._row_tracks.get(channel, {}).values()))
        busy = _UNDER + _TRACK * (levels - 1)
        if channel == self._rows:
            return busy + _MARGIN if levels else _MARGIN
        if channel == 0:
            return busy + _OVER if levels else _MARGIN
        spans = [sorted((way.source.row, way.target.row)) for way in self.routes if way.straight]
        labels = _GAP_DOWN if any(low < channel <= high for low, high in spans) else 0.0
        return max(_GAP_PLAIN, busy + _OVER if levels else 0.0, labels)

    # boxes and lines

    def box(self, name: str) -> Box:
        """The box of a node."""
        cell, width = self.cells[name], self._widths[name]
        left, top = self._center(cell) - width / 2, self._top[cell.row]
        return Box(left, top, left + width, top + _NODE_HEIGHT)

    def _points(self, way: Route) -> list[Point]:
        if way.straight and way.source.row == way.target.row:
            return self._level(way)
        down = way.target.row > way.source.row
        begin = self._tip(way, "out", way.source, lower=down if way.straight else way.out == "S")
        finish = self._tip(way, "into", way.target, lower=not down if way.straight else way.into == "S")
        corners: list[Point] = []
        for channel, a, b in [] if way.straight else self._stretches(way):
            y = self._shelf[channel] + _TRACK * self._row_tracks[channel][way.net]
            corners += [(a, y), (b, y)]
        return [begin, *[after for before, after in pairwise([begin, *corners, finish]) if after != before]]

    def _tip(self, way: Route, tip: str, cell: Cell, *, lower: bool) -> Point:
        return (self._ports[way.link, tip], self._top[cell.row] + (_NODE_HEIGHT if lower else 0.0))

    def _level(self, way: Route) -> list[Point]:
        """A straight edge in a row; it makes room for its opposite."""
        link = self.graph.links[way.link]
        source, target = self.box(link.source), self.box(link.target)
        forward = way.target.column > way.source.column
        shift = (-_PARALLEL if forward else _PARALLEL) if (link.target, link.source) in self._joined else 0.0
        y = source.top + _NODE_HEIGHT / 2 + shift
        return [(source.right, y), (target.left, y)] if forward else [(source.left, y), (target.right, y)]


def _run(runs: dict[Net, Run], net: Net, a: float, b: float) -> Run:
    """The run of the net, made longer so that it covers a to b."""
    run = runs.setdefault(net, Run(net, min(a, b), max(a, b)))
    run.low, run.high = min(run.low, a, b), max(run.high, a, b)
    return run


def _join(run: Run, x: float, *, above: bool) -> None:
    (run.before if above else run.after).append(x)


def _cross(across: Segment, down: Segment) -> bool:
    """Return whether a horizontal and a vertical piece cross, not merely touch."""
    (x1, y), (x2, _) = across
    (x, y1), (_, y2) = down
    return min(x1, x2) < x < max(x1, x2) and min(y1, y2) < y < max(y1, y2)


def _path_data(points: Sequence[Point], radius: float) -> str:
    """SVG path data along the points, with rounded corners."""
    parts = [f"M{_number(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        reach = min(radius, length((before, corner)) / 2, length((corner, after)) / 2)
        near, far = _towards(corner, before, reach), _towards(corner, after, reach)
        parts.append(f"L{_number(near)}Q{_number(corner)} {_number(far)}")
    return "".join([*parts, f"L{_number(points[-1])}"])


def _towards(a: Point, b: Point, reach: float) -> Point:
    whole = length((a, b))
    return (a[0] + (b[0] - a[0]) * reach / whole, a[1] + (b[1] - a[1]) * reach / whole)


def _number(point: Point) -> str:
    return " ".join([f"{value:.1f}".removesuffix(".0") for value in point])


# A drawing of a state diagram: boxes, lines with right angles, and labels, all sizes in SVG user units.
#
# Every node gets a cell of a grid (`layout_cells`), every edge a way that crosses no cell it does not end at and a
# place on the borders it touches (`layout_routes`); that gives coordinates (`_Sheet`). Several placements are drawn and
# the best one is kept: few crossings, short lines, no wider than asked for.
#
# Text is taken to be 11 px of a monospaced font. Labels are centred: `label_x`, `label_y` are the middle of their
# baseline. The same graph always gives the same drawing, so drawings are kept and shared.

_MAX_WIDTH = 456.0  # 480 without the padding of the page
CORNER = 5.0
_TOO_WIDE = 4.0
_SHORTLIST = 8  # placements whose labels are placed before one is chosen


@dataclass(frozen=True, slots=True)
class Node:
    """A box with its top left corner. `end` marks the node for the end of the output."""

    name: str
    x: float
    y: float
    width: float
    height: float
    end: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A line along `path` (SVG path data) from the border of one node to that of another, for these rows."""

    source: str
    target: str
    rows: tuple[str, ...]
    path: str
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Diagram:
    """A drawing. Its view box is `0 0 width height`."""

    width: float
    height: float
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()


NOTHING_DRAWN = Diagram(0, 0)


@lru_cache(maxsize=128)
def layout(graph: Graph, max_width: float = _MAX_WIDTH) -> Diagram:
    """Draw the graph, if possible no wider than `max_width`. An empty graph gives an empty drawing."""
    if not graph.names:
        return NOTHING_DRAWN
    sheets = [_Sheet(graph, cells) for count in _column_counts(graph, max_width) for cells in placements(graph, count)]
    costs = [sheet.cost() + _too_wide(sheet.width, max_width) for sheet in sheets]
    rated = []
    for index in sorted(range(len(sheets)), key=costs.__getitem__)[:_SHORTLIST]:
        drawing, disorder = _draw(sheets[index])
        rated.append((sheets[index].cost() + _too_wide(drawing.width, max_width) + disorder, index, drawing))
    return min(rated, key=lambda one: one[:2])[2]


def _too_wide(width: float, max_width: float) -> float:
    """Return what it costs to be wider: little at first, then more than any detour."""
    extra = max(0.0, width - max_width)
    return _TOO_WIDE * extra * (1 + extra / _MARGIN)


def _column_counts(graph: Graph, max_width: float) -> list[int]:
    """The numbers of columns worth trying: what would fit on average, one more and one less."""
    average = sum(_NODE_PADDING * 2 + CHARACTER * len(name) for name in graph.names) / len(graph.names)
    fitting = int((max_width - 2 * _MARGIN + _GAP_ARROW) // (average + _GAP_ARROW))
    return sorted({max(1, min(len(graph.names), count)) for count in (fitting - 1, fitting, fitting + 1)})


def _draw(sheet: _Sheet) -> tuple[Diagram, float]:
    """The drawing, as wide as nodes, lines and labels need, and how badly its labels stand."""
    graph, lines = sheet.graph, sheet.lines()
    boxes = {name: sheet.box(name) for name in graph.names}
    labels, disorder = place_labels(lines, list(boxes.values()), Box(0, 0, sheet.width, sheet.height))
    texts = [text_box(line.label, at) for line, at in zip(lines, labels, strict=True)]
    left = min([0.0, *[box.left - _MARGIN / 2 for box in texts]])
    right = max([sheet.width, *[box.right + _MARGIN / 2 for box in texts]])
    nodes = [
        Node(name, round(box.left - left, 1), box.top, box.right - box.left, box.bottom - box.top, name == graph.end)
        for name, box in boxes.items()
    ]
    edges = []
    for link, line, (x, y) in zip(graph.links, lines, labels, strict=True):
        path = _path_data([(across - left, down) for across, down in line.points], CORNER)
        edges.append(Edge(link.source, link.target, link.rows, path, link.label, round(x - left, 1), round(y, 1)))
    drawing = Diagram(
        round(right - left, 1),
        round(sheet.height, 1),
        tuple(nodes),
        tuple(edges),
    )
    return drawing, disorder
