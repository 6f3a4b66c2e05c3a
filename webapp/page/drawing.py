"""Pictures whose size does not depend on the output's: what is narrower than a column is merged with its neighbour.

Bars are in percent of the width. Paths are in a box that is 1000 wide, with at most a thousand columns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

COLUMNS = 1000
_NARROWEST = 100 / COLUMNS

Column = tuple[str, int]  # a kind and a number; ("", 0): nothing
T = TypeVar("T")


@dataclass(slots=True)
class Bar:
    """A stretch of one kind, in percent of the width."""

    kind: str
    x: float
    width: float


@dataclass(slots=True)
class Shape:
    """All bars of one kind in one row, as the `d` of one path in a box of 1000 by the row's height."""

    kind: str
    path: str


def percent(part: float, whole: float) -> float:
    """A share of the width, in percent."""
    return round(part * 100 / max(whole, 1), 3)


def bars(places: Iterable[tuple[str, float, float]]) -> Iterator[Bar]:
    """The bars of places (kind, left, right) that are in order. Bars of one kind that touch are one."""
    bar: Bar | None = None
    for kind, left, right in places:
        if bar and (right - bar.x < _NARROWEST or (kind == bar.kind and left - bar.x - bar.width < _NARROWEST)):
            bar.width = round(right - bar.x, 3)
            continue
        if bar:
            yield bar
        bar = Bar(kind, left, round(max(right - left, _NARROWEST), 3))
    if bar:
        yield bar


def tiles(edges: Sequence[int], kind: Callable[[int], str], x: Callable[[int], float]) -> Iterator[Bar]:
    """The bars of places that lie side by side, the one at 0 between the first two edges: what `bars` gives for them.

    `x` gives the place of an edge in percent and never falls, so most of what is too narrow is never looked at.
    """
    bar: Bar | None = None
    at, many = 0, len(edges) - 1
    while at < many:
        if bar and (wide := _first_wide(edges, at + 1, bar.x, x)) > at + 1:
            at = wide - 1
            bar.width = round(x(edges[at]) - bar.x, 3)
            continue
        left, right, what = x(edges[at]), x(edges[at + 1]), kind(at)
        if bar and what == bar.kind and left - bar.x - bar.width < _NARROWEST:
            bar.width = round(right - bar.x, 3)
        else:
            if bar:
                yield bar
            bar = Bar(what, left, round(max(right - left, _NARROWEST), 3))
        at += 1
    if bar:
        yield bar


def _first_wide(edges: Sequence[int], low: int, start: float, x: Callable[[int], float]) -> int:
    """The number of the first edge from `low` on up to which it is not too narrow from `start` on."""
    if x(edges[low]) - start >= _NARROWEST:
        return low
    return bisect_left(edges, _NARROWEST, low + 1, key=lambda edge: x(edge) - start)


def peaks(places: Iterable[tuple[int, int, Column]], length: int) -> list[Column]:
    """The columns of places [first, last) of `length`; of what shares a column the largest number shows."""
    wide = min(length, COLUMNS)
    columns: list[Column] = [("", 0)] * wide
    for start, end, what in places:
        for at in range(start * wide // length, -(-end * wide // length) if end > start else 0):
            if what[1] > columns[at][1]:
                columns[at] = what
    return columns


def runs(columns: Sequence[T]) -> Iterator[tuple[T, int, int]]:
    """Columns [first, end) that are equal."""
    at = 0
    for what, group in groupby(columns):
        end = at + len(list(group))
        yield what, at, end
        at = end


def shapes(columns: Sequence[Column], box: Callable[[Column], tuple[float, float]]) -> list[Shape]:
    """A path per kind. `box` gives the top and the bottom of a column."""
    paths: dict[str, list[str]] = {}
    for what, first, end in runs(columns):
        if what[1]:
            top, bottom = box(what)
            left, right = (f"{at * 1000 / len(columns):g}" for at in (first, end))
            paths.setdefault(what[0], []).append(f"M{left} {bottom:g}V{top:g}H{right}V{bottom:g}z")
    return [Shape(kind, "".join(parts)) for kind, parts in paths.items()]


def rising(peak: int, height: float, least: float) -> Callable[[Column], tuple[float, float]]:
    """Columns that stand on the bottom line, the one of `peak` as high as the row, none lower than `least`."""
    return lambda what: (round(height - max(least, height * what[1] / peak), 2), height)
