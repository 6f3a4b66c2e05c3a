"""The timeline of a recorded stream: what each chunk carried, how long nothing came, bursts, on an axis of time.

Where times were not recorded the axis is the number of the chunk. At most a thousand bars, whatever the stream's
length: of chunks that share one the first that says something has its role.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10

from parsers.vocabulary.types import MessageDelta
from parsers.wire.arrivals import Arrivals, in_words
from parsers.wire.read import ServerChunk
from webapp.glyphs import count
from webapp.page.drawing import COLUMNS
from webapp.page.inspect.chunks import LEAKED, Recording

_END = 95.0  # percent of the width at which the last chunk begins, so that its bar has room
_LAST = 99.8  # where the end of the stream stands
_WIDEST, _NARROWEST, _SPACE = 4.0, 0.12, 0.15
_LETTER = 0.75  # width of a figure of a label, in percent of a band about 950 px wide
_PIXEL, _BURST = 0.1, 0.4  # percent: what cannot be told apart, and the narrowest burst
_TICKS = 6
_GAPS_HIGH = 20.0
_TOPS = {"": 17.0, "content": 9.0, "arguments": 11.0}  # where a bar begins, in a lane 20 high; others at 7


@dataclass(slots=True, frozen=True)
class _Mark:
    """A bar or a label of a lane, in percent of the width; `y` and `height` in pixels of the lane."""

    x: float
    width: float
    words: str = ""
    role: str = ""
    y: float = 0.0
    height: float = 0.0
    strong: bool = False

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)


@dataclass(slots=True, frozen=True)
class Axis:
    """The lanes, the cursor in percent, and what scripts move it by: the places of all steps as JSON.

    `times` are milliseconds for replay at recorded speed, "" where none were recorded.
    """

    carries: list[_Mark]
    numbers: list[_Mark]
    gaps: list[_Mark]
    bursts: list[_Mark]
    ticks: list[_Mark]
    cursor: float
    total: int
    places: str
    times: str
    words: str
    timed: bool
    at: Sequence[float] = ()

    def marks(self, steps: Sequence[int]) -> list[float]:
        """Where stops and pins stand; those that cannot be told apart are one."""
        return sorted({round(self.at[step - 1], 1) for step in steps})


def chunk_axis(found: Recording, step: int) -> Axis:
    """The axis with the cursor on `step`."""
    places = _places(found)
    carriers = set(found.carriers)
    known = found.arrivals
    return Axis(
        carries=list(_bars(found, places, carriers)),
        numbers=list(_labels(places, carriers)),
        gaps=list(_gaps(known, places)) if known is not None else [],
        bursts=list(_bursts(known, places)) if known is not None else [],
        ticks=list(_ticks(known)) if known is not None else [],
        cursor=places[step - 1],
        total=len(places),
        places=json.dumps(places, separators=(",", ":")),
        times=clock(known),
        words=_words(found, step),
        timed=known is not None,
        at=places,
    )


def clock(known: Arrivals | None) -> str:
    """When all came, for replay at recorded speed; "" where that is not known."""
    return "" if known is None else json.dumps(_filled(known.times), separators=(",", ":"))


def _filled(times: Sequence[float | None]) -> list[float]:
    """The times, where one is not known that of the chunk before."""
    found, before = list[float](), 0.0
    for time in times:
        before = before if time is None else time
        found.append(before)
    return found


def _places(found: Recording) -> list[float]:
    """Where each chunk begins, and the end of the stream, in percent."""
    if found.arrivals is None:
        return [*[round(number * _LAST / found.total, 3) for number in range(found.total)], _LAST]
    span = max(found.arrivals.span, 1.0)
    return [*[round(time * _END / span, 3) for time in _filled(found.arrivals.times)], _LAST]


def _bars(found: Recording, places: Sequence[float], carriers: set[int]) -> Iterator[_Mark]:
    size = -(-found.total // COLUMNS)
    for first in range(0, found.total, size):
        last = min(first + size, found.total)
        roles = [_role(found.stream.chunks[at], at + 1 in carriers) for at in range(first, last)]
        role = LEAKED if LEAKED in roles else next(filter(None, roles), "")
        room = places[last] - places[first] - _SPACE
        top = _TOPS.get(role, 7.0)
        width = round(max(room if found.arrivals is None else min(room, _WIDEST), _NARROWEST), 3)
        yield _Mark(places[first], width, f"chunk {first + 1:,}", role, top, 19.0 - top)


def _role(chunk: ServerChunk, leaks: bool) -> str:
    delta = chunk.delta or MessageDelta()
    if leaks or chunk.error is not None:
        return LEAKED
    if delta.tool_calls:
        return "name" if any(call.name for call in delta.tool_calls) else "arguments"
    return "reasoning" if delta.reasoning else "content" if delta.content else ""


def _labels(places: Sequence[float], carriers: set[int]) -> Iterator[_Mark]:
    """The numbers of the chunks, as far as there is room for them."""
    free = 0.0
    for number, place in enumerate(places[:-1], start=1):
        width = len(f"{number:,}") * _LETTER + _LETTER
        if place >= free:
            yield _Mark(place, width, f"{number:,}", strong=number in carriers)
            free = place + width


def _gaps(known: Arrivals, places: Sequence[float]) -> Iterator[_Mark]:
    most = max([gap for gap in known.gaps if gap is not None], default=0.0)
    for number, gap in enumerate(known.gaps, start=1):
        width = places[number - 1] - places[number - 2] if number > 1 else 0.0
        if not gap or width < _NARROWEST:
            continue
        words, strong = in_words(gap), number in known.long
        fits = len(words) * _LETTER + 0.5 <= width and (strong or number == known.longest)
        height = max(2.0, gap * _GAPS_HIGH / most)
        top = 23.0 - height
        yield _Mark(places[number - 2], round(width, 3), words if fits else "", "", top, round(height, 1), strong)


def _bursts(known: Arrivals, places: Sequence[float]) -> Iterator[_Mark]:
    """The bursts; those that are less than a pixel apart are one."""
    left = right = -_PIXEL
    many = 0
    for one in known.bursts:
        start = places[one.first - 1]
        if many and start - right >= _PIXEL:
            yield _Mark(left, round(right - left, 3), f"×{many}")
            many = 0
        left = left if many else start
        right = max(places[one.last - 1], left + _BURST)
        many += one.size
    if many:
        yield _Mark(left, round(right - left, 3), f"×{many}")


def _ticks(known: Arrivals) -> Iterator[_Mark]:
    """Round times along the axis."""
    span = max(known.span, 1.0)
    power = max(0, floor(log10(span / _TICKS)))
    steps = [figure * 10**one for one in (power, power + 1) for figure in (1, 2, 5)]
    step = next(one for one in steps if span / one <= _TICKS)
    for at in range(0, floor(span) + 1, step):
        yield _Mark(round(at * _END / span, 3), 0.0, in_words(at))


def _words(found: Recording, step: int) -> str:
    """The picture in a sentence or two."""
    where = f"chunk {step:,}" if step <= found.total else "the end of the stream"
    known = found.arrivals
    said = "in order, evenly spaced: their times are not known"
    if known is not None:
        stand = f"{count(len(known.long), 'gap')} and {count(len(known.bursts), 'burst')}"
        said = f"over {in_words(known.span)}, with {stand} that stand out"
    return f"{count(found.total, 'chunk')} {said}. The cursor is at {where}."
