"""How what a parser does grows with the output: characters examined, lines of Python executed, time by a clock.

Characters and lines are counted and the same every time. A clock is easily disturbed: what looks steep is timed again,
the shortest time of each length counts, and one more length has to confirm it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from parsers.checks.metamorphic_output import is_steep
from parsers.replays.budget import OverBudgetError
from parsers.replays.chunking import Chunking
from parsers.replays.replay import parse
from parsers.replays.replayer import Replayer
from parsers.search.variants.ground import CountLines, Meters

SIZES = (2_000, 4_000, 8_000)
CONFIRMING = 16_000  # the length that has to confirm what a clock says of the others
TIMED_AGAIN = 2  # times that a steep slope of times is measured again
COUNTED = (500, 1_000, 2_000)  # counting lines takes long, and needs no length that a clock would need
STEP = Chunking(by="char", size=16)


class SlowError(Exception):
    """An output that was made longer took more than one replay may; it has the `size`."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


Slope = tuple[tuple[int, int], ...]  # (length in characters, what was spent on it)
Lengthened = Callable[[int], Replayer]


def growth(lengthened: Lengthened, meters: Meters) -> dict[str, Slope]:
    """What it takes to read outputs of several lengths: characters examined (`work`), lines executed (`lines`, where
    the parser counts no characters), microseconds (`times`). Empty where it is not known. Raises SlowError where one of
    them takes more than a replay may."""
    work = _work(lengthened)
    return {
        "work": work,
        "lines": () if work or meters.lines is None else counted_lines(lengthened, meters.lines),
        "times": () if meters.clock is None else _times(lengthened, meters.clock),
    }


def counted_lines(lengthened: Lengthened, lines: CountLines) -> Slope:
    """The lines of Python that it takes to read outputs of several lengths; empty where nobody can count them."""
    found = []
    for size in COUNTED:
        replayer = lengthened(size)
        try:
            spent = lines(lambda replayer=replayer: _read(replayer))  # type: ignore[misc]
        except Exception:
            return ()
        if not spent:
            return ()
        found.append((len(replayer.text), spent))
    return tuple(found)


def repeated(replayer: Replayer) -> Lengthened:
    """The output again and again, for a parser of which nothing else can be made longer."""
    text = max(len(replayer.text), 1)
    return lambda size: replayer.with_pieces(replayer.pieces * -(-size // text))


def _read(replayer: Replayer) -> int:
    """Read an output; return the characters that the parser says to have examined. Raises what it raises."""
    parser, look = replayer.make(), replayer.begin()
    parse(parser, replayer.deltas(STEP), replayer.context, mode=replayer.mode, markers=replayer.markers, look=look)
    return parser.examined


def _work(lengthened: Lengthened) -> Slope:
    """The characters that a parser says to have examined. Without a budget one that says nothing reads the shortest
    alone: nobody waits for it."""
    found = []
    for size in SIZES:
        replayer = lengthened(size)
        try:
            examined = _read(replayer)
        except OverBudgetError as error:
            raise SlowError(size) from error
        except Exception:
            return ()
        if examined:
            found.append((len(replayer.text), examined))
        elif replayer.budget is None:
            return ()
    return tuple(found)


def _times(lengthened: Lengthened, clock: Callable[[], float]) -> Slope:
    times = _timed(lengthened, clock, SIZES)
    for _ in range(TIMED_AGAIN):
        if not times or not is_steep(times[0], times[-1], timed=True):
            return times
        again = _timed(lengthened, clock, SIZES)
        times = tuple([min(pair, key=itemgetter(1)) for pair in zip(times, again, strict=False)])
    if not times or not is_steep(times[0], times[-1], timed=True):
        return times
    last = [one for _ in range(TIMED_AGAIN) for one in _timed(lengthened, clock, (CONFIRMING,))]
    return (*times, min(last, key=itemgetter(1))) if last else times


def _timed(lengthened: Lengthened, clock: Callable[[], float], sizes: tuple[int, ...]) -> Slope:
    found = []
    for size in sizes:
        replayer = lengthened(size)
        began = clock()
        try:
            _read(replayer)
        except Exception:
            return ()
        found.append((len(replayer.text), round((clock() - began) * 1e6)))
    return tuple(found) if all(spent for _, spent in found) else ()
