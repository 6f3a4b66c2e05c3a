"""A drawing of a state diagram: boxes, lines with right angles, and labels, all sizes in SVG user units.

Strategy, one module per step: every node gets a cell of a grid (`layout_cells`), every edge a way that crosses no cell
it does not end at (`layout_routes`) and a place on the borders it touches (`layout_ports`); that gives coordinates
(`layout_sheet`), and labels take free places beside their lines (`layout_labels`). Several placements are drawn and
the best one is kept: few crossings, short lines, no wider than asked for.

Text is taken to be 11 px of a monospaced font. Labels are centred: `label_x`, `label_y` are the middle of their
baseline. The same graph always gives the same drawing, so drawings are kept and shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from parsers.formats.layout_cells import Graph, placements
from parsers.formats.layout_labels import CHARACTER, Box, Line, Point, place_labels, text_box
from parsers.formats.layout_sheet import GAP_ARROW, MARGIN, NODE_PADDING, Sheet, path_data

MAX_WIDTH = 456.0  # 480 without the padding of the page
CORNER = 5.0
TOO_WIDE = 4.0
SHORTLIST = 8  # placements whose labels are placed before one is chosen


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


@lru_cache(maxsize=128)
def layout(graph: Graph, max_width: float = MAX_WIDTH) -> Diagram:
    """Draw the graph, if possible no wider than `max_width`. An empty graph gives an empty drawing."""
    if not graph.names:
        return Diagram(0, 0)
    sheets = [Sheet(graph, cells) for count in _column_counts(graph, max_width) for cells in placements(graph, count)]
    costs = [sheet.cost() + _too_wide(sheet.width, max_width) for sheet in sheets]
    rated = []
    for index in sorted(range(len(sheets)), key=costs.__getitem__)[:SHORTLIST]:
        drawing, disorder = _draw(sheets[index])
        rated.append((sheets[index].cost() + _too_wide(drawing.width, max_width) + disorder, index, drawing))
    return min(rated, key=lambda one: one[:2])[2]


def _too_wide(width: float, max_width: float) -> float:
    """What it costs to be wider: little at first, then more than any detour."""
    extra = max(0.0, width - max_width)
    return TOO_WIDE * extra * (1 + extra / MARGIN)


def _column_counts(graph: Graph, max_width: float) -> list[int]:
    """The numbers of columns worth trying: what would fit on average, one more and one less."""
    average = sum(NODE_PADDING * 2 + CHARACTER * len(name) for name in graph.names) / len(graph.names)
    fitting = int((max_width - 2 * MARGIN + GAP_ARROW) // (average + GAP_ARROW))
    return sorted({max(1, min(len(graph.names), count)) for count in (fitting - 1, fitting, fitting + 1)})


def _draw(sheet: Sheet) -> tuple[Diagram, float]:
    """The drawing, as wide as nodes, lines and labels need, and how badly its labels stand."""
    boxes, lines = sheet.boxes(), sheet.lines()
    labels, disorder = place_labels(lines, list(boxes.values()), Box(0, 0, sheet.width, sheet.height))
    texts = [text_box(line.label, at) for line, at in zip(lines, labels, strict=True)]
    left = min([0.0, *[box.left - MARGIN / 2 for box in texts]])
    right = max([sheet.width, *[box.right + MARGIN / 2 for box in texts]])
    drawing = Diagram(
        round(right - left, 1),
        round(sheet.height, 1),
        tuple([_node(sheet.graph, name, box, left) for name, box in boxes.items()]),
        tuple([_edge(sheet.graph, index, lines[index], at, left) for index, at in enumerate(labels)]),
    )
    return drawing, disorder


def _node(graph: Graph, name: str, box: Box, left: float) -> Node:
    x = round(box.left - left, 1)
    return Node(name, x, box.top, box.right - box.left, box.bottom - box.top, name == graph.end)


def _edge(graph: Graph, index: int, line: Line, at: Point, left: float) -> Edge:
    link = graph.links[index]
    path = path_data([(x - left, y) for x, y in line.points], CORNER)
    return Edge(link.source, link.target, link.rows, path, link.label, round(at[0] - left, 1), round(at[1], 1))
