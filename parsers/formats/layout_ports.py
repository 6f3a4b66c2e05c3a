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

from parsers.formats.layout_cells import Cell, Graph
from parsers.formats.layout_routes import Route

Tip = tuple[int, str]  # a link and which of its ends: out or into
LEFT, STRAIGHT, RIGHT, LOOP = range(4)


@dataclass(slots=True)
class Facing:
    """The ports between two nodes of one column (or one node and the outside), from left to right."""

    nodes: tuple[str, ...]
    slots: list[tuple[Tip, ...]] = field(default_factory=list)

    def width(self, spacing: float, margin: float) -> float:
        """How wide the nodes must at least be."""
        return 2 * margin + spacing * max(0, len(self.slots) - 1)


def facings(graph: Graph, cells: Mapping[str, Cell], routes: Sequence[Route]) -> list[Facing]:
    """Every pair of facing borders that has ports."""
    found = []
    for column in range(1 + max(cell.column for cell in cells.values())):
        stack = sorted((cell.row, name) for name, cell in cells.items() if cell.column == column)
        names = [name for _, name in stack]
        for upper, lower in zip([None, *names], [*names, None], strict=True):
            facing = Facing(tuple(name for name in (upper, lower) if name is not None))
            facing.slots = _slots(graph, routes, upper, lower)
            found.append(facing)
    return [facing for facing in found if facing.slots]


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
