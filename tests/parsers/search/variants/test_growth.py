"""A clock is believed only where more than one measurement says the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.replays.tapes import Asked, Tape, Tapes
from parsers.search.variants.ground import Meters
from parsers.search.variants.growth import LONGEST, SIZES, SlowError, growth, repeated
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece


class Silent:
    """A parser that says nothing, and fails on outputs longer than `most`."""

    most = 10**9

    def begin(self, context: Context) -> None:
        self.size = 0

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.size += len(delta.text)
        if self.size > Silent.most:
            raise ValueError("too long")
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


def lengthened(size: int) -> Replayer:
    return Replayer(lambda: BlackBox("silent", Silent()), (Piece("a" * size),), black_box=True)


def clock_of(*seconds: float) -> Callable[[], float]:
    """A clock by which the replays take so long, one after the other; the last one again and again."""

    def ticks() -> Iterator[float]:
        now, left = 0.0, list(seconds)
        while True:
            yield now
            now += left.pop(0) if len(left) > 1 else left[0]
            yield now

    tick = ticks()
    return lambda: next(tick)


STEEP = (0.01, 0.04, 0.16)
FLAT = (0.03, 0.06, 0.12)


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        (FLAT, SIZES),
        ((*STEEP, *FLAT), SIZES),
        ((*STEEP, *STEEP, *FLAT), SIZES),
        ((*STEEP, *STEEP, *STEEP, 0.64, 0.64), (*SIZES, 16_000)),
    ],
)
def test_what_looks_steep_is_timed_again_and_confirmed_at_another_length(
    seconds: tuple[float, ...], sizes: tuple[int, ...]
) -> None:
    slopes = growth(lengthened, Meters(clock_of(*seconds)))
    assert tuple([length for length, _ in slopes["times"]]) == sizes
    assert (slopes["work"], slopes["lines"]) == ((), ())


@pytest.mark.parametrize(("most", "timed"), [(1_000, 0), (10_000, 3)])
def test_a_length_at_which_the_parser_fails_confirms_nothing(
    monkeypatch: pytest.MonkeyPatch, most: int, timed: int
) -> None:
    monkeypatch.setattr(Silent, "most", most)
    assert len(growth(lengthened, Meters(clock_of(*STEEP * 3)))["times"]) == timed


@pytest.mark.parametrize(
    ("seconds", "longest"),
    [
        ((0.001, 0.002, 0.004), LONGEST),
        ((0.002, 0.004, 0.008, 0.04, 0.09), 32_000),
        ((*(0.001, 0.004, 0.016, 0.064, 0.25) * 3, 1.0), 64_000),
    ],
)
@pytest.mark.replays
def test_lengths_that_take_no_time_to_speak_of_are_followed_by_longer_ones(
    seconds: tuple[float, ...], longest: int
) -> None:
    assert growth(lengthened, Meters(clock_of(*seconds)))["times"][-1][0] == longest


@pytest.mark.parametrize("most", [8_000, 16_000])
def test_a_parser_that_fails_on_a_longer_output_is_not_timed(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(Silent, "most", most)
    assert growth(lengthened, Meters(clock_of(0.001)))["times"] == ()


def played(*tapes: Tape) -> Callable[[int], Replayer]:
    """A parser elsewhere, of which each length has the next tape, and the last one again and again."""
    left = list(tapes)

    def play(asked: Sequence[Asked]) -> list[Tape]:
        return [left.pop(0) if len(left) > 1 else left[0] for _ in asked]

    return lambda size: replace(lengthened(size), tapes=Tapes(play))


def test_who_runs_a_parser_elsewhere_says_what_it_takes() -> None:
    steep = [Tape(micros=30_000 * 4**at, executed=100 * 4**at) for at in range(3)]
    slopes = growth(played(Tape(), *steep * 3, *[Tape(micros=10**7)] * 2, *steep), Meters(lambda: 1.0))
    assert slopes["times"][-1] == (16_000, 10**7)
    assert slopes["lines"][-1] == (2_000, 1_600)


def test_times_of_a_parser_elsewhere_are_not_asked_for_without_a_clock() -> None:
    steep = [Tape(micros=30_000 * 4**at, executed=100 * 4**at) for at in range(3)]
    slopes = growth(played(Tape(), *steep), Meters())
    assert (slopes["times"], slopes["lines"][-1]) == ((), (2_000, 1_600))


@pytest.mark.parametrize("tape", [Tape(), Tape(failure=Failure("ValueError", "no", ""), micros=1, executed=1)])
def test_nothing_is_known_of_a_parser_elsewhere_that_fails_or_says_nothing(tape: Tape) -> None:
    assert growth(played(tape), Meters(lambda: 1.0, lambda work: 1)) == {"work": (), "lines": (), "times": ()}


def test_a_parser_elsewhere_that_is_too_slow_is_told_as_such() -> None:
    with pytest.raises(SlowError):
        growth(played(Tape(failure=Failure("Hangs", "no", "", slow=True))), Meters())


@pytest.mark.parametrize(("text", "sizes"), [("ab" * 60, [600, 1_080, 2_040]), ("ab" * 400, [500, 1_000, 2_000])])
def test_an_output_is_repeated_whole_where_it_is_short_and_begun_where_it_is_long(text: str, sizes: list[int]) -> None:
    pieces = tuple([Piece("ab")] * (len(text) // 2))
    made = repeated(Replayer(lambda: BlackBox("silent", Silent()), pieces, black_box=True))
    assert [len(made(size).text) for size in (500, 1_000, 2_000)] == sizes


def test_a_clock_that_stands_still_says_nothing() -> None:
    assert growth(lengthened, Meters(lambda: 1.0))["times"] == ()
