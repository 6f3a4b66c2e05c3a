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
STEP, TRIED = 6.0, 12  # distance of two places that are tried, and how many at most on either side of the middle
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


Stroke = tuple[int, Box]  # the number of a line, and ink of it


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a label may stand: its baseline's middle, the point of the line beside it, and how little it is liked.

    `near` are the strokes that could be in its way.
    """

    at: Point
    anchor: Point
    dislike: float
    near: Sequence[Stroke]


def text_box(label: str, at: Point) -> Box:
    """The rectangle of a label whose baseline's middle is `at`."""
    half = len(label) * CHARACTER / 2
    return Box(at[0] - half, at[1] - ASCENT, at[0] + half, at[1] + DESCENT)


def place_labels(lines: Sequence[Line], nodes: Sequence[Box], page: Box) -> tuple[list[Point], float]:
    """The middle of every label's baseline, in the order of the lines, and how bad the places are altogether.

    A label may leave the page at its sides.
    """
    strokes: list[Stroke] = [
        (number, _stroke(segment)) for number, line in enumerate(lines) for segment in line.segments()
    ]
    strokes += [(number, _head(*line.points[-1])) for number, line in enumerate(lines)]
    placed: list[Box] = []
    found: dict[int, Point] = {}
    total = 0.0
    for number in sorted(range(len(lines)), key=lambda i: (_room(lines[i]), i)):
        label = lines[number].label
        best, least = lines[number].points[0], float("inf")
        for place in sorted(_places(lines[number], strokes), key=lambda place: place.dislike):
            if place.dislike >= least:
                break
            box = text_box(label, place.at)
            if box.top < page.top or box.bottom > page.bottom or any(box.overlaps(node) for node in nodes):
                continue
            cost = place.dislike + OUTSIDE * (box.left < page.left or box.right > page.right)
            cost += ON_LABEL * sum(box.overlaps(other) for other in placed)
            cost = _with_strokes(cost, least, number, box, place)
            if cost < least:
                best, least = place.at, cost
        found[number] = best
        total += least
        placed.append(text_box(f"{label} ", best))
    return [found[number] for number in range(len(lines))], total


def _with_strokes(cost: float, limit: float, number: int, box: Box, place: _Place) -> float:
    """The cost with what the label does to the lines; counting stops at `limit`, where the place has lost."""
    for other, stroke in place.near:
        if cost >= limit:
            break
        if box.overlaps(stroke):
            cost += ON_LINE
        if other != number and stroke.contains(place.anchor):
            cost += ON_SHARED
    return cost


def _room(line: Line) -> float:
    return sum(map(_length, line.segments())) - len(line.label) * CHARACTER


def _length(segment: Segment) -> float:
    (x1, y1), (x2, y2) = segment
    return abs(x1 - x2) + abs(y1 - y2)


def _places(line: Line, strokes: Sequence[Stroke]) -> Iterator[_Place]:
    longest = max(map(_length, line.segments()))
    half = len(line.label) * CHARACTER / 2
    for segment in line.segments():
        (x1, y1), (x2, y2) = segment
        around = _stroke(segment, BESIDE + 2 * half, BELOW + DESCENT)
        near = [stroke for stroke in strokes if stroke[1].overlaps(around)]
        steps = min(TRIED, int(_length(segment) / 2 / STEP))
        for step in range(-steps, steps + 1):
            part = 0.5 + step * STEP / _length(segment) if steps < TRIED else 0.5 + step / (2 * TRIED)
            x, y = x1 + (x2 - x1) * part, y1 + (y2 - y1) * part
            dislike = FAR * abs(part - 0.5) * _length(segment) + SHORT * (longest - _length(segment))
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
