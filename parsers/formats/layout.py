"""A drawing of a state diagram: boxes, lines with right angles and labels, all sizes in SVG user units.

Strategy, one module per step: every state gets a cell of a grid (`layout_cells`), every edge a way that crosses no cell
it does not end at (`layout_routes`), a place on the borders it touches (`layout_ports`), and its label a free place
beside it (`layout_labels`). This module turns all that into coordinates. It tries the most columns first and takes the
first drawing that is narrow enough.

Text is assumed to be 11 px of a monospaced font. Labels are centred: `label_x`, `label_y` are the middle of their
baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from parsers.formats.layout_cells import Cell, Graph, placements
from parsers.formats.layout_labels import CHARACTER, Box, Line, Point, Segment, place_labels, text_box
from parsers.formats.layout_ports import Facing, facings
from parsers.formats.layout_routes import Net, Route, Run, route, tracks

MAX_WIDTH = 456.0
NODE_HEIGHT = 28.0
NODE_PADDING = 10.0
NODE_WIDTH = 76.0  # at least, so that most boxes are equal; the end is a short word and may be smaller
MARGIN = 8.0
PORT_MARGIN, PORT_MIN, PORT_MAX = 10.0, 20.0, 26.0
PARALLEL = 6.0  # half the distance of two opposite horizontal edges
CORNER = 5.0
TRACK = 16.0  # distance of tracks in a row channel: a label fits between them
COLUMN_TRACK = 10.0
UNDER, OVER = 20.0, 14.0  # from a node down to the first track, from the last track down to the next node
GAP_PLAIN, GAP_ARROW, GAP_LABEL = 24.0, 44.0, 26.0
CROSSING, BEND, TOO_WIDE, TALL = 60.0, 15.0, 12.0, 4.0
SHORTLIST = 6  # drawings whose labels are placed before one is chosen


@dataclass(slots=True)
class Node:
    """A box with its top left corner. `end` marks the node for the end of the output."""

    name: str
    x: float
    y: float
    width: float
    height: float
    end: bool = False


@dataclass(slots=True)
class Edge:
    """A line along `path` (SVG path data) from the border of one node to that of another, for these rows."""

    source: str
    target: str
    rows: tuple[str, ...]
    path: str
    label: str
    label_x: float
    label_y: float


@dataclass(slots=True)
class Diagram:
    """A drawing. Its view box is `0 0 width height`."""

    width: float
    height: float
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def layout(graph: Graph, max_width: float = MAX_WIDTH) -> Diagram:
    """Draw the graph, if possible no wider than `max_width`. An empty graph gives an empty drawing."""
    if not graph.names:
        return Diagram(0, 0)
    sheets = [_Sheet(graph, cells) for count in _column_counts(graph, max_width) for cells in placements(graph, count)]
    costs = [sheet.cost(max_width) for sheet in sheets]
    ranked = sorted(range(len(sheets)), key=lambda i: costs[i])[:SHORTLIST]
    rated = [(cost + costs[i], drawing) for i in ranked for drawing, cost in [sheets[i].draw()]]
    return min(rated, key=lambda pair: pair[0])[1]


def _column_counts(graph: Graph, max_width: float) -> list[int]:
    """The numbers of columns worth trying: what would fit on average, one more and one less."""
    average = sum(NODE_PADDING * 2 + CHARACTER * len(name) for name in graph.names) / len(graph.names)
    fitting = int((max_width - 2 * MARGIN + GAP_ARROW) // (average + GAP_ARROW))
    return sorted({max(1, min(len(graph.names), count)) for count in (fitting - 1, fitting, fitting + 1)})


class _Sheet:
    """One attempt: from cells to coordinates."""

    def __init__(self, graph: Graph, cells: Mapping[str, Cell]) -> None:
        self.graph = graph
        self.cells = cells
        self.routes = route(graph, cells)
        self.facings = facings(graph, cells, self.routes)
        self.rows = 1 + max(cell.row for cell in cells.values())
        self.columns = 1 + max(cell.column for cell in cells.values())
        self.opposed = {(link.source, link.target) for link in graph.links}
        self.widths = self._node_widths()
        self.column_tracks = self._column_tracks()
        self.left, self.gaps, self.width = self._across()
        self.ports = self._ports()
        self.row_runs = self._row_runs()
        self.row_tracks = {channel: tracks(runs.values(), 8) for channel, runs in self.row_runs.items()}
        self.top, self.shelf, self.height = self._down()

    # widths and columns

    def _node_widths(self) -> dict[str, float]:
        widths = {name: max(self._least_width(name), 2 * NODE_PADDING + CHARACTER * len(name)) for name in self.graph.names}
        for facing in self.facings:
            for name in facing.nodes:
                widths[name] = max(widths[name], facing.width(PORT_MIN, PORT_MARGIN))
        return {name: float(round(width)) for name, width in widths.items()}

    def _least_width(self, name: str) -> float:
        return 0.0 if name == self.graph.end else NODE_WIDTH

    def _column_tracks(self) -> list[dict[Net, int]]:
        """The tracks of the nets in every column channel."""
        runs: list[dict[Net, Run]] = [{} for _ in range(self.columns + 1)]
        for way in self.routes:
            if way.column is None:
                continue
            low, high = sorted((float(way.first), float(way.last)))
            run = runs[way.column].setdefault(way.net, Run(way.net, low, high))
            run.low, run.high = min(run.low, low), max(run.high, high)
            for channel, cell in ((way.first, way.source), (way.last, way.target)):
                (run.before if cell.column < way.column else run.after).append(float(channel))
        return [tracks(nets.values(), 0.5) for nets in runs]

    def _across(self) -> tuple[list[float], list[float], float]:
        """Where each column begins, where each column channel begins, and the width of it all."""
        columns = [0.0] * self.columns
        for name, cell in self.cells.items():
            columns[cell.column] = max(columns[cell.column], self.widths[name])
        gaps = [self._gap(channel) for channel in range(self.columns + 1)]
        edges = list(accumulate([x for pair in zip(gaps, [*columns, 0.0], strict=True) for x in pair], initial=0.0))
        return edges[1:-1:2], edges[0:-1:2], edges[-1]

    def _gap(self, channel: int) -> float:
        room = COLUMN_TRACK * len(set(self.column_tracks[channel].values()))
        if channel in (0, self.columns):
            return MARGIN + room
        labels = [
            len(self.graph.links[way.link].label) * CHARACTER + GAP_LABEL
            for way in self.routes
            if way.straight and {way.source.column, way.target.column} == {channel - 1, channel}
        ]
        return room + max([GAP_PLAIN if room == 0 else COLUMN_TRACK, *[max(GAP_ARROW, label) for label in labels]])

    def _center(self, cell: Cell) -> float:
        widths = [self.widths[name] for name, other in self.cells.items() if other.column == cell.column]
        return self.left[cell.column] + max(widths) / 2

    def _ports(self) -> dict[tuple[int, str], float]:
        found = {}
        for facing in self.facings:
            center = self._center(self.cells[facing.nodes[0]])
            spacing, count = self._spacing(facing), len(facing.slots)
            for index, slot in enumerate(facing.slots):
                for tip in slot:
                    found[tip] = round(center + (index - (count - 1) / 2) * spacing, 1)
        return found

    def _spacing(self, facing: Facing) -> float:
        room = min(self.widths[name] for name in facing.nodes) - 2 * PORT_MARGIN
        return min(PORT_MAX, room / max(1, len(facing.slots) - 1))

    # heights and rows

    def _column_x(self, way: Route) -> float:
        """Where a route runs in its column channel."""
        channel = way.column or 0
        offset = COLUMN_TRACK * (self.column_tracks[channel][way.net] + 0.5)
        return self.gaps[channel] + offset + (MARGIN if channel == 0 else 0.0)

    def _row_stretches(self, way: Route) -> list[tuple[int, float, float]]:
        """The row channels of a route with the places where it comes in and goes out."""
        here, there = self.ports[way.link, "out"], self.ports[way.link, "into"]
        if way.column is None:
            return [(way.first, here, there)]
        return [(way.first, here, self._column_x(way)), (way.last, self._column_x(way), there)]

    def _row_runs(self) -> dict[int, dict[Net, Run]]:
        found: dict[int, dict[Net, Run]] = {}
        for way in self.routes:
            if way.straight:
                continue
            stretches = self._row_stretches(way)
            for channel, a, b in stretches:
                low, high = sorted((a, b))
                run = found.setdefault(channel, {}).setdefault(way.net, Run(way.net, low, high))
                run.low, run.high = min(run.low, low), max(run.high, high)
            (channel, x, out), (last, back, port) = stretches[0], stretches[-1]
            self._join(found[channel][way.net], x, way.out == "S")
            self._join(found[last][way.net], port, way.into == "S")
            if way.column is not None:
                self._join(found[channel][way.net], out, last < channel)
                self._join(found[last][way.net], back, channel < last)
        return found

    @staticmethod
    def _join(run: Run, x: float, from_above: bool) -> None:
        (run.before if from_above else run.after).append(x)

    def _down(self) -> tuple[list[float], list[float], float]:
        """Where each row begins, where the first track of each row channel lies, and the height of it all."""
        tops, shelves, y = [], [], 0.0
        for channel in range(self.rows + 1):
            levels = len(set(self.row_tracks.get(channel, {}).values()))
            first = UNDER if levels else MARGIN
            height = max(first + TRACK * (levels - 1) + OVER, self._room_for_labels(channel)) if levels else self._empty_height(channel)
            shelves.append(y + (UNDER if channel else MARGIN + 10))
            y += height if channel else (height if levels else MARGIN)
            if channel < self.rows:
                tops.append(y)
                y += NODE_HEIGHT
        return tops, shelves, y - (OVER - MARGIN if self.rows in self.row_tracks else 0)

    def _empty_height(self, channel: int) -> float:
        if channel in (0, self.rows):
            return MARGIN
        return max(GAP_PLAIN, self._room_for_labels(channel))

    def _room_for_labels(self, channel: int) -> float:
        """The height that straight edges through a row channel need for their labels."""
        rows = [sorted((way.source.row, way.target.row)) for way in self.routes if way.straight]
        return GAP_ARROW if any(low < channel <= high for low, high in rows) else 0.0

    def _row_y(self, channel: int, net: Net) -> float:
        return self.shelf[channel] + TRACK * self.row_tracks[channel][net]

    # lines

    def _points(self, way: Route) -> list[Point]:
        link = self.graph.links[way.link]
        if way.straight and way.source.row == way.target.row:
            return self._across_points(way, (link.target, link.source) in self.opposed)
        begin = (self.ports[way.link, "out"], self._border(way.source, way.out == "S" or way.straight and way.target.row > way.source.row))
        finish = (self.ports[way.link, "into"], self._border(way.target, way.into == "S" or way.straight and way.source.row > way.target.row))
        corners: list[Point] = []
        if not way.straight:
            for channel, a, b in self._row_stretches(way):
                corners += [(a, self._row_y(channel, way.net)), (b, self._row_y(channel, way.net))]
        return _without_repeats([begin, *corners, finish])

    def _across_points(self, way: Route, opposed: bool) -> list[Point]:
        link = self.graph.links[way.link]
        forward = way.target.column > way.source.column
        shift = 0.0 if not opposed else -PARALLEL if forward else PARALLEL
        y = self.top[way.source.row] + NODE_HEIGHT / 2 + shift
        half_source, half_target = self.widths[link.source] / 2, self.widths[link.target] / 2
        sign = 1 if forward else -1
        return [(self._center(way.source) + sign * half_source, y), (self._center(way.target) - sign * half_target, y)]

    def _border(self, cell: Cell, lower: bool) -> float:
        return self.top[cell.row] + (NODE_HEIGHT if lower else 0.0)

    def lines(self) -> list[Line]:
        """Every edge as corner points."""
        return [Line(self._points(way), self.graph.links[way.link].label) for way in self.routes]

    def cost(self, max_width: float) -> float:
        """How far the drawing is from small, short and uncrossed."""
        lines = [line.segments() for line in self.lines()]
        across = [segment for line in lines for segment in line if segment[0][1] == segment[1][1]]
        down = [segment for line in lines for segment in line if segment[0][0] == segment[1][0]]
        crossings = sum(_cross(a, b) for a in across for b in down)
        length = sum(_distance(*segment) for segment in across + down)
        too_wide = max(0.0, self.width - max_width)
        bends = sum(len(line) - 1 for line in lines)
        return length + CROSSING * crossings + BEND * bends + TALL * self.height + TOO_WIDE * too_wide

    def draw(self) -> tuple[Diagram, float]:
        """The drawing, as wide as nodes, lines and labels need, and how badly its labels stand."""
        lines = self.lines()
        boxes = [self._box(name) for name in self.graph.names]
        labels, cost = place_labels(lines, boxes, Box(0, 0, self.width, self.height))
        inked = [text_box(line.label, at) for line, at in zip(lines, labels, strict=True)]
        shift = max(0.0, MARGIN / 2 - min([box.left for box in inked], default=MARGIN))
        width = max([self.width, *[box.right + MARGIN / 2 for box in inked]]) + shift
        drawing = Diagram(
            _rounded(width),
            _rounded(self.height),
            [self._node(name, box, shift) for name, box in zip(self.graph.names, boxes, strict=True)],
            [self._edge(way, line, at, shift) for way, line, at in zip(self.routes, lines, labels, strict=True)],
        )
        return drawing, cost

    def _box(self, name: str) -> Box:
        cell, width = self.cells[name], self.widths[name]
        left, top = self._center(cell) - width / 2, self.top[cell.row]
        return Box(left, top, left + width, top + NODE_HEIGHT)

    def _node(self, name: str, box: Box, shift: float) -> Node:
        return Node(name, _rounded(box.left + shift), box.top, box.right - box.left, NODE_HEIGHT, name == self.graph.end)

    def _edge(self, way: Route, line: Line, at: Point, shift: float) -> Edge:
        link = self.graph.links[way.link]
        path = path_data([(x + shift, y) for x, y in line.points])
        return Edge(link.source, link.target, link.rows, path, link.label, _rounded(at[0] + shift), _rounded(at[1]))


def _rounded(value: float) -> float:
    return round(value, 1)


def _cross(across: Segment, down: Segment) -> bool:
    """Whether a horizontal and a vertical piece cross, not merely touch."""
    (x1, y), (x2, _) = across
    (x, y1), (_, y2) = down
    return min(x1, x2) < x < max(x1, x2) and min(y1, y2) < y < max(y1, y2)


def _without_repeats(points: Sequence[Point]) -> list[Point]:
    return [points[0], *[b for a, b in pairwise(points) if a != b]]


def path_data(points: Sequence[Point], radius: float = CORNER) -> str:
    """SVG path data along the points, with rounded corners."""
    parts = [f"M{_number(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        reach = min(radius, _distance(before, corner) / 2, _distance(corner, after) / 2)
        parts.append(f"L{_number(_towards(corner, before, reach))}Q{_number(corner)} {_number(_towards(corner, after, reach))}")
    return "".join([*parts, f"L{_number(points[-1])}"])


def _distance(a: Point, b: Point) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _towards(a: Point, b: Point, reach: float) -> Point:
    length = _distance(a, b) or 1.0
    return (a[0] + (b[0] - a[0]) * reach / length, a[1] + (b[1] - a[1]) * reach / length)


def _number(point: Point) -> str:
    return " ".join([f"{value:.1f}".removesuffix(".0") for value in point])
