"""Gaps and bursts of a recorded stream: what counts as one, by the rule that the page states."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parsers.wire.arrivals import arrivals, in_words

STEADY = [*range(0, 500, 25)]
TIMES: list[tuple[Sequence[float | None], tuple[int, ...], list[tuple[int, int]]]] = [
    (STEADY, (), []),
    ([*STEADY, 700, 725], (21,), []),
    ([0, 5, 10, 65, 70], (), []),  # more than five times the median, and no more than 60 ms
    ([0, 20, 40, 121], (), []),  # over 60 ms, and no more than five times the median
    ([0, 5, 10, 71, 75], (4,), []),
    ([0, 20, 20.4, 21, 21.9, 40], (), [(2, 5)]),
    ([0, 20, 21, 40], (), []),  # two are no burst
    ([0, 0, 0, 0], (), []),  # whole seconds
    ([0, 1000, 1000, 1000, 3000, 3000], (5,), []),
    ([None, 0, None, 30, 31, 31.5, None], (), [(4, 6)]),
]


@pytest.mark.parametrize(("times", "long", "bursts"), TIMES)
def test_gaps_and_bursts_are_those_of_the_rule(
    times: Sequence[float | None], long: tuple[int, ...], bursts: list[tuple[int, int]]
) -> None:
    found = arrivals(times)
    assert found is not None
    assert (found.long, [(one.first, one.last) for one in found.bursts]) == (long, bursts)


@pytest.mark.parametrize("times", [None, [], [None, None], [5, None]])
def test_one_time_is_no_axis(times: Sequence[float | None] | None) -> None:
    assert arrivals(times) is None


def test_what_is_known_of_a_stream_is_told() -> None:
    found = arrivals([0, 20, 20.5, 21, 300])
    assert found is not None
    assert (found.span, found.longest, found.gaps[0], found.usual) == (300, 5, None, 20)
    burst = found.burst_of(3)
    assert (burst and burst.size, found.burst_of(5)) == (3, None)
    assert "over 5 times the median of 20 ms, and over 60 ms; a burst is 3 or more chunks" in found.rule
    seconds = arrivals([0, 1000, 1000])
    assert seconds is not None
    assert "over 1 s. The times are whole seconds" in seconds.rule
    assert getattr(arrivals([5, None, 5]), "longest", 0) is None


@pytest.mark.parametrize(
    ("time", "words"), [(0.4, "0.4 ms"), (5.0, "5 ms"), (83.2, "83 ms"), (2500, "2.5 s"), (200_000, "3 min 20 s")]
)
def test_times_are_written_in_the_unit_of_their_size(time: float, words: str) -> None:
    assert in_words(time) == words
