"""Where the labels of a diagram's edges stand.

Every edge offers places beside its own lines, the middle of its longest piece first; the edge with the least room
chooses first. A place on a node is never taken. One on another label, on a line, or beside a stretch that several
edges share is taken only when there is none better. The layout leaves room for a label in every channel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CHARACTER = 6.7  # units per character at 11 px of a monospaced font
ASCENT, DESCENT = 9.0, 2.5
ABOVE, BELOW, BESIDE = 5.0, 12.0, 5.0  # from a line to the baseline above or below it, or to the text beside it
STEP = 6.0  # distance between two places that are tried
ON_LABEL, ON_SHARED, ON_LINE, OUTSIDE = 200.0, 60.0, 20.0, 4.0
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
        """Whether the two share area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def contains(self, point: Point) -> bool:
        """Whether the point lies inside or on the border."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclass(frozen=True, slots=True)
class Line:
    """An edge as corner points, and its label."""

    points: Sequence[Point]
    label: str

    def segments(self) -> list[Segment]:
        """The straight pieces, each horizontal or vertical."""
        return list(zip(self.points, self.points[1:], strict=False))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a label may stand: its baseline's middle, the point of the line beside it, and how little it is liked."""

    at: Point
    anchor: Point
    dislike: float


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
    placed: list[Box] = []
    found: dict[int, Point] = {}
    total = 0.0
    for number in sorted(range(len(lines)), key=lambda i: (_room(lines[i]), i)):
        label = lines[number].label
        best, least = lines[number].points[0], float("inf")
        for place in sorted(_places(lines[number]), key=lambda place: place.dislike):
            if place.dislike >= least:
                break
            box = text_box(label, place.at)
            if box.top < page.top or box.bottom > page.bottom or any(box.overlaps(node) for node in nodes):
                continue
            cost = place.dislike + OUTSIDE * (box.left < page.left or box.right > page.right)
            cost = _disturbance(number, box, place.anchor, strokes, placed, cost, least)
            if cost < least:
                best, least = place.at, cost
        found[number] = best
        total += least
        placed.append(text_box(f"{label} ", best))
    return [found[number] for number in range(len(lines))], total


def _disturbance(
    number: int,
    box: Box,
    anchor: Point,
    strokes: Sequence[tuple[int, Box]],
    placed: Sequence[Box],
    cost: float,
    limit: float,
) -> float:
    """The cost with what the place disturbs; counting stops at `limit`, where the place has lost."""
    cost += ON_LABEL * sum(box.overlaps(other) for other in placed)
    for other, stroke in strokes:
        if cost >= limit:
            break
        if box.overlaps(stroke):
            cost += ON_LINE
        if other != number and stroke.contains(anchor):
            cost += ON_SHARED
    return cost


def _room(line: Line) -> float:
    return sum(map(_length, line.segments())) - len(line.label) * CHARACTER


def _length(segment: Segment) -> float:
    (x1, y1), (x2, y2) = segment
    return abs(x1 - x2) + abs(y1 - y2)


def _places(line: Line) -> Iterator[_Place]:
    segments = line.segments()
    longest = max(map(_length, segments))
    half = len(line.label) * CHARACTER / 2
    for segment in segments:
        (x1, y1), (x2, y2) = segment
        steps = int(_length(segment) / 2 / STEP)
        for step in range(-steps, steps + 1):
            dislike = FAR * abs(step) * STEP + SHORT * (longest - _length(segment))
            if y1 == y2:
                x = (x1 + x2) / 2 + step * STEP
                yield _Place((x, y1 - ABOVE), (x, y1), dislike)
                yield _Place((x, y1 + BELOW), (x, y1), dislike + OTHER_SIDE)
            else:
                y = (y1 + y2) / 2 + step * STEP
                yield _Place((x1 + BESIDE + half, y + 4), (x1, y), dislike)
                yield _Place((x1 - BESIDE - half, y + 4), (x1, y), dislike + OTHER_SIDE)


def _head(x: float, y: float) -> Box:
    """The ink of an arrowhead that ends here, whatever its direction."""
    return Box(x - 8, y - 8, x + 8, y + 8)


def _stroke(segment: Segment) -> Box:
    """The ink of a segment, a little wider than the line."""
    (x1, y1), (x2, y2) = segment
    return Box(min(x1, x2) - 1, min(y1, y2) - 1, max(x1, x2) + 1, max(y1, y2) + 1)
