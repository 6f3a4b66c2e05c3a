"""How what a parser does grows with the output: characters examined, lines of Python executed, time by a clock.

Characters and lines are counted and the same every time. A clock is easily disturbed: what looks steep is timed again,
the shortest time of each length counts, and one more length has to confirm it. Where no length takes long enough to say
anything, longer ones are tried. A parser elsewhere is measured by whoever runs it, and says so with its replays; where
no clock is given its times are not asked for either, as while a finding is made small: that would take all of them for
every form that is tried, and go as the machine is busy.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from parsers.checks.metamorphic_output import TELLING, grows_steeply
from parsers.replays.budget import OverBudgetError
from parsers.replays.chunking import Chunking
from parsers.replays.replay import parse
from parsers.replays.replayer import Replayer
from parsers.search.variants.ground import Meters

SIZES = (2_000, 4_000, 8_000)
LONGEST = 64_000  # what still takes no time to speak of is linear enough for whoever waits
CLEAR = 4 * TELLING  # microseconds in which what grows with the square outweighs the rest
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
Measure = Callable[[Replayer], int | None]


def growth(lengthened: Lengthened, meters: Meters) -> dict[str, Slope]:
    """What it takes to read outputs of several lengths: characters examined (`work`), lines executed (`lines`, where
    the parser counts no characters), microseconds (`times`). Empty where it is not known. Raises SlowError where one of
    them takes more than a replay may."""
    work = _work(lengthened)
    return {"work": work, **uncounted_growth(lengthened, meters, counts=bool(work))}


def uncounted_growth(lengthened: Lengthened, meters: Meters, *, counts: bool = False) -> dict[str, Slope]:
    """The same of what a parser does not count itself, unless it `counts`."""
    times = _times(lengthened, lambda replayer: _time(replayer, meters), LONGEST * (not counts))
    lines = () if counts else _slope(lengthened, COUNTED, lambda replayer: _lines(replayer, meters))
    return {"lines": lines, "times": times}


def repeated(replayer: Replayer) -> Lengthened:
    """The output again and again, for a parser of which nothing else can be made longer; the beginning of one that is
    long enough."""
    text, ends = max(len(replayer.text), 1), 0
    if text <= COUNTED[0]:
        return lambda size: replayer.with_pieces(replayer.pieces * -(-size // text))
    places = [ends := ends + len(piece.text) for piece in replayer.pieces]

    def begun(size: int) -> Replayer:
        times, rest = divmod(size, text)
        some = replayer.pieces[: sum(1 for place in places if place <= rest)]
        return replayer.with_pieces((*replayer.pieces * times, *some))

    return begun


def _read(replayer: Replayer) -> int:
    """Read an output; return the characters that the parser says to have examined. Raises what it raises."""
    parser, look = replayer.make(), replayer.begin()
    parse(parser, replayer.deltas(STEP), replayer.context, mode=replayer.mode, markers=replayer.markers, look=look)
    return parser.examined


def _lines(replayer: Replayer, meters: Meters) -> int | None:
    tape, count = replayer.tape(STEP, counted=True), meters.lines
    if tape is not None:
        return None if tape.failure else tape.executed
    return None if count is None else count(lambda: _read(replayer))


def _time(replayer: Replayer, meters: Meters) -> int | None:
    clock = meters.clock
    if clock is None:
        return None
    tape = replayer.tape(STEP)
    if tape is not None:
        return None if tape.failure else tape.micros
    began = clock()
    _read(replayer)
    return round((clock() - began) * 1e6)


def _slope(lengthened: Lengthened, sizes: tuple[int, ...], measure: Measure) -> Slope:
    """What a measure says of each length; empty where it says nothing of one, or the parser fails."""
    found = []
    for size in sizes:
        replayer = lengthened(size)
        try:
            spent = measure(replayer)
        except Exception:
            return ()
        if not spent:
            return ()
        found.append((len(replayer.text), spent))
    return tuple(found)


def _work(lengthened: Lengthened) -> Slope:
    """The characters that a parser says to have examined. Without a budget one that says nothing reads the shortest
    alone: nobody waits for it. One elsewhere says nothing, and is as slow there as it is."""
    found = []
    for size in SIZES:
        replayer = lengthened(size)
        try:
            tape, examined = replayer.tape(STEP), 0
            examined = _read(replayer) if tape is None else 0
        except OverBudgetError as error:
            raise SlowError(size) from error
        except Exception:
            return ()
        if tape is not None and tape.failure is not None:
            if tape.failure.slow:
                raise SlowError(size)
            return ()
        if examined:
            found.append((len(replayer.text), examined))
        elif replayer.budget is None:
            return ()
    return tuple(found)


def _times(lengthened: Lengthened, measure: Measure, longest: int) -> Slope:
    """Up to `longest` as many lengths as it takes to be told anything."""
    sizes: tuple[int, ...] = SIZES
    times = _slope(lengthened, sizes, measure)
    while times and times[-1][1] < CLEAR and sizes[-1] < longest:
        sizes = (*sizes, 2 * sizes[-1])
        more = _slope(lengthened, sizes[-1:], measure)
        times = (*times, *more) if more else ()
    for _ in range(TIMED_AGAIN):
        if not grows_steeply(times, timed=True):
            return times
        again = _slope(lengthened, sizes, measure)
        times = tuple([min(pair, key=itemgetter(1)) for pair in zip(times, again, strict=False)])
    if not grows_steeply(times, timed=True):
        return times
    last = [one for _ in range(TIMED_AGAIN) for one in _slope(lengthened, (2 * sizes[-1],), measure)]
    return (*times, min(last, key=itemgetter(1))) if last else times
