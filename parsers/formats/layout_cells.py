"""Which cell of a grid each node of a diagram stands in.

Strategy: nodes get a depth (the length of the shortest path from the start) and stand in layers from left to right by
depth. A machine with more layers than columns is folded: its nodes run in a snake, so that neighbours in the order
stay neighbours on the page. These drafts and a few in other orders are improved, each by itself: nodes move to other
cells, or change places, as long as that lowers a cost. The caller draws the results and keeps the best.

Invariants: the start stands in the first cell; a cell holds one node at most; no row and no column is empty; the same
graph always gives the same placements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from random import Random
from typing import NamedTuple

_DETOUR = 2.5  # what it costs an edge that it cannot be one straight line
_BACKWARD = 1.5  # what it costs an edge to a deeper layer that it runs to the left or upwards
ROW = 1.2  # what one more row costs
_SHUFFLED = 16  # at most so many further drafts, in a random but always the same order
EFFORT = 8000  # nodes times links that are worked on; a graph beyond that is laid out in plain order
_END_SHARE = 0.35  # how much an edge to the end counts, compared with one between two states


class Cell(NamedTuple):
    """A place in the grid, counted from the top left."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Link:
    """All rows from one state to another, drawn as one edge. `label` is what stands beside it."""

    source: str
    target: str
    rows: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """Holds what is to be drawn: nodes in their order, the node to start from, and the end of the output if drawn."""

    names: tuple[str, ...]
    links: tuple[Link, ...]
    start: str
    end: str | None = None

    def depths(self) -> dict[str, int]:
        """The layer of every node; the end stands behind all others."""
        inner = [name for name in self.names if name != self.end]
        known: dict[str, int] = {}
        self._spread(self.start, 0, known)
        for name in inner:
            if name not in known:
                following = [link.target for link in self.links if link.source == name]
                self._spread(name, min([known[one] for one in following if one in known], default=0), known)
        if self.end is not None:
            known[self.end] = 1 + max(known.values())
        return known

    def _spread(self, root: str, depth: int, known: dict[str, int]) -> None:
        """Give `root` this depth, and what it reaches first the following ones, breadth first."""
        known[root] = depth
        queue = [root]
        for name in queue:
            for link in self.links:
                if link.source == name and link.target not in known and link.target != self.end:
                    known[link.target] = known[name] + 1
                    queue.append(link.target)


def placements(graph: Graph, columns: int) -> list[dict[str, Cell]]:
    """Good placements in at most `columns` columns, each from another draft. The graph must not be empty."""
    depth = graph.depths()
    order = sorted(graph.names, key=lambda name: (name != graph.start, depth[name]))
    drafts = [_snake(order, columns)]
    if max(depth.values()) < columns:
        drafts.append(_layers(order, depth))
    effort = EFFORT // (len(order) * (1 + len(graph.links)))
    if not effort:
        return [_compact(drafts[0])]
    shuffle = Random(len(order))
    others = [[order[0], *shuffle.sample(order[1:], len(order) - 1)] for _ in range(min(effort - 1, _SHUFFLED))]
    drafts += [_snake(other, columns) for other in others]
    found: list[dict[str, Cell]] = []
    for draft in drafts:
        cells = _compact(_Board(graph, depth, columns, draft).improved())
        if cells not in found:
            found.append(cells)
    return found


def _snake(order: Sequence[str], columns: int) -> dict[str, Cell]:
    cells = {}
    for place_in_order, name in enumerate(order):
        row, column = divmod(place_in_order, columns)
        cells[name] = Cell(row, columns - 1 - column if row % 2 else column)
    return cells


def _layers(order: Sequence[str], depth: Mapping[str, int]) -> dict[str, Cell]:
    filled: Counter[int] = Counter()
    cells = {}
    for name in order:
        cells[name] = Cell(filled[depth[name]], depth[name])
        filled[depth[name]] += 1
    return cells


class _Way(NamedTuple):
    """From one cell to another: how far, what it costs to run backward, and the cells between if it can be straight."""

    distance: float
    backward: float
    between: slice | None


class _Board:
    """A placement that is being improved. Cells are numbered row by row; `at[i]` is the cell of node i."""

    def __init__(self, graph: Graph, depth: Mapping[str, int], columns: int, draft: Mapping[str, Cell]) -> None:
        self.names = list(draft)
        self.columns = columns
        number = {name: index for index, name in enumerate(self.names)}
        self.at = [cell.row * columns + cell.column for cell in draft.values()]
        self.cells = columns * (2 + max(cell.row for cell in draft.values()))
        self.ways = _ways(self.cells, columns)
        self.links = [
            (number[link.source], number[link.target], _END_SHARE, False)
            if link.target == graph.end
            else (number[link.source], number[link.target], 1.0, depth[link.target] > depth[link.source])
            for link in graph.links
            if link.source != link.target
        ]

    def improved(self) -> dict[str, Cell]:
        """Move nodes, swapping them with what stands there, until no single move lowers the cost. The first stays."""
        cost, moved = self.cost(), True
        while moved:
            moved = False
            for node in range(1, len(self.names)):
                for cell in range(1, self.cells):
                    before = self.at[node]
                    self._move(node, cell)
                    now = self.cost(cost)
                    if now < cost - 1e-9:
                        cost, moved = now, True
                    else:
                        self._move(node, before)
        return {name: Cell(*divmod(cell, self.columns)) for name, cell in zip(self.names, self.at, strict=True)}

    def _move(self, node: int, cell: int) -> None:
        if cell in self.at:
            self.at[self.at.index(cell)] = self.at[node]
        self.at[node] = cell

    def cost(self, limit: float = inf) -> float:
        """Return how far the placement is from short, straight, forward edges and few rows. It only grows: beyond
        `limit` it is not worked out to the end."""
        at, ways = self.at, self.ways
        taken = bytearray(self.cells)
        for cell in at:
            taken[cell] = 1
        total = ROW * len({cell // self.columns for cell in at})
        for source, target, weight, forward in self.links:
            distance, backward, between = ways[at[source]][at[target]]
            if distance > 1 and (between is None or 1 in taken[between]):
                distance += _DETOUR
            total += weight * distance
            if forward:
                total += backward
            if total > limit:
                break
        return total


@lru_cache(maxsize=64)
def _ways(cells: int, columns: int) -> list[list[_Way]]:
    return [[_way(a, b, columns) for b in range(cells)] for a in range(cells)]


def _way(a: int, b: int, columns: int) -> _Way:
    down, right = b // columns - a // columns, b % columns - a % columns
    step = columns if down else 1
    between = None if down and right else slice(min(a, b) + step, max(a, b), step)
    return _Way(abs(down) + abs(right), _BACKWARD * ((right < 0) + (down < 0)), between)


def is_straight(a: Cell, b: Cell, taken: set[Cell]) -> bool:
    """Return whether one straight line joins two different cells without crossing a third that is taken."""
    if a == b or (a.row != b.row and a.column != b.column):
        return False
    (low, high), shared = sorted((a, b)), 0 if a.row == b.row else 1
    return not any(low < cell < high and cell[shared] == a[shared] for cell in taken)


def _compact(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    rows = sorted({cell.row for cell in cells.values()})
    columns = sorted({cell.column for cell in cells.values()})
    return {name: Cell(rows.index(cell.row), columns.index(cell.column)) for name, cell in cells.items()}
