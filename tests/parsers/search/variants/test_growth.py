"""A clock is believed only where more than one measurement says the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.variants.ground import Meters
from parsers.search.variants.growth import CONFIRMING, SIZES, growth
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
FLAT = (0.01, 0.02, 0.04)


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        (FLAT, SIZES),
        ((*STEEP, *FLAT), SIZES),
        ((*STEEP, *STEEP, *FLAT), SIZES),
        ((*STEEP, *STEEP, *STEEP, 0.64, 0.64), (*SIZES, CONFIRMING)),
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


def test_a_clock_that_stands_still_says_nothing() -> None:
    assert growth(lengthened, Meters(lambda: 1.0))["times"] == ()
