"""Where on the upper and lower border of a node its edges begin and end.

Two nodes that face each other in one column share one order of ports, so that a line going up from the lower one can
never lie on a line going down from the upper one. A straight edge takes one place in that order for both its ends,
and all edges of one net take one place at their target.

Order from left to right: edges to the left, straight ones, edges to the right, and a loop last; the further an edge
goes, the nearer it stands to the middle, because the far ones run outside the near ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from parsers.formats.layout_cells import Cell, Graph
from parsers.formats.layout_labels import CHARACTER
from parsers.formats.layout_routes import Route

LEAST, MOST = 20, 26  # distances of neighbouring ports
EDGE = 10.0  # from the last port to the corner of the node
LABEL_MARGIN = 10.0

Tip = tuple[int, str]  # a link and which of its ends: out or into
LEFT, STRAIGHT, RIGHT, LOOP = range(4)


@dataclass(slots=True)
class Facing:
    """The ports between two nodes of one column (or one node and the outside), from left to right.

    `labels` is the room that each slot needs on its right.
    """

    nodes: tuple[str, ...]
    slots: list[tuple[Tip, ...]] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)

    def width(self) -> float:
        """How wide the nodes must at least be."""
        return sum(self._gaps(LEAST)) + 2 * EDGE

    def offsets(self, width: float) -> list[float]:
        """Where the slots lie from the middle of a border of this width, as far apart as fits."""
        fitting = next((gap for gap in range(MOST, LEAST, -1) if sum(self._gaps(gap)) + 2 * EDGE <= width), LEAST)
        places = list(accumulate(self._gaps(fitting), initial=0.0))
        return [place - places[-1] / 2 for place in places]

    def _gaps(self, usual: float) -> list[float]:
        """The distances between neighbours: a label right of a straight edge may ask for more than usual."""
        return [max(usual, label) for label in self.labels[:-1]]


def facings(graph: Graph, cells: Mapping[str, Cell], routes: Sequence[Route]) -> list[Facing]:
    """Every pair of facing borders that has ports."""
    found = []
    for column in range(1 + max(cell.column for cell in cells.values())):
        stack = sorted((cell.row, name) for name, cell in cells.items() if cell.column == column)
        names = [name for _, name in stack]
        for upper, lower in zip([None, *names], [*names, None], strict=True):
            facing = Facing(tuple(name for name in (upper, lower) if name is not None))
            facing.slots = _slots(graph, routes, upper, lower)
            facing.labels = [_label_room(graph, slot) for slot in facing.slots]
            found.append(facing)
    return [facing for facing in found if facing.slots]


def _label_room(graph: Graph, slot: tuple[Tip, ...]) -> float:
    """The room right of a straight edge; other edges have their labels elsewhere."""
    (link, tip), straight = slot[0], len({link for link, _ in slot}) == 1 and len(slot) == 2
    return len(graph.links[link].label) * CHARACTER + LABEL_MARGIN if straight and tip == "out" else 0.0


def _slots(graph: Graph, routes: Sequence[Route], upper: str | None, lower: str | None) -> list[tuple[Tip, ...]]:
    keyed: dict[object, list[Tip]] = {}
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
